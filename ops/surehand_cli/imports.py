"""Why a module of the user's could not be imported: what happened, at which line of theirs, and what to do."""

from __future__ import annotations

import traceback
from pathlib import Path

from surehand import DeclarationError


def import_failure(error: BaseException, root: Path) -> str:
    """Return one line for what an import of a module below *root* raised."""
    where = _where(error, root)
    at = f" ({where})" if where else ""
    text = next(iter(str(error).strip().splitlines()), "")
    if isinstance(error, DeclarationError):
        return f"{text}{at}"
    if isinstance(error, SystemExit):
        return f"it ends the process with sys.exit({error.code!r}){at}; a module must be importable"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}{at}"
    if isinstance(error, KeyError) and _reads_environment(error):
        return (
            f"it needs the environment variable {error.args[0]}{at}; set it for this command, or read it when the "
            "handler runs and not when its module is imported"
        )
    advice = "" if isinstance(error, ImportError) else "; correct that line, the module must be importable"
    return f"{type(error).__name__}: {text}{at}{advice}"


def _where(error: BaseException, root: Path) -> str | None:
    """Return file and line of the last frame in the user's own code, or None if none is below *root*."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{_shown(error.filename, root)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if _is_own(frame.filename, root)]
    return f"{_shown(mine[-1].filename, root)}:{mine[-1].lineno}" if mine else None


def _is_own(file: str, root: Path) -> bool:
    path = Path(file)
    if not path.is_relative_to(root):
        return False
    return not {"site-packages", "surehand", "surehand_cli"} & set(path.relative_to(root).parts)


def _shown(file: str, root: Path) -> str:
    path = Path(file)
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


def _reads_environment(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.endswith(("<frozen os>", "os.py"))
