"""Files, folders and archives that others wrote: opened with care.

Nothing here trusts its input. Texts are decoded or refused with the place; no link leads
out of a folder; nothing is written to disk, and nothing fetched but URLs that were given.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from glob import glob, has_magic
from importlib import import_module
from itertools import islice
from math import ceil
from pathlib import Path, PurePosixPath
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from beyondchance.checks import as_float
from beyondchance.errors import FormatError, MissingLibraryError, OptionError
from beyondchance.installing import required
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Use, given

MOST_BYTES = 2**31
"""What one file, or all members of one archive together, may hold, unless more is allowed."""
MOST_EXPANSION = 200
"""How many times its packed size what was packed may hold, unless more is allowed."""
PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})
"""Endings of compressed files."""
COUNTS = b"beyondchance counts "
"""What files begin with that hold what was counted."""
WITHOUT_LIMIT = 2**62
"""What is allowed where nothing is distrusted."""
_LEAST_UNPACKED = 2**20
"""What may be unpacked from however little."""
_HEAD_BYTES = 65536
_HEAD_LINES = 400
_STREAMED = 2**20
"""Bytes of a stream that are read at a time."""
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
# Other encodings than Unicode in which XML is read: none hides a declaration of entities.
_ENCODINGS = re.compile(
    r"iso-8859-([1-9]|1[013-6])|windows-125[0-8]|koi8-[ru]|us-ascii|gb(2312|k|18030)|big5|"
    r"shift_jis|euc-(jp|kr)"
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?)B?", re.ASCII | re.IGNORECASE)
_ENDINGS = frozenset(
    f".{ending}"
    for ending in (
        *("ann", "bdocjs", "bio", "conll", "conllu", "conllup", "csv", "eaf", "htm", "html", "iob"),
        *("json", "jsonl", "ndjson", "parquet", "qde", "qdpx", "rttm", "spacy", "tei", "textgrid"),
        *("tsv", "txt", "xlsx", "xmi", "xml", "zip"),
    )
)
"""Endings that say of what kind a file is, and not whose."""


P = ParamSpec("P")
T = TypeVar("T")
_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)
_read: ContextVar[set[str]] = ContextVar("read")


@contextmanager
def limited(size: object = None) -> Iterator[set[str]]:
    """Let every source that is made meanwhile hold so much, if a size is given.

    Yields
    ------
    set of str
        Filled with the paths of files that are read meanwhile, and the SHA-256 of streams.

    Examples
    --------
    >>> with limited("1.5 kB"):
    ...     Source("a.txt", member=b"").most
    1500
    """
    read: set[str] = set()
    tokens = _allowed.set(None if size is None else _bytes_of(size)), _read.set(read)
    try:
        yield read
    finally:
        _allowed.reset(tokens[0])
        _read.reset(tokens[1])


def _bytes_of(size: object) -> int:
    """Convert a number, or words such as 4GB, to a number of bytes."""
    number = as_float(size)
    if isinstance(size, str) and (found := _SIZE.fullmatch(size.strip())):
        number = float(found[1]) * 1000 ** " KMGT".index(found[2].upper() or " ")
    if not number >= 1:
        raise OptionError(*given("max_size", size), expected="a size such as 500MB or 4GB")
    return int(min(number, WITHOUT_LIMIT))


def too_large(where: str, *found: Piece, most: int, size: int | None = None) -> FormatError:
    """Build the error for what would take more memory than it may.

    Parameters
    ----------
    where : str
        The file.
    *found : str, Quote or Use
        What was found.
    most : int
        The bytes that it may take.
    size : int, optional
        Those that it would take, if they are known.

    Examples
    --------
    >>> print(too_large("a.zip", "unpacks to 5,000,000,000 bytes", most=2**31, size=5 * 10**9))
    a.zip: unpacks to 5,000,000,000 bytes; expected at most 2,147,483,648: split the file, or \
allow more with max_size='5GB'
    """
    enough = 4 * most if size is None else size
    unit, name = (10**9, "GB") if enough >= 10**9 else (10**6, "MB")
    use = Use("max_size", f"{ceil(enough / unit)}{name}")
    return FormatError(
        *found,
        where=where,
        expected=f"at most {most:,}",
        remedy=("split the file, or allow more with ", use),
    )


def _zstandard(place: Any) -> Any:
    arrow = required("pyarrow", extra="parquet", purpose="reading Zstandard")
    file = arrow.OSFile(place) if isinstance(place, str) else arrow.PythonFile(place, mode="r")
    return arrow.CompressedInputStream(file, "zstd")


def _standard(module: str) -> Callable[[Any], Any]:
    return lambda place: import_module(module).open(place, "rb")


_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": _standard("gzip"),
    b"BZh": _standard("bz2"),
    b"\xfd7zXZ\0": _standard("lzma"),
    b"\x28\xb5\x2f\xfd": _zstandard,
}
"""What opens a compressed file, by its first bytes."""


@dataclass(frozen=True, eq=False)
class Source:
    """One file, on disk or inside an archive, unpacked as it is read if it is compressed.

    Attributes
    ----------
    name : str
        How to name it to people: its path as given, or ``archive.zip/member``.
    path : Path, optional
        Where it lies, if it is a file of its own.
    member : bytes, optional
        Its content, if it comes from an archive or a stream.
    given : str
        The name from which documents and annotators get theirs, where people are shown
        another one.
    allowed : int, optional
        The bytes that its content may take, where the user said so.
    rows : pyarrow.Table, optional
        Rows of it that were read before, where it is read in parts.
    before : int
        Lines or rows of the file before those that are here, where it is read in parts.
    texts_before : int
        Texts of the file before them, for those that are named by their numbers.
    digest : str, optional
        Its digest, where it is not made of what is here.
    url : str
        Where it lies, if it is on an object store.
    layout : Layout, optional
        What all rows of the file decide, where it is read in pieces (see `io.tagged`).
    """

    name: str
    path: Path | None = None
    member: bytes | None = None
    given: str = ""
    allowed: int | None = field(default_factory=_allowed.get)
    rows: Any = None
    before: int = 0
    texts_before: int = 0
    digest: str | None = None
    url: str = ""
    layout: Any = None

    @property
    def most(self) -> int:
        """The bytes that its content may take."""
        return self.allowed or MOST_BYTES

    def most_of(self, n_packed: int) -> int:
        """Return how many bytes so many packed ones may unfold to."""
        return self.allowed or min(MOST_BYTES, max(_LEAST_UNPACKED, MOST_EXPANSION * n_packed))

    @property
    def place(self) -> str:
        """Its path or its URL; empty if it is neither."""
        return self.url or ("" if self.path is None else str(self.path))

    @property
    def full_name(self) -> str:
        """The name as given, which is not for people where names are hidden."""
        return self.given or self.name

    @property
    def posix_path(self) -> PurePosixPath:
        """The name as a path with slashes, without an ending that says how it is packed."""
        path = PurePosixPath(self.full_name.replace("\\", "/"))
        return path.with_suffix("") if path.suffix.lower() in PACKED else path

    def hidden(self, name: str) -> Source:
        """Return the source under a name that tells nothing but its kind."""
        ending = self.posix_path.suffix
        known = ending if ending.lower() in _ENDINGS else ""
        return replace(self, name=f"{name}{known}", given=self.full_name)

    @property
    def ending(self) -> str:
        """The last ending of the name, in lower case."""
        return self.posix_path.suffix.lower()

    @property
    def stem(self) -> str:
        """The name without folders and without its last ending."""
        return self.posix_path.stem

    @cached_property
    def data(self) -> bytes:
        """The content, unpacked if it is compressed."""
        raw = self._raw()
        if self._opener is None:
            return raw
        most = self.most_of(len(raw))
        with self._opener(io.BytesIO(raw)) as file:
            data = self.read(file, most + 1)
        if len(data) > most:
            found = f"unpacks from {len(raw):,} to more than {most:,} bytes"
            raise too_large(self.name, found, most=most)
        return data

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the content, enough to recognise a format."""
        return self._begun(_HEAD_BYTES)

    @cached_property
    def _raw_head(self) -> bytes:
        return self._raw(_HEAD_BYTES)

    @property
    def _opener(self) -> Callable[[Any], Any] | None:
        """What opens a compressed file."""
        return next((x for y, x in _OPENERS.items() if self._raw_head.startswith(y)), None)

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed."""
        return self._opener is not None

    def opened(self) -> Any:
        """Open the content to read bytes from."""
        if self.member is None:
            place: Any = open_remote(self.url) if self.url else str(self.path)
        else:
            place = io.BytesIO(self.member)
        if self._opener is not None:
            return self._opener(place)
        return Path(place).open("rb") if isinstance(place, str) else place

    def read(self, file: Any, size: int) -> bytes:
        """Read so many bytes of what was opened, or as many as there are."""
        parts: list[bytes] = []
        try:
            while size and (data := file.read(min(size, _STREAMED))):
                parts.append(bytes(data))
                size -= len(data)
        except (
            OSError,
            EOFError,
            ValueError,
            zlib.error,
            import_module("lzma").LZMAError,
        ) as error:
            found = f"cannot be unpacked ({error})"
            raise FormatError(found, where=self.name, remedy="export it again") from None
        return b"".join(parts)

    def _begun(self, size: int) -> bytes:
        """Read so many of the first bytes of the content."""
        if not self.is_packed:
            return self._raw_head if size == _HEAD_BYTES else self._raw(size)
        try:
            with self.opened() as file:
                return self.read(file, size)
        except FormatError:  # a damaged file is refused when all of it is read
            return self._raw(size)

    def _raw(self, most: int | None = None) -> bytes:
        """Read the file as it is, or as many of its first bytes as are asked for."""
        if self.member is not None:
            return self.member[:most]
        if self.url:
            with open_remote(self.url) as file:
                return read_stream(file, self.name) if most is None else bytes(file.read(most))
        assert self.path is not None  # noqa: S101 - a source is one or the other
        _read.get(set()).add(str(self.path.absolute()))
        try:
            n_bytes = self.path.stat().st_size
            if most is not None or n_bytes <= self.most:
                with self.path.open("rb") as file:
                    return file.read(most)
        except OSError as error:
            raise _unreadable(self.name, error) from None
        raise too_large(self.name, f"holds {n_bytes:,} bytes", most=self.most, size=n_bytes)

    @property
    def is_longer_than_head(self) -> bool:
        """Whether there is more than the head."""
        return len(self.head) >= _HEAD_BYTES

    @cached_property
    def sha256(self) -> str:
        """Digest of the file as it is."""
        if self.digest is not None:
            return self.digest
        if self.member is None and (self.is_packed or "data" not in vars(self)):
            with open_file(self.place) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.sha256(self.data if self.member is None else self.member).hexdigest()

    @cached_property
    def declared(self) -> str:
        """The encoding that XML declares; empty if there is none."""
        # Declarations are ASCII, and so readable in UTF-16 too.
        head = self.head[:1024].replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf")
        found = _DECLARED.match(head)
        return found[1].decode("ascii") if found else ""

    @cached_property
    def encoding(self) -> str:
        """UTF-16 by its byte order mark, or what XML declares; else UTF-8."""
        start, declared = self.head[:3], self.declared.lower()
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16"
        if declared.startswith("utf-16") and b"\0" in start:
            return "utf-16-le" if start[0] else "utf-16-be"
        is_known = start != b"\xef\xbb\xbf" and _ENCODINGS.fullmatch(declared)
        return declared if is_known else "utf-8-sig"

    @cached_property
    def text(self) -> str:
        """The content as text, without a byte order mark.

        Line ends stay as they are because offsets count them.
        """
        data, encoding = self.data, self.encoding
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            if encoding.startswith("utf-16"):
                raise FormatError(f"broken UTF-16 at byte {error.start}", where=self.name) from None
            line = data.count(b"\n", 0, error.start) + 1 + self.before
            other = encoding.upper().removesuffix("-SIG")
            found, where = f"byte {data[error.start]:#04x} is not {other}", f"{self.name}:{line}"
            raise FormatError(found, where=where, remedy="save the file as UTF-8") from None
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1 + self.before
            file = "a binary file or UTF-16 without a byte order mark"
            expected, where = f"text, and this looks like {file}", f"{self.name}:{line}"
            raise FormatError("contains a NUL character", where=where, expected=expected)
        return text

    @cached_property
    def head_text(self) -> str:
        """The beginning as text, to recognise a format by; empty if it is not text."""
        is_wide = self.encoding.startswith("utf-16")
        if b"\0" in self.head and not is_wide:
            return ""
        try:
            # The cut may have gone through the last character.
            errors = "replace" if is_wide else "strict"
            return getincrementaldecoder(self.encoding)(errors).decode(self.head)
        except UnicodeDecodeError:
            return ""

    @cached_property
    def beginning(self) -> str:
        """The same from the first sign on that is not white space."""
        return self.head_text.lstrip()

    @property
    def is_json(self) -> bool:
        """Whether it begins as JSON does."""
        return self.beginning.startswith(("{", "["))

    @cached_property
    def head_lines(self) -> list[str]:
        """The first lines, without their ends; one that may be cut off is left out."""
        lines = self.head_text.replace("\r\n", "\n").split("\n", _HEAD_LINES)
        is_cut = self.is_longer_than_head or len(lines) > _HEAD_LINES
        return lines[:-1] if is_cut and len(lines) > 1 else lines

    @cached_property
    def found(self) -> dict[object, Any]:
        """What functions that are called `once` found out."""
        return {}

    def begun(self, size: int) -> tuple[str, bool]:
        """Return so many of the first bytes as text, and whether there are more."""
        data = self._begun(size)
        encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        return data.decode(encoding, errors="ignore"), len(data) == size

    def lines(self) -> list[str]:
        r"""Return the lines of the text without their ends (``\n`` or ``\r\n``)."""
        text = self.text
        lines = text.replace("\r\n", "\n").split("\n") if "\r" in text else text.split("\n")
        return lines[:-1] if lines and not lines[-1] else lines

    def placed_lines(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that are not blank, each with its place for messages."""
        for number, line in self._numbered_lines():
            yield f"{self.name}:{number}", line

    def json(self) -> Any:
        """Parse the content as JSON."""
        return parsed_json(self.text, self.name)

    def json_lines(self) -> Iterator[tuple[int, Any]]:
        """Yield line numbers and their values, one JSON value a line; skip blank lines."""
        for number, line in self._numbered_lines():
            yield number, parsed_json(line, self.name, first_line=number)

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        lines = enumerate(self.lines(), start=1 + self.before)
        return ((number, line) for number, line in lines if line.strip())


def once(find: Callable[Concatenate[Source, P], T]) -> Callable[Concatenate[Source, P], T]:
    """Make a function of a source keep what it finds with the source, to find it once."""

    @wraps(find)
    def kept(source: Source, /, *rest: P.args, **named: P.kwargs) -> T:
        key = (find, *rest)
        if key not in source.found:
            source.found[key] = find(source, *rest, **named)
        return cast("T", source.found[key])

    return kept


def read_stream(stream: Any, name: str) -> bytes:
    """Read the content of a stream; refuse it if it takes more memory than it may."""
    source = Source(name, member=b"")
    parts: list[bytes] = []
    left = source.most
    while part := stream.read(min(left + 1, _STREAMED)):
        if not isinstance(part, bytes):
            expected = "a stream of bytes, opened with 'rb'"
            raise OptionError("a stream of text", where=name, expected=expected)
        left -= len(part)
        if left < 0:
            raise too_large(name, "goes on and on", most=source.most)
        parts.append(part)
    data = b"".join(parts)
    _read.get(set()).add(hashlib.sha256(data).hexdigest())
    return data


@contextmanager
def digested(sources: Iterable[Source]) -> Iterator[None]:
    """Make the digests of files that have been read, in a thread of its own meanwhile.

    Where there are no threads, as in a browser, they are made when they are asked for.
    """
    thread = Thread(target=lambda: [source.sha256 for source in sources])
    try:
        thread.start()
    except RuntimeError:
        yield
        return
    try:
        yield
    finally:
        thread.join()


def parsed_json(text: str, name: str, *, first_line: int = 1) -> Any:
    """Parse JSON, naming the place of an error.

    Numbers must be finite, and no key of an object may occur twice: all but the last
    would be lost.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        begin = len(text) - len(text.lstrip())
        raise _json_error(error, text, name, first_line=first_line, begin=begin) from None


def parsed_json_at(text: str, begin: int, name: str) -> tuple[Any, int]:
    """Parse the JSON value that begins at a place of a text, and find where it ends."""
    try:
        return _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        raise _json_error(error, text, name, begin=begin) from None


class _ConstantError(ValueError):
    """NaN or an infinite number."""


class _RepeatedKeyError(ValueError):
    """A key that occurs twice in an object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its pairs; refuse it if a key occurs twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        count = Counter(key for key, _ in pairs)
        raise _RepeatedKeyError(next(key for key in count if count[key] > 1))
    return value


def _refuse_constant(constant: str) -> None:
    raise _ConstantError(f"{constant} is not a JSON value")


# Made once: making one takes longer than parsing a line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)
_STRING_OR_CLOSE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|\}', re.DOTALL)


def _json_error(
    error: ValueError | RecursionError, text: str, name: str, *, first_line: int = 1, begin: int = 0
) -> FormatError:
    """Build the error that says what is wrong with the JSON value at `begin`, and where."""
    if isinstance(error, _RepeatedKeyError):
        line = first_line + text.count("\n", 0, _end_of_repeated(text, begin))
        return FormatError(
            *("key ", Quote(error.args[0]), " occurs twice in one object"),
            where=f"{name}:{line}",
            expected="it once, because only one of its values could be read",
        )
    if isinstance(error, json.JSONDecodeError):
        found = f"not valid JSON at column {error.colno} ({error.msg})"
        is_cut = error.msg.startswith("Unterminated") or (0 < len(text.rstrip()) <= error.pos)
        remedy = "the file seems to be cut off: export it again" if is_cut else ()
        where = f"{name}:{first_line + error.lineno - 1}"
        return FormatError(found, where=where, remedy=remedy)
    found = f"not valid JSON ({error})"  # an integer with thousands of digits
    if isinstance(error, _ConstantError):
        found = str(error)
    elif isinstance(error, RecursionError):
        found = "JSON nested too deeply"
    return FormatError(found, where=f"{name}:{first_line + text.count(chr(10), 0, begin)}")


def _end_of_repeated(text: str, begin: int) -> int:
    """Find the place of the brace that closes the first object with a key that occurs twice."""
    n_closed = 0

    def counted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal n_closed
        n_closed += 1
        return _unique(pairs)

    with suppress(_RepeatedKeyError):
        json.JSONDecoder(object_pairs_hook=counted).raw_decode(text, begin)
    braces = (sign for sign in _STRING_OR_CLOSE.finditer(text, begin) if sign[0] == "}")
    return next(islice(braces, n_closed - 1, None)).start()


def holds_counts(item: Any) -> bool:
    """Return whether a file holds what was counted before, in whatever version."""
    if not isinstance(item, str | os.PathLike):
        return False
    try:
        with Path(item).open("rb") as file:
            return file.read(len(COUNTS)) == COUNTS
    except (OSError, ValueError):
        return False


def matching(item: Any) -> list[Any]:
    """Return the files that a pattern such as ``team/*.conll`` stands for; else what was given."""
    if is_url(item):
        return listed(item) if "*" in item else [item]
    if not isinstance(item, str) or not has_magic(item) or Path(item).exists():
        return [item]
    found = sorted(glob(item))  # noqa: PTH207 - patterns with folders, absolute ones too
    if not found:
        raise FormatError("no file matches the pattern", where=item)
    return found


def is_url(place: object) -> bool:
    """Return whether a place is a URL.

    Examples
    --------
    >>> is_url("s3://bucket/spans.parquet"), is_url("spans.parquet"), is_url("C:/a.csv")
    (True, False, False)
    """
    return isinstance(place, str) and _URL.match(place) is not None


def is_pipe(item: object) -> bool:
    """Return whether a path is a pipe, such as that of ``<(zcat a.gz)``: it can be read once."""
    try:
        return isinstance(item, str | os.PathLike) and Path(item).is_fifo()
    except (OSError, ValueError):
        return False


def opened(path: str | os.PathLike[str]) -> Source | list[Source]:
    """Return a file as a source, or a folder as the sources below it, sorted by name."""
    if is_url(path):
        sources = [Source(url, url=url) for url in listed(str(path))]
        is_file = len(sources) == 1 and sources[0].posix_path.name == str(path).rpartition("/")[2]
        return sources[0] if is_file else sources
    where = Path(path)
    try:
        if not where.exists():
            raise FormatError("no such file or folder", where=str(path))
        if where.is_file():
            return Source(str(path), path=where)
        if not where.is_dir():
            raise FormatError("neither a file nor a folder", where=str(path))
        found = list(_files_below(where))
    except OSError as error:  # not to be read, or a name that is too long
        raise _unreadable(str(error.filename or path), error) from None
    if not found:
        raise FormatError("the folder holds no files", where=str(path))
    return found


def _files_below(where: Path) -> Iterator[Source]:
    """Yield the files of a folder; refuse what cannot be read, and never pass over it."""

    def refuse(error: OSError) -> None:
        raise error

    root = where.resolve()
    for folder, folders, names in os.walk(where, followlinks=False, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names + [f for f in folders if (Path(folder) / f).is_symlink()]):
            entry = Path(folder) / name
            if name.startswith("."):
                continue
            if entry.is_symlink():
                _check_link(entry, root)
            if entry.is_file():
                yield Source(str(entry), path=entry)


def _check_link(entry: Path, root: Path) -> None:
    """Refuse a link out of a folder, and one that leads nowhere."""
    try:
        is_inside = entry.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError) as error:
        if isinstance(error, PermissionError):
            raise
        # RuntimeError is how older Pythons tell of links that lead to one another.
        found = "a link that leads nowhere"
        raise FormatError(found, where=str(entry), remedy="remove it") from None
    if not is_inside:
        raise outward_link(str(entry))


def outward_link(name: str) -> FormatError:
    """Build the error for a link to a file elsewhere."""
    return FormatError("a link that leads out of the folder", where=name, remedy="remove it")


def neighbour(name: str, path: Path) -> Source:
    """Return a file that lies next to one that was given."""
    if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
        raise outward_link(name)
    return Source(name, path=path)


def is_zip(source: Source) -> bool:
    """Return whether the content is a zip archive."""
    return source.head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_type_system(source: Source) -> bool:
    """Return whether the content is a type system of UIMA, which is no annotation."""
    return "<typeSystemDescription" in source.head_text


def is_parquet(source: Source) -> bool:
    """Return whether the content is Parquet."""
    return source.head.startswith(b"PAR1")


@once
def names_in(archive: Source) -> list[str]:
    """List the files of a zip archive, to recognise a format by; none if it is damaged."""
    with suppress(Exception), _zip(archive) as opened_archive:
        return sorted(entry.filename for entry in opened_archive.infolist() if not entry.is_dir())
    return []


def heads_in(archive: Source, names: Iterable[str]) -> Iterator[Source]:
    """Yield the beginnings of files of a zip archive, up to one that is damaged."""
    with suppress(Exception), _zip(archive) as opened_archive:
        for name in names:
            with opened_archive.open(name) as file:
                head = file.read(_HEAD_BYTES)
            yield Source(name, member=head)


def _zip(archive: Source) -> zipfile.ZipFile:
    """Open a zip archive, of which no more is read than what is asked for."""
    path = archive.path if archive.member is None and not archive.is_packed else None
    return zipfile.ZipFile(path or io.BytesIO(archive.data))


def members(archive: Source) -> list[Source]:
    """Unpack the files of a zip archive, sorted by name."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.data)) as opened_archive:
            entries = [entry for entry in opened_archive.infolist() if not entry.is_dir()]
            for entry in entries:
                _check_member(archive, entry)
            n_bytes = sum(entry.file_size for entry in entries)
            if n_bytes > archive.most:
                found = f"unpacks to {n_bytes:,} bytes"
                raise too_large(archive.name, found, most=archive.most, size=n_bytes)  # noqa: TRY301
            listed = [
                Source(
                    f"{archive.full_name}/{entry.filename}",
                    member=_member_bytes(opened_archive, entry),
                    allowed=archive.allowed,
                )
                for entry in sorted(entries, key=lambda entry: entry.filename)
            ]
            return hidden_below(archive.name, listed) if archive.given else listed
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # damaged archives make their unpackers raise anything
        # The reason can name a member, and so an annotator.
        reason = "" if archive.given else f" ({error})"
        raise FormatError(f"not a readable zip archive{reason}", where=archive.name) from None


def hidden_below(folder: str, sources: list[Source]) -> list[Source]:
    """Name the files of a folder or an archive by their numbers."""
    return [
        source.hidden(f"{folder}/file {number}") for number, source in enumerate(sources, start=1)
    ]


def _member_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read no more than the archive's directory says the member holds."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise zipfile.BadZipFile(f"{entry.filename} is not as long as the archive says")
    return data


def _check_member(archive: Source, entry: zipfile.ZipInfo) -> None:
    parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
    if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename[:3]:
        found = quoting("member {} points outside the archive", entry.filename)
        raise FormatError(*found, where=archive.name, expected="plain names")
    most = archive.most_of(entry.compress_size)
    if entry.file_size > most:
        sizes = f" unpacks to {entry.file_size:,} bytes from {entry.compress_size:,}"
        found = ("member ", Quote(entry.filename), sizes)
        raise too_large(archive.name, *found, most=most, size=entry.file_size)


def cause(error: OSError) -> str:
    """Return what the system says of an error, as part of a message."""
    return (error.strerror or str(error)).lower()


def _unreadable(name: str, error: OSError) -> FormatError:
    return FormatError(f"cannot be read ({cause(error)})", where=name)


# --- Object stores and other places that fsspec knows -------------------------


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
