"""Local runs: a service deployed to an emulator on this machine, met by sample messages, and watched."""
