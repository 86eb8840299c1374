"""A result and its corpus as they can be sent: without e-mail addresses and folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from beyondchance.annotations.corpus import Corpus
from beyondchance.io.naming import file_names, short_names, with_short_names
from beyondchance.messages import renamed, renaming
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Named
from beyondchance.results.ranking import Ranking
from beyondchance.settings import Settings


def for_sending(
    result: Agreement | Ranking, corpus: Corpus | None
) -> tuple[Agreement | Ranking, Corpus | None]:
    """Replace e-mail addresses of annotators by what is before the @, and drop folders of files.

    This comes before everything else, so that no table, chart, text or data has the address.
    Files are renamed while they are read; this is for annotations that come from elsewhere.

    Examples
    --------
    >>> from beyondchance import Corpus, agreement
    >>> corpus = Corpus.from_tags({"ada@a.org": [["B-X", "O"]], "ada@b.org": [["O", "B-X"]]})
    >>> result, corpus = for_sending(agreement(corpus), corpus)
    >>> result.counts.annotators, corpus.annotators
    (('ada', 'ada 2'), ('ada', 'ada 2'))
    """
    annotators = _annotators(result) if corpus is None else corpus.annotators
    names = short_names(annotators)
    if corpus is not None:
        corpus = _without_folders(with_short_names(corpus, is_noted=True)[0])
    return (_with_names(result, names) if names else result), corpus


def _annotators(result: Agreement | Ranking) -> tuple[str, ...]:
    """Return all who were compared, and the gold standard."""
    if isinstance(result, Ranking):
        return (result.gold, *result.systems)
    return result.counts.annotators


def _with_names(result: Agreement | Ranking, names: Mapping[str, str]) -> Agreement | Ranking:
    """Rename the annotators of a result."""
    settings = _signed(result.settings, names)
    notes = tuple(renamed(note, names) for note in result.notes)
    if isinstance(result, Agreement):
        annotators = tuple(names.get(name, name) for name in result.counts.annotators)
        counts = replace(result.counts, annotators=annotators)
        return replace(result, counts=counts, settings=settings, notes=notes)
    systems: Named[str, Agreement] = Named()
    for name, system in result.systems.items():
        systems[names.get(name, name)] = _with_names(system, names)  # type: ignore[assignment]
    gold = names.get(result.gold, result.gold)
    return replace(result, gold=gold, systems=systems, settings=settings, notes=notes)


def _signed(settings: Settings, names: Mapping[str, str]) -> Settings:
    """Rename the annotators in the signature."""
    changed: dict[str, object] = {}
    if settings.gold is not None:
        changed["gold"] = names.get(settings.gold, settings.gold)
    if settings.annotators is not None:
        changed["annotators"] = tuple(names.get(name, name) for name in settings.annotators)
    return settings.replaced(**changed) if changed else settings


def _without_folders(corpus: Corpus) -> Corpus:
    """Shorten paths of files to names, with their folder where two would be equal."""
    files = [item.name for item in corpus.inputs]
    short = dict(zip(files, files, strict=True)) | file_names(files)
    # A file may be named after an annotator who was left out.
    without = short_names(short.values())
    short = {path: without.get(name, name) for path, name in short.items()}
    in_file = renaming(short)
    return replace(
        corpus,
        inputs=tuple(replace(item, name=short[item.name]) for item in corpus.inputs),
        notes=tuple(replace(note, where=in_file(note.where)) for note in corpus.notes),
    )
