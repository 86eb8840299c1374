"""Texts cut into units and gaps, and where the sections of two annotators meet.

A *unit* is one span; a *gap* is a stretch between units, as long as possible. The
units and gaps of one annotator, its *sections*, fill a text without a hole. Every
coefficient here but gamma is made of the lengths of sections and of how those of
two annotators intersect; a text of a million positions costs no more than its units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import kept
from beyondchance.core.ragged import bounds, spread
from beyondchance.errors import OverlapError
from beyondchance.messages import Quote
from beyondchance.other_coefficients.coefficient import NOBODY_TO_COMPARE, Task, UndefinedError
from beyondchance.types import Bools, Floats, Ints

GAP = -1
"""The label of a gap."""


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The sections of all annotators, in fields and tracks.

    A *field* is what annotators are compared in: a text, or a text and one label. A
    *track* is what one annotator made of a field. All who annotated a text have a
    track in its fields, whether they marked something or not.

    Attributes
    ----------
    field_text, field_label, field_length, field_team : arrays of int, shape (fields,)
        The text, the label (0 where all labels are together), the positions, and how
        many annotators there are.
    track_field, track_annotator : arrays of int, shape (tracks,)
        Sorted by field, then annotator.
    track, start, end, label : arrays of int, shape (sections,)
        Sorted by track, then start; the label of a gap is `GAP`.
    n_positions : int
        Of all texts with two annotators or more.
    """

    field_text: Ints
    field_label: Ints
    field_length: Ints
    field_team: Ints
    track_field: Ints
    track_annotator: Ints
    track: Ints
    start: Ints
    end: Ints
    label: Ints
    n_positions: int

    @cached_property
    def length(self) -> Ints:
        """Positions of each section."""
        return self.end - self.start

    @cached_property
    def field(self) -> Ints:
        """The field of each section."""
        return self.track_field[self.track]

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        """The team and the positions of each field: products of them may not fit into 64 bits."""
        return self.field_team.astype(np.float64), self.field_length.astype(np.float64)

    @cached_property
    def is_unit(self) -> Bools:
        """Which sections are units."""
        return np.not_equal(self.label, GAP)

    @cached_property
    def meetings(self) -> Meetings:
        """Where sections of different annotators meet."""
        return _meetings(self)

    @property
    def meetings_of_units(self) -> tuple[Ints, Ints, Ints]:
        """Units, the units that they meet, and what they share: each meeting in both directions."""
        met = self.meetings
        both = self.is_unit[met.left] & self.is_unit[met.right]
        left, right = met.left[both], met.right[both]
        pairs = np.concatenate([left, right]), np.concatenate([right, left])
        return *pairs, np.tile(met.shared[both], 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meetings:
    """Where a section of one annotator meets a section of another in the same field.

    Attributes
    ----------
    left, right : arrays of int, shape (meetings,)
        Sections; the annotator on the left comes first in the corpus.
    shared : array of int, shape (meetings,)
        Positions in common, at least one.
    """

    left: Ints
    right: Ints
    shared: Ints


def compared(corpus: Corpus) -> Corpus:
    """Select the documents that two annotators or more annotated.

    Examples
    --------
    >>> corpus = Corpus.from_spans({"anna": [[], []], "ben": [[], None]}, lengths=[5, 7])
    >>> compared(corpus).documents
    ('0',)
    """
    team = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    return corpus if (team > 1).all() else corpus.select(documents=kept(corpus.documents, team > 1))


def cut(corpus: Corpus, *, by_label: bool) -> Sections:
    """Cut every text with two annotators or more into sections.

    Parameters
    ----------
    corpus : Corpus
    by_label : bool
        Whether each label has fields of its own, in which spans of other labels are
        part of the gaps. Fields in which nothing is marked are then left out.

    Raises
    ------
    OverlapError
        When spans of one track overlap, naming the first.
    UndefinedError
        When there are no positions that two annotators saw.

    Examples
    --------
    >>> corpus = Corpus.from_spans({"anna": [[(1, 3, "X")]], "ben": [[]]}, lengths=[5])
    >>> parts = cut(corpus, by_label=False)
    >>> parts.track.tolist(), parts.start.tolist(), parts.label.tolist()
    ([0, 0, 0, 1], [0, 1, 3, 0], [-1, 0, -1, -1])
    """
    corpus = compared(corpus)
    n_positions = int(corpus.text_length.sum())
    if not n_positions:
        raise UndefinedError(NOBODY_TO_COMPARE)
    n_labels = max(len(corpus.labels), 1)
    if by_label:
        span_code = corpus.span_text * n_labels + corpus.span_label
        codes = np.unique(span_code)
    else:
        span_code = corpus.span_text * n_labels
        codes = np.flatnonzero(corpus.text_length) * n_labels
    field_text, field_label = np.divmod(codes, n_labels)
    field_length = corpus.text_length[field_text]

    # Every field has a track for each annotator of its document.
    document = corpus.text_document[field_text]
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.diff(first)[document]
    track_field, place = spread(team)
    track_annotator = corpus.annotation_annotator[first[document][track_field] + place]

    n_annotators = max(len(corpus.annotators), 1)
    span_field = np.searchsorted(codes, span_code)
    span_track = np.searchsorted(
        track_field * n_annotators + track_annotator,
        span_field * n_annotators + corpus.span_annotator,
    )
    order = np.lexsort((corpus.span_end, corpus.span_start, span_track))
    track, start, end = span_track[order], corpus.span_start[order], corpus.span_end[order]
    _check_disjoint(corpus, order, track, by_label=by_label)

    # A gap may lie before each unit and at the end of each track.
    before = np.where(np.diff(track, prepend=-1) == 0, np.roll(end, 1), 0)
    last = np.zeros(len(track_field), dtype=np.int64)
    last[track] = end  # of several, the one assigned last stays: the last unit
    tracks = np.concatenate([track, track, np.arange(len(track_field))])
    begins = np.concatenate([start, before, last])
    ends = np.concatenate([end, start, field_length[track_field]])
    labels = np.full(len(tracks), GAP)
    labels[: len(track)] = corpus.span_label[order]
    real = np.flatnonzero(begins < ends)
    sorted_ = real[np.lexsort((begins[real], tracks[real]))]
    return Sections(
        field_text=field_text,
        field_label=field_label,
        field_length=field_length,
        field_team=team,
        track_field=track_field,
        track_annotator=track_annotator,
        track=tracks[sorted_],
        start=begins[sorted_],
        end=ends[sorted_],
        label=labels[sorted_],
        n_positions=n_positions,
    )


def sections(task: Task) -> Sections:
    """Cut the texts of a task with all labels together."""
    return cut(task.corpus, by_label=False)


def sections_by_label(task: Task) -> Sections:
    """Cut the texts of a task for each label by itself."""
    return cut(task.corpus, by_label=True)


def _meetings(parts: Sections) -> Meetings:
    """Find every meeting of two sections of different annotators in one field.

    Two tracks with g and h sections have fewer than g + h meetings: sections are
    looked up in the other track, not compared with all of it.

    Examples
    --------
    Anna's gap, unit and gap each meet Ben's only gap.

    >>> corpus = Corpus.from_spans({"anna": [[(1, 3, "X")]], "ben": [[]]}, lengths=[5])
    >>> found = cut(corpus, by_label=False).meetings
    >>> found.left.tolist(), found.right.tolist(), found.shared.tolist()
    ([0, 1, 2], [3, 3, 3], [1, 2, 2])
    """
    n_tracks = len(parts.track_field)
    first = bounds(parts.track, n_tracks)
    # The other tracks of the field that come later.
    end_of_field = np.cumsum(parts.field_team)[parts.track_field]
    one, place = spread(end_of_field - np.arange(n_tracks) - 1)
    other = one + 1 + place

    pair, place = spread(np.diff(first)[one])
    left = first[one][pair] + place
    stride = int(parts.end.max(initial=0)) + 1
    place_of_section = parts.track * stride + parts.start
    base = other[pair] * stride
    lowest = np.searchsorted(place_of_section, base + parts.start[left], side="right") - 1
    highest = np.searchsorted(place_of_section, base + parts.end[left], side="left") - 1
    meeting, place = spread(highest - lowest + 1)
    left, right = left[meeting], lowest[meeting] + place
    shared = np.minimum(parts.end[left], parts.end[right]) - np.maximum(
        parts.start[left], parts.start[right]
    )
    return Meetings(left=left, right=right, shared=shared)


def _check_disjoint(corpus: Corpus, order: Ints, track: Ints, *, by_label: bool) -> None:
    """Refuse overlapping spans of one track; spans come by track and start."""
    start, end = corpus.span_start[order], corpus.span_end[order]
    clashes = np.flatnonzero((track[1:] == track[:-1]) & (start[1:] < end[:-1]))
    if len(clashes):
        one, other = (int(order[clashes[0] + step]) for step in (0, 1))
        span = corpus.span(other)
        expected = "one label at most for each position and annotator"
        if by_label:
            expected = "spans of one label by one annotator not to overlap"
        raise OverlapError(
            *corpus.describe_span(one),
            f" overlaps [{span.start}, {span.end}) ",
            Quote(span.label),
            expected=expected,
            remedy="correct them, or leave this coefficient out",
        )
