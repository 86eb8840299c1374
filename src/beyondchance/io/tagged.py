"""Decode tag sequences of files into spans, and detect the scheme that they follow.

A reader yields the tags of one annotator in one file as `TaggedTexts`, in columns. Where all
annotators have the same words, these are the columns of the corpus; where texts have to be aligned
or matched, they are taken apart into drafts.

A reader whose tags depend on those of other annotators yields drafts that have the tags still. A
position with the tag -100 is not scored, and left out for all annotators before tags are decoded:
what a system predicts there would otherwise begin or end spans.
"""

from __future__ import annotations

import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, pairwise
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.joining import with_whole_documents
from beyondchance.annotations.names import sorted_names
from beyondchance.annotations.tags import (
    UNNAMED,
    DecodedTags,
    decode_tags,
    joined_tags,
    scheme_of_pairs,
    scheme_with_ends,
)
from beyondchance.errors import MismatchError, OptionError
from beyondchance.io.conventions import count_duplicate
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_sentences, draft_of_words
from beyondchance.io.options import Reading
from beyondchance.io.values import refusal
from beyondchance.messages import Piece, Text, Use, given, pieces
from beyondchance.tallies import left_out
from beyondchance.types import Ints

TAG = re.compile(r"O|[BIELSUM](-\S.*)?")
"""What a tag looks like, whatever its scheme."""
NUMBERED = "tokens read from column 2; column 1 numbers them"
"""What is said of a file without header whose first column counts the tokens."""
IGNORED = -100
"""The number of a position that is not scored, as in the Trainer of transformers."""
_MOST_DIGITS = 9
Marks = list[tuple[int, int, str]]
"""The spans of one text: start, end and label."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaggedTexts:
    """The tagged sentences of one annotator in one file, in columns.

    Attributes
    ----------
    file, annotator : str
    words : sequence of str
        Those of all sentences, one after the other.
    lines : sequence of int
        The line of each word.
    lengths : array of int, shape (sentences,)
        How many words each sentence has.
    document : array of int, shape (sentences,)
        The document of each sentence, ascending.
    names : sequence of str
        The documents.
    fields : sequence of mapping
        Values to group each document by.
    spans : DecodedTags
    is_gold : bool
        Whether this is the gold standard rather than the work of an annotator.
    is_ordered : bool
        Whether nothing but their order identifies documents.
    """

    file: str
    annotator: str
    words: Sequence[str]
    lines: Sequence[int]
    lengths: Ints
    document: Ints
    names: Sequence[str]
    fields: Sequence[Mapping[str, str]]
    spans: DecodedTags
    is_gold: bool = False
    is_ordered: bool = False

    def drafts(self) -> Iterator[Draft]:
        """Yield a draft for each document."""
        marks = list(marks_of(self.spans, len(self.lengths)))
        ends = np.cumsum(self.lengths)
        bounds = list(zip((ends - self.lengths).tolist(), ends.tolist(), strict=True))
        first = np.searchsorted(self.document, np.arange(len(self.names) + 1)).tolist()
        for number, name in enumerate(self.names):
            own = slice(first[number], first[number + 1])
            yield draft_of_sentences(
                [self.words[start:end] for start, end in bounds[own]],
                marks[own],
                where=f"{self.file}:{self.lines[bounds[own.start][0]]}",
                document=name,
                annotator=self.annotator,
                fields=self.fields[number],
                is_gold=self.is_gold,
                order=number if self.is_ordered else None,
            )


def corpus_of_tags(
    given: Sequence[TaggedTexts], fields: Mapping[str, Sequence[str]], *, unit: str
) -> Corpus:
    """Build the corpus of annotators who have the same words in the same documents."""
    first, people = given[0], [texts.annotator for texts in given]
    n_texts, n_documents = len(first.lengths), len(first.names)
    spans = joined_tags(
        [texts.spans for texts in given],
        (np.arange(n_texts) + n_texts * number for number in range(len(given))),
    )
    annotator, text = np.divmod(spans.text, n_texts)
    # Repairs may leave a label without spans.
    is_used = np.bincount(spans.label, minlength=len(spans.labels)) > 0
    used = tuple(compress(spans.labels, is_used))
    labels, label = sorted_names(used, (np.cumsum(is_used) - 1)[spans.label])
    annotation = np.indices((n_documents, len(people))).reshape(2, -1)
    # Words are one space apart.
    sizes = np.fromiter(map(len, first.words), np.int64, len(first.words))
    ends = np.cumsum(sizes + 1) - 1
    starts, last = ends - sizes, np.cumsum(first.lengths) - 1
    begins = starts[last + 1 - first.lengths]
    joined = " ".join(first.words)
    bounds = zip(begins.tolist(), ends[last].tolist(), strict=True)
    before = np.repeat(begins, first.lengths)
    corpus = Corpus(
        documents=tuple(first.names),
        text_document=first.document,
        text_length=first.lengths,
        annotators=tuple(people),
        labels=labels,
        annotation_document=annotation[0],
        annotation_annotator=annotation[1],
        span_text=text,
        span_annotator=annotator,
        span_label=label,
        span_start=spans.start,
        span_end=spans.end,
        fields={name: tuple(values) for name, values in fields.items()},
        unit=unit,
        positions="tokens",
        texts=tuple(joined[begin:end] for begin, end in bounds),
        token_start=starts - before,
        token_end=ends - before,
        gold=next((texts.annotator for texts in given if texts.is_gold), None),
    )
    return with_whole_documents(corpus) if unit == "document" else corpus


def by_annotator(given: Iterable[TaggedTexts]) -> list[TaggedTexts] | None:
    """Put the files of each annotator together, where all have the same words.

    None where they do not, or where names of documents are not distinct.
    """
    files: dict[str, list[TaggedTexts]] = {}
    for texts in given:
        files.setdefault(texts.annotator, []).append(texts)
    if any(texts.is_ordered for own in files.values() for texts in own[1:]):
        return None
    first, *others = found = list(map(_joined, files.values()))
    is_distinct = len(set(first.names)) == len(first.names)
    return found if is_distinct and all(_are_same(first, texts) for texts in others) else None


def _joined(files: Sequence[TaggedTexts]) -> TaggedTexts:
    """Put the files of one annotator one after the other."""
    if len(files) == 1:
        return files[0]
    n_texts = np.cumsum([0, *(len(texts.lengths) for texts in files)])
    n_documents = np.cumsum([0, *(len(texts.names) for texts in files)])
    numbers = (np.arange(*bounds) for bounds in pairwise(n_texts.tolist()))
    documents = zip(files, n_documents.tolist(), strict=False)
    return replace(
        files[0],
        words=[word for texts in files for word in texts.words],
        lengths=np.concatenate([texts.lengths for texts in files]),
        document=np.concatenate([texts.document + before for texts, before in documents]),
        names=[name for texts in files for name in texts.names],
        fields=[fields for texts in files for fields in texts.fields],
        spans=joined_tags([texts.spans for texts in files], numbers),
        is_gold=any(texts.is_gold for texts in files),
    )


def _are_same(one: TaggedTexts, other: TaggedTexts) -> bool:
    return (
        one.is_ordered == other.is_ordered
        and one.names == other.names
        and np.array_equal(one.lengths, other.lengths)
        and np.array_equal(one.document, other.document)
        and (one.words is other.words or one.words == other.words)
    )


class Layout(NamedTuple):
    """What all rows of a file decide, for readers that are given a piece of it.

    It is found out when the file is cut, so that every piece is read as the whole would be.

    Attributes
    ----------
    width : int
        How many columns it has.
    widths : frozenset of int
        How many columns files have that end with gold standard and system.
    tags : frozenset of int
        The columns that hold tags: all of their cells, or most where a header names them.
    schemes : tuple of (int, str)
        The schemes of columns.
    is_numbered : bool
        Whether the first column numbers the tokens.
    tells : bool
        Whether a text has several tokens, so that numbers that count them can be told.
    """

    width: int = 0
    widths: frozenset[int] = frozenset()
    tags: frozenset[int] = frozenset()
    schemes: tuple[tuple[int, str], ...] = ()
    is_numbered: bool = False
    tells: bool = False

    def scheme_of(self, column: int) -> str | None:
        """Return the scheme of a column; None if it is not known."""
        return dict(self.schemes).get(column)


def decoded(
    tags: Sequence[str],
    lengths: Ints,
    reading: Reading,
    *,
    file: str,
    annotator: str,
    where: Callable[[int, int], Text],
    detected: str | None = None,
) -> DecodedTags:
    """Find the spans of texts whose tags lie end to end, as the options say.

    Parameters
    ----------
    tags : sequence of str
        The tags of all texts, one text after the other.
    lengths : array of int, shape (texts,)
        How many tags each text has.
    reading : Reading
        Its notes, counters and signed choices are added to.
    file, annotator : str
        What a note on the scheme is about.
    where : function of a text and a place in it
        Names the place in error messages.
    detected : str, optional
        The scheme, if it is known from all annotators together.
    """
    scheme: str | None = reading.options["scheme"]
    repair = "conlleval" if reading.refuses("repair") else reading.options["repair"]
    found = decode_tags(tags, lengths, scheme=scheme or detected, repair=repair, where=where)
    if scheme is None:
        reading.note("tags read as ", found.scheme, where=file, who=annotator)
    reading.schemes.add(found.scheme)
    reading.signed["scheme"] = "+".join(sorted(reading.schemes))
    if (refusal := found.refusal) is not None:
        what = f"tags repaired by {repair}"
        reading.mend("repair", what, lambda: refusal, found.n_repaired)
    return found


def layered(
    layers: Mapping[str, DecodedTags],
    n_texts: int,
    reading: Reading,
    where: Callable[[int, int], Text],
) -> DecodedTags:
    """Join the layers of one annotator; a span that two of them have is taken once.

    Tags without a label are labelled by their layer.
    """
    if len(layers) == 1:
        return next(iter(layers.values()))
    named = [
        own._replace(labels=tuple(name if label == UNNAMED else label for label in own.labels))
        for name, own in layers.items()
    ]
    found = joined_tags(named, [np.arange(n_texts)] * len(named))
    rows = np.stack([found.text, found.start, found.end, found.label])
    columns, n_times = np.unique(rows, axis=1, return_counts=True)
    if n_twice := int(np.sum(n_times - 1)):
        text, start = columns[:2, n_times.argmax()].tolist()
        count_duplicate(reading, where(text, start), "a span is in two layers", number=n_twice)
    text, start, end, label = columns
    return found._replace(text=text, start=start, end=end, label=label)


def layers_of(names: str, known: Collection[str]) -> list[str]:
    """Split the columns of layers, with + between them, unless a column has that name.

    Examples
    --------
    >>> layers_of("3+4", ()), layers_of("C++", ["C++"])
    (['3', '4'], ['C++'])
    """
    return [names] if names in known else [name.strip() for name in names.split("+")]


def trailing_tags(columns: Sequence[AbstractSet[str]]) -> list[int]:
    """Find the columns at the end of a file without header that hold tags with common labels.

    `columns` are the distinct cells of each column. The tags of parts of speech and of chunks
    have other labels than those of entities; of tags without labels there is no telling.

    Examples
    --------
    >>> word, chunk, gold = {"Ada", "sat"}, {"B-NP", "B-VP"}, {"B-PER", "O"}
    >>> trailing_tags([word, chunk, gold, {"I-PER", "O"}]), trailing_tags([word, chunk, gold])
    ([2, 3], [2])
    """
    # Numbers in the first column are those of tokens: then the last are layers of annotation.
    if are_numbers(columns[0]):
        return [len(columns) - 1]
    *others, last = ((_labels(cells) or set()) - {UNNAMED} for cells in columns)
    found = [len(columns) - 1]
    for column in range(len(others) - 1, 0, -1):
        if not last & others[column]:
            break
        found.append(column)
    return found[::-1]


def are_numbers(words: Iterable[str]) -> bool:
    """Return whether all words, or what is in their place, are numbers.

    Examples
    --------
    >>> are_numbers(["1", "2"]), are_numbers(["1", "dog"])
    (True, False)
    """
    return all(map(str.isdecimal, words))


def are_counting(numbers: Sequence[str], lengths: Ints) -> bool:
    """Return whether numbers, of texts that lie end to end, count the tokens of each text.

    Examples
    --------
    >>> are_counting(["1", "2", "1"], np.array([2, 1])), are_counting(["7", "7"], np.array([2]))
    (True, False)
    """
    # Numbers with hundreds of digits count nothing, and do not fit an array.
    if max(map(len, numbers)) > _MOST_DIGITS or int(lengths.max()) < 2:
        return False
    found = np.fromiter(map(int, numbers), dtype=np.int64, count=len(numbers))
    goes_on = np.ones(len(found), dtype=bool)
    goes_on[np.cumsum(lengths) - lengths] = False
    return bool(np.all(np.diff(found, prepend=0)[goes_on] == 1))


def are_tags(cells: AbstractSet[str]) -> bool:
    """Return whether all of the distinct cells of a column are tags.

    Examples
    --------
    >>> are_tags({"B-PER", "O"}), are_tags({"NNP", "O"})
    (True, False)
    """
    return all(map(TAG.fullmatch, cells))


def _labels(cells: AbstractSet[str]) -> set[str] | None:
    """Collect the labels of tags; return None if one of the cells is not a tag."""
    if not are_tags(cells):
        return None
    return {cell[2:] or UNNAMED for cell in cells if cell != "O"}


def chosen_columns(reading: Reading) -> dict[str, list[str]]:
    """Return what the option ``columns`` says of the columns of tokens and of tags.

    Examples
    --------
    >>> chosen_columns(Reading({"columns": "token=1, tag=3,4"}))
    {'token': ['1'], 'tag': ['3', '4']}
    """
    value = reading.options["columns"]
    if value is None:
        return {}
    found: dict[str, list[str]] = {}
    kind = ""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    for part in text.split(","):
        before, equals, after = part.partition("=")
        kind = before.strip() if equals else kind
        found.setdefault(kind, []).append((after if equals else before).strip())
    if not found.keys() <= {"token", "tag"} or len(found.get("token", ())) > 1:
        raise OptionError(
            *given("columns", value),
            expected="the columns of tokens and of tags, such as token=1,tag=4",
        )
    return found


def either(columns: Sequence[str]) -> tuple[Piece, ...]:
    """Say how several columns of tags are read: as annotators, or as layers of one."""
    each, layers = (Use("columns", f"tag={sign.join(columns)}") for sign in ",+")
    return each, " reads each as an annotator, ", layers, " as layers of one"


def note_columns(columns: Sequence[AbstractSet[str]], reading: Reading, *, file: str) -> None:
    """Tell if columns between the token and the last hold tags as well.

    `columns` are the distinct cells of each column.
    """
    last = len(columns)
    also = [str(number) for number, cells in enumerate(columns, start=1) if _labels(cells)]
    also = [number for number in also if number not in {"1", str(last)}]
    if also:
        reading.note(
            f"read from the last column of tags; column {' and '.join(also)} holds tags too (",
            *either([*also, str(last)]),
            ")",
            where=file,
        )


def marks_of(found: DecodedTags, n_texts: int) -> Iterator[Marks]:
    """Iterate over the spans of one text after the other."""
    marks: list[Marks] = [[] for _ in range(n_texts)]
    columns = (found.text, found.start, found.end, found.label)
    for text, start, end, label in zip(*(column.tolist() for column in columns), strict=True):
        marks[text].append((start, end, found.labels[label]))
    return iter(marks)


# --- Tags that are decoded once all annotators are known -----------------------


def scored(masks: Mapping[str, Sequence[bool]], reading: Reading, where: Text) -> list[bool] | None:
    """Find the positions of a text that are scored, and count the others.

    Those of the gold standard are, because a system does not say what it is scored on; between
    equals, those that all annotators score.

    Parameters
    ----------
    masks : mapping of str to sequence of bool
        For each annotator, whether positions have the tag -100.
    reading : Reading
    where : Text
        The place of the text.

    Returns
    -------
    list of bool, optional
        None if all positions are scored.

    Raises
    ------
    MismatchError
        If annotators have different numbers of tags, or a system leaves out what is scored.
    """
    if not any(map(any, masks.values())):
        return None
    refused = partial(refusal, where, kind=MismatchError)
    if len({len(mask) for mask in masks.values()}) > 1:
        sizes = " and ".join(str(len(mask)) for mask in masks.values())
        raise refused(
            f"annotators have {sizes} tags, some of them {IGNORED}", expected="equally many"
        )
    gold = next((name for name in masks if reading.is_reference(name)), None)
    decisive = masks.values() if gold is None else [masks[gold]]
    kept = [not any(own) for own in zip(*decisive, strict=True)]
    for name, mask in masks.items():
        place = next((i for i, own in enumerate(mask) if own and kept[i]), None)
        if place is not None:
            raise refused(
                f"{{}} has {IGNORED} at position {place}, which {{}} scores",
                name,
                gold,
                expected="a tag, because the gold standard says what is scored",
            )
    reading.skipped[left_out(f"positions with the tag {IGNORED}")] += kept.count(False)
    return kept


def with_spans(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Decode the tags of drafts that have them still; others stay as they are."""
    if all(draft.tagged is None for draft in drafts):
        return drafts
    drafts = _without_unscored(drafts, reading)
    waiting: dict[tuple[str, str, str], list[Draft]] = {}
    for draft in drafts:
        if (tagged := draft.tagged) is not None:
            key = (tagged.file, draft.annotator, tagged.layer)
            waiting.setdefault(key, []).append(draft)
    groups = [
        [[tag for tag in draft.tagged.tags if tag is not None] for draft in own if draft.tagged]
        for own in waiting.values()
    ]
    found: dict[int, Draft] = {}
    for (key, own), texts, scheme in zip(waiting.items(), groups, _schemes(groups), strict=True):
        file, annotator, layer = key
        spans = decoded(
            [*chain.from_iterable(texts)],
            np.array([*map(len, texts)]),
            reading,
            file=file,
            annotator=annotator,
            where=partial(_where, own),
            detected=scheme,
        )
        for draft, marks in zip(own, marks_of(spans, len(own)), strict=True):
            places = draft.tokens or ()
            marked = [
                DraftSpan(
                    places[s][0], places[e - 1][1], label if label != UNNAMED else layer or label
                )
                for s, e, label in marks
            ]
            found[id(draft)] = replace(draft, spans=marked, tagged=None)
    whole: dict[object, Draft] = {}
    for draft in drafts:
        made, is_layer = found.get(id(draft), draft), draft.tagged and draft.tagged.layer
        known = whole.setdefault((draft.annotator, draft.where) if is_layer else id(draft), made)
        if known is not made:
            whole[draft.annotator, draft.where] = replace(known, spans=[*known.spans, *made.spans])
    return list(whole.values())


def _schemes(annotators: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Detect the scheme of each annotator's tags.

    Those without marks of ends have one scheme together: where one writes ``B-`` at the beginning
    of spans, an ``I-`` of another that begins a span breaks the scheme.

    Examples
    --------
    >>> _schemes([[["I-X", "O"]]]), _schemes([[["I-X", "O"]], [["B-X", "O"]]])
    (['IO'], ['IOB2', 'IOB2'])
    >>> _schemes([[["I-X", "B-X"]], [["S-X", "O"]]])
    ['IOB1', 'BIOES']
    """
    # There are few distinct pairs of neighbours, however many tags there are.
    pairs = [
        {pair for tags in texts for pair in zip(("O", *tags), tags, strict=False)}
        for texts in annotators
    ]
    found = [scheme_with_ends({tag[:1] for _, tag in own}) for own in pairs]
    others = (own for own, known in zip(pairs, found, strict=True) if known is None)
    shared = scheme_of_pairs(chain.from_iterable(others))
    return [known or shared for known in found]


def _where(drafts: Sequence[Draft], text: int, place: int) -> Text:
    """Name the place of a tag, by its number among all tags of its text."""
    draft = drafts[text]
    assert draft.tagged is not None  # noqa: S101 - those without tags are not decoded
    scored_tags = [i for i, tag in enumerate(draft.tagged.tags) if tag is not None]
    return (*pieces(draft.where), f", {draft.tagged.kind} {scored_tags[place]}")


def _without_unscored(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Leave out the positions that are not scored, of all annotators of a document."""
    groups: dict[str, list[Draft]] = {}
    for draft in drafts:
        groups.setdefault(draft.document, []).append(draft)
    cut: dict[int, Draft | None] = {}
    for group in groups.values():
        masks = {
            d.annotator + d.tagged.layer: [tag is None for tag in d.tagged.tags]
            for d in group
            if d.tagged
        }
        other = next((draft for draft in group if draft.tagged is None), None)
        if other is not None and any(map(any, masks.values())):
            raise refusal(
                other.where,
                "document {} has positions that are not scored "
                f"({IGNORED}), but not all annotators have tags",
                other.document,
                expected="tags, so that these positions can be left out",
                kind=MismatchError,
            )
        kept = scored(masks, reading, group[0].where)
        if kept is not None:
            reading.skipped[left_out("examples without tokens")] += not any(kept)
            cut |= {id(draft): _only(draft, kept) if any(kept) else None for draft in group}
    found = (cut.get(id(draft), draft) for draft in drafts)
    return [draft for draft in found if draft is not None]


def _only(draft: Draft, kept: Sequence[bool]) -> Draft:
    """Keep some of the tokens of a draft of one sentence."""
    if draft.tagged is None or draft.tokens is None:
        return draft
    words = [draft.text[start:end] for start, end in compress(draft.tokens, kept)]
    made = draft_of_words(words, (), where="", document="", annotator="")
    # Positions that only the gold standard leaves out have a tag, which goes with them.
    tags = [tag if is_kept else None for tag, is_kept in zip(draft.tagged.tags, kept, strict=True)]
    return replace(
        draft,
        text=made.text,
        tokens=made.tokens,
        sentences=None if draft.sentences is None else [(0, len(made.text))],
        tagged=draft.tagged._replace(tags=tags),
    )
