"""Agreement over time: each annotator with the others, week by week, and who changed."""

from __future__ import annotations

from dataclasses import dataclass

from beyondchance.types import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An annotator whose agreement with the others changed.

    Attributes
    ----------
    who : str
        The annotator. Of two it is not known who changed: both, joined by "or".
    since : str
        The first period after the change.
    before, after : float
        The corrected agreement with the others.
    others_before, others_after : float
        That of the others among themselves in the same documents; nan if there are only two.
    p_adjusted : float
        Adjusted for all periods since which, and all annotators who, may have changed.
    """

    who: str
    since: str
    before: float
    after: float
    others_before: float
    others_after: float
    p_adjusted: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Periods:
    """The agreement of each annotator with the others in each period.

    Attributes
    ----------
    field : str
        The field of the documents, or "week": that of the date of each annotation.
    periods : tuple of str
        In order.
    annotators : tuple of str
        All but a gold standard.
    corrected : array of float, shape (annotators, periods)
        nan where it is not defined.
    n_documents : array of int, shape (annotators, periods)
        Documents of the annotator that others annotated too.
    changes : tuple of Change
        The most certain first.
    n_undated : int
        Annotations without a period, which are left out.
    """

    field: str
    periods: tuple[str, ...]
    annotators: tuple[str, ...]
    corrected: Floats
    n_documents: Ints
    changes: tuple[Change, ...] = ()
    n_undated: int = 0
