"""What the operating system says of running processes (Linux)."""

from __future__ import annotations

from pathlib import Path


def of_session(executable: str, endpoint: str) -> list[int]:
    """Return the processes of the session in which *executable* serves *endpoint*."""
    port = f"GATEWAY_PORT={endpoint.rpartition(':')[2]}".encode()
    return [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if executable.encode() in _read(folder / "cmdline") and port in _read(folder / "environ").split(b"\0")
    ]


def listening_addresses(pid: int) -> list[str]:
    """Return `host:port` of every TCP socket on which a process listens."""
    sockets = {link for file in Path(f"/proc/{pid}/fd").glob("*") if (link := _link(file)).startswith("socket:")}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                host, port = fields[1].split(":")
                octets = [str(int(host[i : i + 2], 16)) for i in range(0, 8, 2)]
                found.append(f"{'.'.join(reversed(octets)) if table == 'tcp' else host}:{int(port, 16)}")
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def _link(file: Path) -> str:
    try:
        return str(file.readlink())
    except (FileNotFoundError, ProcessLookupError):
        return ""
