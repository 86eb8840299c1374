"""Sessions of the app: what a page of the browser gave, and what was made of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic
from typing import Any, TypeVar

from beyondchance.annotations.corpus import Corpus
from beyondchance.app.work import (
    Found,
    Worker,
    check_decisions,
    read_files,
    ways,
    write_gold,
    write_report,
)
from beyondchance.errors import BeyondChanceError, DataError, OptionError, defect
from beyondchance.io.sources import cause
from beyondchance.io.writing import WRITTEN, format_of
from beyondchance.messages import Quote, Use
from beyondchance.page.page import PAGE, in_words

Item = TypeVar("Item")

MOST_BYTES, MOST_FILES = 500 * 10**6, 20_000
"""What one session may hold."""
_LARGER = "for more, type in a terminal: beyondchance report FILES"
_MOST_PARTS = 16
_PART = re.compile(r"[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]*")
"""One part of the path of a file: neither hidden nor ``..``."""


@dataclass(eq=False)
class Session:
    """What a page of the browser gave, and what was made of it.

    Attributes
    ----------
    folder : Path
        Where all its files are.
    files : dict of str to int
        How many bytes each file has that was given.
    n_bytes : int
        How many all have together.
    options : dict of str to Use
        How the files are read, by options that were chosen.
    ways : tuple of Use
        Options that can be chosen.
    found : Found, optional
        What was read.
    about : Corpus, optional
        What the report is about.
    decisions : list
        The file of decisions that was saved last.
    decided : str
        What is decided, as a sentence.
    gold : Path, optional
        The file to download.
    error : BeyondChanceError, optional
        Why the last work failed.
    worker : Worker, optional
        What is at work since a time.
    """

    folder: Path
    files: dict[str, int] = field(default_factory=dict)
    n_bytes: int = 0
    options: dict[str, Use] = field(default_factory=dict)
    ways: tuple[Use, ...] = ()
    found: Found | None = None
    about: Corpus | None = None
    decisions: list[Mapping[str, Any]] = field(default_factory=list)
    decided: str = ""
    gold: Path | None = None
    error: BeyondChanceError | None = None
    worker: Worker | None = None
    since: float = 0.0
    task: asyncio.Task[None] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def given(self) -> Path:
        """The folder of the files that were given."""
        return self.folder / "given"

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"

    @property
    def is_busy(self) -> bool:
        """Whether there is work to wait for."""
        return self.task is not None and not self.task.done()


def new_session(folder: Path) -> Session:
    """Make a session with a folder of its own."""
    session = Session(Path(mkdtemp(dir=folder)))
    session.given.mkdir()
    return session


def stop(session: Session) -> None:
    """End the work of a session."""
    if session.worker is not None:
        session.worker.end()


def remove(session: Session) -> None:
    """End a session, and remove its files."""
    stop(session)
    rmtree(session.folder, ignore_errors=True)


def described(session: Session) -> dict[str, Any]:
    """Return what the page shows of a session."""
    found, worker = session.found, session.worker
    names = sorted({name.partition("/")[0] for name in session.files})
    return {
        "files": len(session.files),
        "names": [*names[:3], *(["…"] if len(names) > 3 else [])],
        "busy": session.is_busy,
        "doing": worker and [worker.doing, monotonic() - session.since],
        "error": session.error and session.error.spoken(PAGE),
        "ways": [
            {"text": in_words(use), "on": session.options.get(use.option) == use}
            for use in session.ways
        ],
        "notes": found.notes if found else (),
        "people": found.people if found else (),
        "gold": found and found.corpus.gold,
        "report": session.about is not None,
        "decides": session.about is not None and session.about.gold is None,
        "decided": session.decided,
        "saved": bool(session.decisions),
        "written": session.gold and session.gold.name,
        "formats": WRITTEN,
        "format": found and format_of(found.corpus),
    }


async def receive(session: Session, name: str, content: Any, n_bytes: int) -> None:
    """Keep a file that the page sends, under the name that it has there.

    Raises
    ------
    DataError
        For a name that is no path below a folder, and for more than a session may hold; nothing
        is kept then.
    """
    check_idle(session)
    parts = name.split("/")
    if len(parts) > _MOST_PARTS or not all(map(_PART.fullmatch, parts)):
        expected = "a file, or a file in folders, that is not hidden"
        raise DataError("the name ", Quote(name), " is no name of a file", expected=expected)
    if name in session.files:
        raise DataError("is given already", where=name, remedy="start anew to replace it")
    check_room(session, 1, n_bytes)
    place = session.given.joinpath(*parts)
    session.files[name] = 0
    # Work sees files of which all is there.
    coming = session.folder / token_hex()
    try:
        with coming.open("xb") as file:
            async for part in content:
                check_room(session, 0, len(part))
                session.files[name] += len(part)
                session.n_bytes += len(part)
                file.write(part)
        check_idle(session)
        place.parent.mkdir(parents=session.given.is_dir(), exist_ok=True)
        place.open("xb").close()  # refused where a and A are the same
        coming.replace(place)
    except BaseException as error:
        session.n_bytes -= session.files.pop(name)
        coming.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"cannot be kept ({cause(error)})", where=name) from None
        raise


def check_room(session: Session, n_files: int, n_bytes: int) -> None:
    """Refuse more than a session may hold."""
    if len(session.files) + n_files > MOST_FILES:
        raise DataError(f"more than {MOST_FILES:,} files", remedy=_LARGER)
    if session.n_bytes + n_bytes > MOST_BYTES:
        raise DataError("the files are too large", expected=f"{MOST_BYTES:,} bytes", remedy=_LARGER)


def check_idle(session: Session) -> None:
    """Refuse to begin something while there is work."""
    if session.is_busy:
        raise DataError("there is work to wait for", remedy="wait until it is done, or stop it")


def begin(session: Session, asked: Mapping[str, Any], address: str) -> None:
    """Begin to read, to write the report or to write gold, and return at once."""
    check_idle(session)
    act = _WORK.get(str(asked.get("do")))
    if act is None:
        raise OptionError("nothing to do", expected=f"one of {', '.join(_WORK)}")
    session.task = asyncio.create_task(_kept(session, act(session, asked, address)))


async def _kept(session: Session, work: Awaitable[None]) -> None:
    """Wait for work, and keep why it failed."""
    session.error = None
    async with session.lock:
        try:
            await work
        except BeyondChanceError as error:
            session.error = error
            session.ways = tuple(dict.fromkeys((*session.ways, *ways((error.text,)))))
        except Exception as error:
            session.error = DataError(defect(error))


async def _worked(session: Session, task: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Run a task in another process, and wait for it."""
    session.worker, session.since = Worker(task, *given, **options), monotonic()
    try:
        return await asyncio.to_thread(session.worker.result)
    finally:
        session.worker = None


async def _read(session: Session, asked: Mapping[str, Any], _: str) -> None:
    """Read what was given; with a way that was chosen, or without it if it was chosen before."""
    way = _chosen(asked.get("way"), session.ways)
    if way is not None and session.options.pop(way.option, None) != way:
        session.options[way.option] = way
    session.found = session.about = session.gold = None
    options = {name: use.value for name, use in session.options.items()}
    session.ways = tuple(session.options.values())
    session.found = await _worked(session, read_files, session.given, options)
    session.ways = tuple(dict.fromkeys((*session.ways, *session.found.ways)))


async def _report(session: Session, asked: Mapping[str, Any], address: str) -> None:
    """Write the report on people by the names that were given to them."""
    session.about = session.gold = None
    if session.found is None:
        raise DataError("nothing is read yet", remedy="drop files first")
    corpus, named = session.found.corpus, asked.get("names")
    pairs = zip(corpus.annotators, named if isinstance(named, list) else (), strict=False)
    names = {old: str(new).strip() or old for old, new in pairs}
    gold = _chosen(asked.get("gold"), corpus.annotators)
    session.about, session.decided = await _worked(
        session,
        write_report,
        corpus,
        names=names,
        gold=names.get(gold, gold) if gold is not None else None,
        decisions=session.decisions,
        place=session.report,
        address=address,
    )


async def _gold(session: Session, asked: Mapping[str, Any], _: str) -> None:
    """Write the gold standard."""
    session.gold = None
    place = session.folder / "gold"
    rmtree(place, ignore_errors=True)
    place.mkdir()
    how = {"to": asked.get("to"), "rest": asked.get("rest"), "ties": asked.get("ties")}
    about = (_about(session), session.decisions)
    session.gold, session.decided = await _worked(session, write_gold, *about, place=place, **how)


def _chosen(number: Any, listed: Sequence[Item]) -> Item | None:
    """Return what a page chose by its number, if anything."""
    return listed[number] if isinstance(number, int) and 0 <= number < len(listed) else None


_WORK = {"read": _read, "report": _report, "gold": _gold}


def _about(session: Session) -> Corpus:
    if session.about is None or session.about.gold is not None:
        raise DataError("there is nothing to decide", remedy="make the report on people first")
    return session.about


async def decide(session: Session, content: Mapping[str, Any]) -> str:
    """Keep decisions, in the place of those that were saved before, and say what is decided."""
    async with session.lock:
        decided = await _worked(session, check_decisions, _about(session), [content])
        session.decisions, session.decided = [content], decided
    return session.decided
