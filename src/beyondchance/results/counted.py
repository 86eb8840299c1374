"""What results that are summed from counts have in common."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from beyondchance.numbers import Extent
from beyondchance.results.counts import Counts
from beyondchance.results.intervals import Intervals
from beyondchance.results.resampling import Resampling
from beyondchance.settings import Settings


def extent_of(counts: Counts, settings: Settings) -> Extent:
    """Count the documents and texts compared, and name what documents are called."""
    return Extent(counts.n_compared, counts.n_compared_texts, settings.unit)


def units_of(counts: Counts, settings: Settings) -> str:
    """Name what intervals draw from counts: documents, sentences, or groups of them."""
    plural = f"{extent_of(counts, settings).noun}s"
    return f"groups of {plural}" if counts.n_groups else plural


def signed_with(options: Resampling, settings: Settings, counts: Counts) -> Settings:
    """Add to the settings of a result how its intervals were made; resamples, if there are any."""
    is_drawn = options.is_tested or options.draws > 0
    is_by_document = options.over == "documents"
    return settings.replaced(
        confidence=options.confidence,
        interval_method=options.method,
        resamples=options.resamples if is_drawn else None,
        seed=options.seed if is_drawn and options.seed is not None else settings.seed,
        over=f"{extent_of(counts, settings).noun}s" if is_by_document else options.over,
        groups=counts.n_groups or None,
    )


class Counted:
    """A result that is summed from counts of documents."""

    counts: Counts
    settings: Settings

    @property
    def extent(self) -> Extent:
        """How many documents and texts were compared, and what documents are called."""
        return extent_of(self.counts, self.settings)

    @cached_property
    def drawn(self) -> Counts:
        """What intervals draw from: the counts, or of many documents those by group."""
        return self.counts.drawn

    @property
    def resampled_unit(self) -> str:
        """What intervals draw: documents, sentences where nothing larger is known, or groups."""
        return units_of(self.drawn, self.settings)

    def signed(self, found: dict[str, Any], options: Resampling) -> Intervals:
        """Put intervals of all levels together, those of the overall score without a name."""
        overall = found.pop("overall")[""]
        settings = signed_with(options, self.settings, self.drawn)
        return Intervals(overall=overall, settings=settings, **found)
