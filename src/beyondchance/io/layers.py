"""Formats with layers: which layer is read, and which of its features is the label.

UIMA CAS and WebAnno TSV name what was annotated by layers, each with features. The layer
and the feature are the ones that the options name, or the only ones that can be meant.
GATE's annotation types are checked by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from beyondchance.errors import DataError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Quote, Text, Use, given, quotes
from beyondchance.tallies import left_out, not_read

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
INTERNAL = frozenset(
    {
        "Token", "Sentence", "Paragraph", "Heading", "Div", "Document", "DocumentMetaData",
        "DocumentAnnotation", "POS", "Lemma", "Stem", "MorphologicalFeatures", "SurfaceForm",
        "Dependency", "Constituent", "CoreferenceLink", "CoreferenceChain", "TagsetDescription",
        "TagDescription", "LayerDefinition", "FeatureDefinition", "CASMetadata",
    }
)  # fmt: skip
"""Short names of types that a pipeline makes, and that annotators do not agree on."""

_OF_ERRORS = ("category", "severity", "category/severity")
UNLABELLED = left_out("annotations without a label", "")


class Annotation(NamedTuple):
    """An annotation of a layer: its offsets, and its features that have a value."""

    start: int
    end: int
    values: dict[str, str]
    where: str
    id: str = ""


class Layer(NamedTuple):
    """The annotations of a layer.

    Attributes
    ----------
    features : tuple of str
        Those that hold strings, and so may be labels.
    others : tuple of str
        Further features that can be asked for.
    annotations : list of Annotation
    """

    features: tuple[str, ...]
    others: tuple[str, ...]
    annotations: list[Annotation]


class Layered(NamedTuple):
    """A document by one annotator with all its layers, before one is chosen.

    Attributes
    ----------
    draft : Draft
        Without its spans.
    layers : mapping of str to Layer
        By full name.
    candidates : tuple of str
        The layers that can be meant if the options name none.
    known : frozenset of str
        Layers that the file knows, whether or not anything was annotated there.
    knows_all : bool
        Whether a layer that it does not know does not exist.
    """

    draft: Draft
    layers: Mapping[str, Layer]
    candidates: tuple[str, ...]
    known: frozenset[str]
    knows_all: bool = False


def short_name(layer: str) -> str:
    """Return the last part of a layer's name.

    Examples
    --------
    >>> short_name("webanno.custom.Emotion")
    'Emotion'
    """
    return layer.rpartition(".")[2]


def as_label(value: str | float) -> str:
    """Return a single value as the files write it: truth values in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown(what: str, asked: str, known: Iterable[str], where: Text) -> DataError:
    """Build the error for a name that an option asks for and the files do not have."""
    expected = ("one of: ", *quotes(known, most=50))
    return refusal(where, f"no {what} {{}}", asked, expected=expected)


def asked_names(reading: Reading) -> tuple[str, ...]:
    """Return the names that the option ``layer`` lists, with commas; none if it is not given."""
    layer: object = reading.options["layer"]
    names = () if layer is None else tuple(name.strip() for name in str(layer).split(","))
    if not all(names):
        raise OptionError(*given("layer", layer), expected="names, separated by commas")
    return names


class Features:
    """Take labels from the feature that an option names, and remember which features there are.

    Attributes
    ----------
    asked : str, optional
        What the option names.
    known : dict
        The features that annotations have.
    """

    def __init__(self, reading: Reading) -> None:
        self.asked: str | None = reading.options["feature"]
        self.known: dict[str, None] = {}
        self._n_labels = 0
        self._reading = reading

    def label(self, values: Mapping[str, str], default: str) -> str:
        """Return the label of an annotation; empty if it has none, which is counted."""
        self.known.update(dict.fromkeys(values))
        self._n_labels += 1
        label = default if self.asked is None else values.get(self.asked, "").strip()
        self._reading.skipped[UNLABELLED] += not label
        return label

    def check(self, what: str, where: str) -> None:
        """Refuse a feature that no annotation has; `what` is the format's word for features."""
        if self.asked is not None and self._n_labels and self.asked not in self.known:
            raise unknown(what, self.asked, self.known, where)


def layer_drafts(
    documents: Sequence[Layered], reading: Reading, *, name: str, name_as_label: bool
) -> Iterator[Draft]:
    """Return drafts of one layer and one feature of all documents of an upload.

    Parameters
    ----------
    documents : sequence of Layered
    reading : Reading
    name : str
        The upload, for messages.
    name_as_label : bool
        Whether a layer in which no annotation has a value is labelled by its own name.
    """
    layer = _layer(documents, reading, name)
    feature = None
    if layer is not None:
        present = [document.layers[layer] for document in documents if layer in document.layers]
        feature = _feature(present, layer, reading, name)
        values = [mark.values.get(feature or "") for one in present for mark in one.annotations]
        if name_as_label and values and not any(values):
            feature = None
        for key, value in (("layer", layer), ("feature", feature)):
            if not value:
                continue
            before = reading.signed.setdefault(key, value)
            if before != value:
                raise refusal(
                    name,
                    f"the {key} to read is {{}} here, but {{}} before",
                    value,
                    before,
                    remedy=("pass ", Use(key, placeholder="NAME")),
                )
            reading.calls(key, value)
        label = ("feature ", Quote(feature)) if feature else ("labelled ", Quote(short_name(layer)))
        reading.note("layer ", Quote(layer), ", ", *label, where=name)
    for document in documents:
        layers = document.layers
        chosen = layers[layer].annotations if layer is not None and layer in layers else []
        # By identity: an annotation is in the layer of its type and in those of its supertypes.
        all_marks = {id(mark) for name in document.candidates for mark in layers[name].annotations}
        n_others = len(all_marks.difference(map(id, chosen)))
        reading.skipped[not_read("annotations of other layers")] += n_others
        default = short_name(layer or "") if feature is None else ""
        labels = [default or mark.values.get(feature or "") for mark in chosen]
        reading.skipped[UNLABELLED] += sum(not label for label in labels)
        spans = [
            DraftSpan(mark.start, mark.end, label, where=mark.where, id=mark.id, fields=mark.values)
            for mark, label in zip(chosen, labels, strict=True)
            if label
        ]
        yield replace(document.draft, spans=spans)


def _layer(documents: Sequence[Layered], reading: Reading, name: str) -> str | None:
    """Return the full name of the layer to read; None where there is nothing to read."""
    asked: str | None = reading.options["layer"]
    names = dict.fromkeys(layer for document in documents for layer in document.candidates)
    if asked is not None:
        names = dict.fromkeys(sorted({layer for one in documents for layer in one.known}))
        choices = [asked] if asked in names else [x for x in names if short_name(x) == asked]
    elif NAMED_ENTITY in names:
        return NAMED_ENTITY
    else:
        own = [layer for layer in names if short_name(layer) not in INTERNAL]
        choices = own if len(own) == 1 else sorted(names)
    if len(choices) == 1:
        return choices[0]
    if choices:
        raise refusal(
            name,
            "several layers can be meant: {}",
            quotes(choices),
            remedy=("pass the full name of one: ", Use("layer", placeholder="NAME")),
        )
    # A TSV file names only layers that have annotations; a CAS names all that exist.
    if asked is not None and any(document.knows_all for document in documents):
        raise unknown("layer", asked, names, name)
    said = "no layer has annotations" if asked is None else "no layer {} (found: {})"
    values = () if asked is None else (asked, quotes(names))
    reading.note(*quoting(said, *values), "; read as nothing marked", where=name)
    return None


def _feature(present: Sequence[Layer], layer: str, reading: Reading, name: str) -> str | None:
    """Return the feature that holds the label; None if there is none, or nothing to label."""
    features = list(dict.fromkeys(feature for one in present for feature in one.features))
    known = dict.fromkeys([*features, *(other for one in present for other in one.others)])
    asked: str | None = reading.options["feature"]
    if asked is not None and present and asked not in known:
        raise unknown("feature", asked, known, (f"{name}: layer ", Quote(layer)))
    if asked is not None:
        return asked if present else None
    only = features if len(features) == 1 else []
    if choices := [one for one in ("value", *only, "identifier") if one in features]:
        return choices[0]
    marks = [mark for one in present for mark in one.annotations]
    if any(mark.values.get(key) for mark in marks for key in features):
        raise refusal(
            name,
            "layer {} has several features: {}",
            layer,
            quotes(features),
            remedy=("pass the one that holds the label: ", Use("feature", placeholder="NAME")),
        )
    return None


# --- Errors in translations -------------------------------------------------------


class Labels(NamedTuple):
    """What the label of an error is: its category, its severity, or both.

    Attributes
    ----------
    parts : tuple of str
        ``category``, ``severity``, or both.
    reading : Reading
    """

    parts: tuple[str, ...]
    reading: Reading

    def of(self, error: Mapping[str, str]) -> str:
        """Return the label of an error; empty if it has none, which is counted."""
        label = "/".join(filter(None, (error[part] for part in self.parts)))
        if not label:
            self.reading.skipped[left_out(f"errors without a {self.parts[0]}")] += 1
        return label


def asked_labels(reading: Reading, default: str) -> Labels:
    """Return the labels that the option ``feature`` asks for."""
    feature = reading.options["feature"] or default
    if feature not in _OF_ERRORS:
        raise OptionError(*given("feature", feature), expected=f"one of: {', '.join(_OF_ERRORS)}")
    return Labels(tuple(feature.split("/")), reading)


def visible(text: str, place: Interval, reading: Reading) -> Interval | None:
    """Return a span that covers something; a mark on a blank says that words are missing."""
    if text[slice(*place)].strip():
        return place
    reading.skipped[left_out("marks of nothing but white space")] += 1
    return None
