"""Libraries that only some tasks need: imported, or a command that installs them.

The command names the libraries themselves, with their version limits from the metadata of
this package: wherever it was installed from, by whatever program, the command works.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from beyondchance.errors import MissingLibraryError

_PACKAGE = "beyondchance"
_DISTRIBUTIONS = {
    "cassis": "dkpro-cassis",
    "json_repair": "json-repair",
    "python_calamine": "python-calamine",
}
"""Libraries that are imported by another name than they are installed by."""
_EXTRA = re.compile(r"""(?:\band )?\bextra == ["']([\w.-]+)["']""")
_REVISION = re.compile(r"\?(?:rev|tag|branch)=")


def required(library: str, *, extra: str, purpose: str, has_path: bool = True) -> ModuleType:
    """Import a library that is only needed here.

    Parameters
    ----------
    library : str
        The module.
    extra : str
        The extra of this package that it belongs to.
    purpose : str
        What needs it, for the message.
    has_path : bool
        Whether the message may hold a path, as it must where a shell finds another Python; what
        is sent to others should not.

    Raises
    ------
    MissingLibraryError
        If it, or one that it needs, is not installed.
    """
    try:
        return import_module(library)
    except ImportError as error:
        command = install_command(extra, library, has_path=has_path)
        raise MissingLibraryError(
            f"{purpose} needs the library {distribution(error.name or library)} ({error})",
            remedy=f"install it with: {command}",
        ) from None


def distribution(module: str) -> str:
    """Return the name by which the library of a module is installed.

    Examples
    --------
    >>> distribution("pyarrow.parquet"), distribution("cassis")
    ('pyarrow', 'dkpro-cassis')
    """
    name = module.partition(".")[0]
    return _DISTRIBUTIONS.get(name, name)


def requirements(extra: str) -> list[str]:
    """List what an extra of this package installs, with version limits; empty if unknown.

    Examples
    --------
    >>> [entry.startswith("scipy>=") for entry in requirements("coefficients")]
    [True]
    """
    from importlib import metadata  # noqa: PLC0415 - slow to load, for hints only

    try:
        declared = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:  # a copy of the source that was never installed
        return []
    found = []
    for entry in declared:
        requirement, _, marker = entry.partition(";")
        if extra in _EXTRA.findall(marker):
            other = _EXTRA.sub("", marker).strip()
            found.append(f"{requirement.strip()}; {other}" if other else requirement.strip())
    return found


def install_command(extra: str, library: str, *, has_path: bool = False) -> str:
    """Return the command that installs the libraries of an extra next to this package.

    Parameters
    ----------
    extra : str
    library : str
        The module that is needed, for a package without metadata.
    has_path : bool
        Whether it may hold a path, of this Python or of the file that was installed.

    Examples
    --------
    >>> "scipy>=" in install_command("coefficients", "scipy")
    True
    """
    # Double quotes are understood by all shells, on Windows too.
    listed = [f'"{entry}"' for entry in requirements(extra) or [distribution(library)]]
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return " ".join(["pipx inject", prefix.name, *listed])
    if (prefix / "uv-receipt.toml").is_file():
        return _uv_tool(prefix / "uv-receipt.toml", listed, has_path=has_path)
    python = _python() if has_path else "python"
    if find_spec("pip") is None:  # as in what uv makes
        other = "" if python == "python" else f" --python {python}"
        return " ".join([f"uv pip install{other}", *listed])
    return " ".join([f"{python} -m pip install", *listed])


def _python() -> str:
    """Return the command that runs this Python: its name alone if a shell finds it."""
    from shutil import which  # noqa: PLC0415 - slow to load, for messages only

    own = Path(sys.executable)
    for name in ("python", "python3"):
        found = which(name)
        if found is not None and Path(found).parent == own.parent:
            return name
    return f'"{own}"' if " " in str(own) else str(own)


def _uv_tool(receipt: Path, listed: list[str], *, has_path: bool) -> str:
    """Return the command that installs a tool of uv again, with all that it had."""
    import tomllib  # noqa: PLC0415 - for tools of uv only

    try:
        tool = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]
        entries: list[dict[str, Any]] = tool["requirements"]
        own = next(entry for entry in entries if entry["name"] == _PACKAGE)
        others = [f'"{entry["name"]}{entry.get("specifier", "")}"' for entry in entries]
    except (OSError, ValueError, LookupError, StopIteration, TypeError):
        own, others = {}, []
    known = [entry for entry in others if not entry.startswith(f'"{_PACKAGE}')]
    paths = (own.get(key) for key in ("path", "directory", "editable") if has_path)
    repository = f"git+{_REVISION.sub('@', own['git'])}" if "git" in own else None
    place = next(filter(None, (*paths, own.get("url"), repository)), _PACKAGE)
    wanted = " ".join(f"--with {entry}" for entry in dict.fromkeys([*known, *listed]))
    source = f'"{place}"' if " " in place else place
    return f"uv tool install {wanted} {source}"
