"""Which account, Region and stage a command works on."""
