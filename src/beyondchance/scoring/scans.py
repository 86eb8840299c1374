"""Answer questions about files that are read in pieces: each is counted, then all are added.

Where a piece is counted does not matter: here, in other processes or on other machines. All that is
needed is a function like `map`, which applies a function to every piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import attrgetter, or_
from os import PathLike
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.annotations.joining import COLUMNS
from beyondchance.errors import (
    BeyondChanceError,
    DataError,
    FormatError,
    MismatchError,
    NothingSharedError,
    OptionError,
    SpanError,
)
from beyondchance.io.copies import Copies, added_copies
from beyondchance.io.formats.table import check_common
from beyondchance.io.identifiers import PLAIN_IDS, PLAIN_LABELS, plain_ids
from beyondchance.io.naming import with_short_paths
from beyondchance.io.options import Whole
from beyondchance.io.pieces import in_order, lasting
from beyondchance.io.reading import Named, Naming, Selection
from beyondchance.io.saving import save_file
from beyondchance.io.scanning import (
    Batch,
    Piece,
    Scan,
    ScatteredError,
    Seen,
    batches_of,
    inputs_of,
    opened_files,
    pieces_of,
    seen_in,
    seen_together,
)
from beyondchance.io.sources import Source, holds_counts, too_large
from beyondchance.messages import Note, Quote, Use, pieces, quotes
from beyondchance.results.packing import packed, unpacked
from beyondchance.scoring.answers import (
    Answer,
    Question,
    Scored,
    added_answers,
    added_counters,
    answer,
    check_picklable,
)
from beyondchance.scoring.engines import Engine, engine_of
from beyondchance.scoring.marks import Placed

_AT_ONCE = 4
"""Pieces that are added at a time."""
_SHOWN = 4
"""Documents of a file that are kept to show them."""

Progress: TypeAlias = Callable[[int, int], None]
Files: TypeAlias = Mapping[int, tuple[tuple[int, ...], tuple[str, ...]]]


@dataclass(frozen=True, eq=False)
class Counted:
    """What some pieces of files give; adds.

    Attributes
    ----------
    number : int
        Of the first piece.
    answers : tuple of Answer
        One for each question.
    corpus : Corpus
        Without documents: what was read about them.
    whole : Whole
        What was known of all documents, with the names that annotators are shown by.
    news : Whole
        What the documents of these pieces show of all and was not known, by the names in the files.
    seen : Seen, optional
        Which documents there are; None if there are none.
    labels : tuple of str
        All labels, also those that were left out.
    chooses_labels : bool
        Whether some were left out, so that the others are signed once all pieces are together.
    files : mapping of int to tuple
        For each table, the numbers of those who marked something in it, and its first documents.
    copies : Copies, optional
        Which texts there are, if it is not known whose.
    has_pseudonyms : bool
        Whether annotators are numbered, so that those of other counts may be other people.
    """

    number: int
    answers: tuple[Answer, ...]
    corpus: Corpus
    whole: Whole
    news: Whole
    seen: Seen | None
    labels: tuple[str, ...]
    chooses_labels: bool = False
    files: Files = field(default_factory=dict)
    copies: Copies | None = None
    has_pseudonyms: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether no document begins in these pieces."""
        return not self.whole.annotators


# --- One piece ------------------------------------------------------------------------


def count(scan: Scan, questions: Sequence[Question], whole: Whole, piece: Piece) -> Counted:
    """Count one piece, batch by batch.

    Parameters
    ----------
    scan : Scan
    questions : sequence of Question
    whole : Whole
        What is known of all pieces.
    piece : Piece
    """

    def counted_batch(batch: Batch) -> Counted:
        corpus, chosen = batch.corpus, scan.selection
        return Counted(
            number=piece.number,
            # Added up, where documents are many: their counts are not needed any more.
            answers=tuple(added_answers([answer(corpus, q, is_part=True)]) for q in questions),
            corpus=_without_documents(corpus),
            whole=replace(whole, annotators=batch.annotators),
            news=Whole() if whole | batch.found == whole else batch.found,
            seen=seen_in(corpus.documents) if corpus.documents else None,
            labels=batch.labels,
            chooses_labels=chosen.labels is not None or chosen.excluded is not None,
            files={piece.ranges[0].file: (batch.people, corpus.documents[:_SHOWN])},
            copies=batch.copies,
        )

    return _added_up(map(counted_batch, batches_of(scan, piece, whole))) or _nothing(piece.number)


def _nothing(number: int) -> Counted:
    """Return the result of a piece in which no document begins."""
    corpus = Corpus(documents=(), annotators=(), labels=(), **_no_columns())
    return Counted(number, (), corpus, Whole(), Whole(), None, ())


def _no_columns() -> dict[str, Any]:
    names = [name for name in COLUMNS if not name.startswith("token")]
    return dict.fromkeys(names, np.zeros(0, dtype=np.int64))


def _without_documents(corpus: Corpus) -> Corpus:
    """Keep what was read about a corpus, and none of its documents."""
    texts: dict[str, Any] = dict.fromkeys(("texts", "token_start", "token_end", "elsewhere"))
    return replace(corpus, documents=(), fields={}, **_no_columns(), **texts)


def added(parts: Sequence[Counted]) -> Counted:
    """Add what several pieces give, in their order."""
    parts = [part for part in parts if not part.is_empty] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    # First of all, because counts of the same documents do not add.
    seen = [part.seen for part in parts if part.seen is not None]
    together = seen_together(seen) if seen else None
    corpora = [part.corpus for part in parts]
    first = corpora[0]
    return replace(
        parts[0],
        answers=tuple(
            added_answers(own) for own in zip(*(part.answers for part in parts), strict=True)
        ),
        corpus=replace(
            first,
            labels=tuple(sorted({label for corpus in corpora for label in corpus.labels})),
            annotators=tuple(dict.fromkeys(n for corpus in corpora for n in corpus.annotators)),
            # Where they differ, so do the settings of answers, which are refused then.
            options={n: value for corpus in corpora for n, value in corpus.options.items()},
            skipped=added_counters(corpus.skipped for corpus in corpora),
            notes=tuple(dict.fromkeys(note for corpus in corpora for note in corpus.notes)),
        ),
        news=reduce(or_, (part.news for part in parts)),
        seen=together,
        labels=tuple(sorted({label for part in parts for label in part.labels})),
        chooses_labels=any(part.chooses_labels for part in parts),
        files=_added_files([part.files for part in parts]),
        copies=added_copies([part.copies for part in parts]),
    )


def _added_up(results: Iterable[Counted]) -> Counted | None:
    """Add results in their order, always about as large ones, so that none is added often."""
    levels: list[list[Counted]] = [[]]
    for result in results:
        levels[0].append(result)
        for level, waiting in enumerate(levels):
            if len(waiting) < _AT_ONCE:
                break
            if level + 1 == len(levels):
                levels.append([])
            levels[level + 1].append(added(waiting))
            waiting.clear()
    found = [result for level in reversed(levels) for result in level]
    return added(found) if found else None


def _added_files(parts: Sequence[Files]) -> Files:
    found: dict[int, tuple[tuple[int, ...], tuple[str, ...]]] = {}
    for part in parts:
        for number, (people, documents) in part.items():
            own = found.get(number, ((), ()))
            both = tuple(dict.fromkeys((*own[0], *people)))
            found[number] = both, (*own[1], *documents)[:_SHOWN]
    return found


# --- All pieces -----------------------------------------------------------------------


def counted(
    found: Scan,
    questions: Sequence[Question],
    *,
    workers: int | str = 1,
    executor: Any = None,
    part: str | None = None,
    save_counts: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Counted:
    """Answer questions about files that are read in parts.

    Parameters
    ----------
    found : Scan
        Annotations, or saved counts, of which only the first question must have an answer.
    questions : sequence of Question
    workers, executor
        Where pieces are counted (see `engine_of`).
    part : str, optional
        Only the i-th of n shares of the pieces: ``"3/100"``.
    save_counts : str, optional
        A file for what was counted, to be added to others later.
    progress : function, optional
        Is told how many pieces are done, of how many.

    Raises
    ------
    DataError
        For pieces that cannot be read, with their names; and where a document has rows in several
        places.
    """
    share = None if part is None else _share_of(part)
    for question in questions:
        question.resolved()
        if workers != 1 or executor is not None or save_counts is not None:
            check_picklable(question)
    if is_counted(found):
        return _checked(_loaded(found, questions), found)
    with (
        TemporaryDirectory(prefix="beyondchance-") as folder,
        engine_of(workers, executor) as engine,
    ):
        # Streams are on disk for the time being, because pieces may be read twice.
        items = [lasting(x, f"{folder}/{i}.parquet") for i, x in enumerate(found.items)]
        found = replace(found, items=tuple(items))
        # Found out once, and not again for every piece.
        known = replace(found, format=opened_files(found).format.name)
        pieces = pieces_of(known, engine)
        if not pieces:
            raise _without_rows(opened_files(found).uploads[0].name)
        try:
            result = _counted(known, _shared(pieces, share), questions, engine, progress)
            _check_common(result, found)
        except ScatteredError:
            raise _scattered(known) from None
        corpus = _noted(_with_inputs(result.corpus, inputs_of(known), known), found)
    result = replace(result, corpus=corpus, has_pseudonyms=found.naming.hides_files)
    if result.is_empty and share is None:
        raise _without_rows(opened_files(found).uploads[0].name)
    signed = result if share is not None else _checked(result, found)
    if save_counts is not None:
        save_file(save_counts, packed(result), corpus.sources)
    return signed


def _with_inputs(corpus: Corpus, inputs: tuple[Input, ...], found: Scan) -> Corpus:
    """Return the corpus with the files that were counted, and those that were read now."""
    items = (item.item if isinstance(item, Named) else item for item in found.items)
    places = (str(Path(item).absolute()) for item in items if isinstance(item, str | PathLike))
    sources = frozenset(places).union(item.sha256 for item in inputs)
    return replace(corpus, inputs=inputs, sources=sources)


def _counted(
    found: Scan,
    pieces: Sequence[Piece],
    questions: Sequence[Question],
    engine: Engine,
    progress: Progress | None,
) -> Counted:
    """Count all pieces, again if they show that something else holds for the whole."""
    if not pieces:
        return _nothing(0)

    def together(questions: Sequence[Question], scan: Scan) -> Counted:
        ask = partial(count, scan, tuple(questions), whole)
        return _together(engine(ask, pieces), pieces, progress if questions else None)

    bare = replace(found, options={**found.options, "gold": None}, selection=Selection())
    first = next(batches_of(bare, pieces[0], None), None)
    whole = Whole() if first is None else first.found
    for _ in range(_MOST_ROUNDS):
        try:
            shown = result = together(questions, found)
        except (FormatError, SpanError):
            raise
        except BeyondChanceError:
            # It may be wrong of some documents only, such as that there is no gold standard.
            shown = together((), bare)
            if shown.news == Whole():
                raise
        if shown.news == Whole():
            return result
        whole |= shown.news
    raise DataError("the files change while they are read", expected="files that stay as they are")


_MOST_ROUNDS = 4


def _without_rows(where: str) -> FormatError:
    return FormatError("holds no rows", where=where, expected="one for each span")


def _share_of(part: str) -> tuple[int, int]:
    """Return the number of a share, and how many there are."""
    number, _, n = str(part).partition("/")
    if not (number.isdecimal() and n.isdecimal() and 1 <= int(number) <= int(n)):
        raise OptionError("part is ", Quote(part, is_given=True), expected="such as 3/100")
    return int(number), int(n)


def _shared(pieces: Sequence[Piece], share: tuple[int, int] | None) -> Sequence[Piece]:
    """Return the pieces of one of several jobs."""
    number, n = share or (1, 1)
    return pieces[(number - 1) * len(pieces) // n : number * len(pieces) // n]


def _together(
    results: Iterable[Counted], pieces: Sequence[Piece], progress: Progress | None
) -> Counted:
    """Add what pieces give, in their order."""

    def told() -> Iterator[Counted]:
        for n_done, result in enumerate(results, start=1):
            if progress is not None:
                progress(n_done, len(pieces))
            yield result

    whole = _added_up(in_order(told(), pieces))
    assert whole is not None  # noqa: S101 - there is a piece at least
    return whole


def _check_common(result: Counted, found: Scan) -> None:
    """Refuse a table of other annotators that shares no document with another one.

    No document is in two pieces here, so that none is in two tables.
    """
    is_everybody = not result.whole.has_gaps and found.options.get("empty") != "missing"
    files = opened_files(found)
    if not is_everybody or not files.is_table:
        return
    check_common(
        [
            (files.uploads[number].name, {*people}, documents)
            for number, (people, documents) in result.files.items()
        ]
    )


def _scattered(found: Scan) -> DataError:
    """Build the refusal of files in which a document has rows in several places."""
    uploads = opened_files(found).uploads
    what = "the rows" if uploads[0].data is None else "the data frame"
    sort = f"sort {what} by document"
    is_table = found.format == "table" and not found.naming.hides_files
    if is_table and all(upload.path for upload in uploads):
        files = " ".join(quote(str(upload.path)) for upload in uploads)
        sort += f": 'beyondchance convert {files} --save sorted.parquet', if they fit into memory"
    return DataError(
        "a document has rows in several places",
        where=uploads[0].name,
        expected="all rows of a document one after the other, where files are read in parts",
        remedy=sort,
    )


def _noted(corpus: Corpus, found: Scan) -> Corpus:
    """Add notes on how files were read."""
    files = opened_files(found)
    detected = files.uploads if found.format is None else []
    read_as = [Note(("read as ", files.format.name), where=upload.name) for upload in detected]
    noted = replace(corpus, notes=(*read_as, *corpus.notes))
    if found.naming.hides_files:
        # Annotators have their pseudonyms, files not yet.
        return noted.with_pseudonyms({name: name for name in noted.annotators})
    return with_short_paths(noted, [upload.path for upload in files.uploads if upload.path])


def _checked(result: Counted, found: Scan) -> Counted:
    """Refuse labels that occur nowhere, and copies of texts; sign the choice of labels."""
    if result.copies is not None:
        problem = result.copies.problem(result.corpus.inputs[0].name)
        if problem is not None:
            raise problem
    found.selection.check(result.labels)
    if found.options.get("match", "id") == "id":
        _check_plain(result)
    labels = result.corpus.labels
    are_compared = any(item.question.command != "difficulty" for item in result.answers)
    if are_compared and len(result.corpus.annotators) == 1:
        raise NothingSharedError(
            *("only one annotator found: ", Quote(result.corpus.annotators[0])),
            expected="at least two who annotated the same document",
        )
    if not result.chooses_labels:
        return result
    return replace(
        result,
        answers=tuple(_with_labels(item, tuple(labels)) for item in result.answers),
    )


def _check_plain(result: Counted) -> None:
    """Refuse names such as 1.0 next to 1: whether they are the same, only all documents show."""
    skipped = result.corpus.skipped
    are_mixed = result.seen is not None and all(result.seen.ways)
    is_mended = PLAIN_LABELS in skipped or PLAIN_IDS in skipped
    if is_mended or are_mixed or plain_ids(result.labels):
        raise MismatchError(
            "labels or documents such as 1.0 are there next to 1",
            expected="one way to write them, where files are read in parts",
            remedy=("write them alike, or pass ", Use("match", "exact"), " if they differ"),
        )


def _with_labels(item: Answer, labels: tuple[str, ...]) -> Answer:
    return replace(
        item,
        scored={
            name: replace(known, settings=known.settings.replaced(labels=labels))
            for name, known in item.scored.items()
        },
    )


# --- Saved counts ---------------------------------------------------------------------


def is_counted(found: Scan) -> bool:
    """Return whether the files hold saved counts."""
    are = [holds_counts(item) for item in found.items]
    if any(are) and not all(are):
        raise OptionError("saved counts and annotations", expected="one or the other")
    return all(are)


def _loaded(found: Scan, questions: Sequence[Question]) -> Counted:
    """Add saved counts, and pick the answers to the questions, at least to the first one."""
    loaded = [_stored(item) for item in found.items]
    parts = sorted((part for part in loaded if not part.is_empty), key=attrgetter("number"))
    if not parts:
        raise _without_rows(str(found.items[0]))
    if len(parts) > 1 and any(part.has_pseudonyms for part in parts):
        raise MismatchError(
            "annotators with the same pseudonym in two saved counts may be different people",
            expected="one file of counts with pseudonyms",
            remedy="count all annotations at once, or without pseudonyms",
        )
    for part in parts[1:]:
        if _facts(part) != _facts(parts[0]):
            raise MismatchError(
                "counts of parts in which other annotators are known: ",
                *(*quotes(parts[0].whole.annotators), " and ", *quotes(part.whole.annotators)),
                expected="the same, because all are taken to have annotated every document",
                remedy=("count with ", Use("empty", "missing"), ", which takes those with a row"),
            )
    known = [{_identity(item.question): item for item in part.answers} for part in parts]
    missing = next((own for own in known if _identity(questions[0]) not in own), None)
    if missing is not None:
        raise OptionError(
            f"no counts of {_named(questions[0])} with these options are saved; found ",
            *quotes([_named(item.question) for item in missing.values()]),
            remedy="count again with the options that are wanted",
        )
    wanted = [key for key in map(_identity, questions) if all(key in own for own in known)]
    try:
        together = added(
            [
                replace(part, answers=tuple(map(own.__getitem__, wanted)))
                for part, own in zip(parts, known, strict=True)
            ]
        )
    except ScatteredError:
        raise DataError(
            "a document is in several of the files", expected="counts of different documents"
        ) from None
    inputs = tuple(dict.fromkeys(item for part in parts for item in part.corpus.inputs))
    corpus = _with_inputs(together.corpus, inputs, found)
    answers = (_in_first_order(item, corpus.annotators) for item in together.answers)
    return replace(together, corpus=corpus, answers=tuple(answers))


def _in_first_order(item: Answer, annotators: Sequence[str]) -> Answer:
    """Order annotators as they occur, a gold standard first.

    Counts by unit of parts with different annotators have them by name.
    """
    scored = {}
    for name, known in item.scored.items():
        gold = known.settings.gold
        names = [n for n in annotators if n in known.counts.annotators]
        names.sort(key=lambda one: one != gold)
        scored[name] = replace(known, counts=known.counts.ordered(tuple(names)))
    return replace(item, scored=scored)


def _facts(part: Counted) -> object:
    """Return what must be the same in parts that are added."""
    return None if part.whole.has_gaps else set(part.whole.annotators)


def _named(question: Question) -> str:
    return f"{question.command} by {question.resolved().measure.name}"


def _identity(question: Question) -> tuple[Any, ...]:
    signature = question.resolved().signature(is_estimated=True)
    return question.command, question.gold, tuple(sorted(signature.items()))


_KINDS = (
    *(Answer, Copies, Corpus, Input, Naming, Note, Placed, Question, Quote, Scored, Seen, Use),
    Whole,
)
"""What can be in a file of counts."""


def _stored(path: str | PathLike[str]) -> Counted:
    """Read a file of counts.

    Raises
    ------
    FormatError
        If it is not whole, of another version, or something else.
    """
    source = Source(str(path), path=Path(path))

    def check_size(size: int) -> None:
        if size > source.most:
            said = f"unpacks to {size:,} bytes"
            raise too_large(source.name, said, most=source.most, size=size)

    try:
        return unpacked(source.data, Counted, _KINDS, check_size)
    except FormatError as error:
        error.where = pieces(source.name)
        raise
