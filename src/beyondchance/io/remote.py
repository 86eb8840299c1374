"""Files on object stores and other places that fsspec knows, such as s3://bucket/spans.parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beyondchance.errors import FormatError, MissingLibraryError
from beyondchance.installing import required
from beyondchance.io.sources import is_url


def open_remote(url: str) -> Any:
    """Open a file, to read bytes from."""
    system, path = _at(url)
    with _reaching(url):
        return system.open(path, "rb")


def open_file(place: str) -> Any:
    """Open a file by its path or URL, to read bytes from."""
    return open_remote(place) if is_url(place) else Path(place).open("rb")


def listed(url: str) -> list[str]:
    """List the files that a URL stands for: a pattern, a folder or a file."""
    system, path = _at(url)
    with _reaching(url):
        if "*" in url:
            found = system.glob(path)
        elif system.isdir(path):
            found = system.find(path)
        else:
            found = [path] if system.exists(path) else []
    names = [name for name in map(str, found) if not name.rpartition("/")[2].startswith((".", "_"))]
    if not names:
        raise FormatError("no such file or folder", where=url)
    return [str(system.unstrip_protocol(name)) for name in sorted(names)]


def _at(url: str) -> tuple[Any, str]:
    core = required("fsspec.core", extra="remote", purpose="reading from object stores")
    with _reaching(url):
        system, path = core.url_to_fs(url)
    return system, str(path)


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Refuse a place that cannot be reached, with the reason."""
    try:
        yield
    except (FormatError, MemoryError, MissingLibraryError):
        raise
    except Exception as error:  # every store has errors of its own
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        remedy = "install them with pip" if isinstance(error, ImportError) else ""
        raise FormatError(f"cannot be read ({text})", where=url, remedy=remedy) from None
