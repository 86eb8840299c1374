"""Formats with layers: which layer is read, and which of its features is the label.

UIMA CAS and WebAnno TSV name what was annotated by layers, each with features. The layer
and the feature are the ones that the options name, or the only ones that can be meant.
GATE's annotation types are checked by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
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

UNLABELLED = left_out("annotations without a label", "")


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation of a layer: its offsets, and its features that have a value."""

    start: int
    end: int
    values: dict[str, str]
    where: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
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
    others: tuple[str, ...] = ()
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layered:
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
    """The last part of a layer's name.

    Examples
    --------
    >>> short_name("webanno.custom.Emotion")
    'Emotion'
    """
    return layer.rpartition(".")[2]


def out_of_order(places: Iterable[Interval], end: int) -> Interval | None:
    """The first interval that is empty, overlaps the one before or ends after the text."""
    last = 0
    for start, stop in places:
        if not last <= start < stop <= end:
            return start, stop
        last = stop
    return None


def as_label(value: str | float) -> str:
    """A single value as the files write it: truth values in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown(what: str, asked: str, known: Iterable[str], where: Text) -> FormatError:
    """The error for a name that an option asks for and the files do not have."""
    found = (f"no {what} ", Quote(asked))
    return FormatError(*found, where=where, expected=("one of: ", *quotes(known, most=50)))


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
        self._reading = reading

    def label(self, values: Mapping[str, str], default: str) -> str:
        """Return the label of an annotation; empty if it has none, which is counted."""
        self.known.update(dict.fromkeys(values))
        label = default if self.asked is None else values.get(self.asked, "").strip()
        self._reading.skipped[UNLABELLED] += not label
        return label

    def check(self, what: str, where: str) -> None:
        """Refuse a feature that no annotation has; `what` is the format's word for features."""
        if self.asked is not None and self.known and self.asked not in self.known:
            raise unknown(what, self.asked, self.known, where)


def layer_drafts(
    documents: Sequence[Layered], reading: Reading, *, name: str, name_as_label: bool
) -> Iterator[Draft]:
    """Drafts of one layer and one feature of all documents of an upload.

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
        feature = _feature(documents, layer, reading, name)
        values = [mark.values.get(feature or "") for mark in _annotations(documents, layer)]
        if name_as_label and values and not any(values):
            feature = None
        _sign("layer", layer, reading, name)
        reading.calls("layer", layer)
        if feature:
            _sign("feature", feature, reading, name)
            reading.calls("feature", feature)
        label = ("feature ", Quote(feature)) if feature else ("labelled ", Quote(short_name(layer)))
        reading.note("layer ", Quote(layer), ", ", *label, where=name)
    for document in documents:
        yield replace(document.draft, spans=list(_spans(document, layer, feature, reading)))


def _sign(key: str, value: str, reading: Reading, name: str) -> None:
    """Sign what was chosen; refuse it if it differs from what was read before."""
    before = reading.signed.setdefault(key, value)
    if before != value:
        found = (f"the {key} to read is ", Quote(value), " here, but ", Quote(before), " before")
        raise FormatError(*found, where=name, remedy=("pass ", Use(key, placeholder="NAME")))


def _annotations(documents: Iterable[Layered], layer: str) -> Iterator[Annotation]:
    for document in documents:
        if layer in document.layers:
            yield from document.layers[layer].annotations


def _layer(documents: Sequence[Layered], reading: Reading, name: str) -> str | None:
    """The full name of the layer to read; None where there is nothing to read."""
    asked = reading.options["layer"]
    if asked is not None:
        return _asked_layer(asked, documents, reading, name)
    names = list(dict.fromkeys(layer for document in documents for layer in document.candidates))
    if NAMED_ENTITY in names:
        return NAMED_ENTITY
    own = [layer for layer in names if short_name(layer) not in INTERNAL]
    for choice in (names, own):
        if len(choice) == 1:
            return choice[0]
    if not names:
        reading.note("no layer has annotations; read as nothing marked", where=name)
        return None
    found = ("several layers have annotations: ", *quotes(sorted(names)))
    raise FormatError(*found, where=name, remedy=("pass ", Use("layer", placeholder="NAME")))


def _asked_layer(
    asked: str, documents: Sequence[Layered], reading: Reading, name: str
) -> str | None:
    known = sorted(frozenset().union(*(document.known for document in documents)))
    if asked in known:
        return asked
    fitting = [layer for layer in known if short_name(layer) == asked]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        found = ("several layers are called ", Quote(asked), ": ", *quotes(fitting))
        raise FormatError(*found, where=name, remedy="use the full name")
    # A TSV file names only layers that have annotations; a CAS names all that exist.
    if any(document.knows_all for document in documents):
        raise unknown("layer", asked, known, name)
    listed = (" (found: ", *quotes(known), ")")
    reading.note("no layer ", Quote(asked), *listed, "; read as nothing marked", where=name)
    return None


def _feature(documents: Sequence[Layered], layer: str, reading: Reading, name: str) -> str | None:
    """The feature that holds the label; None if the layer has none, or nothing to label."""
    present = [document.layers[layer] for document in documents if layer in document.layers]
    features = list(dict.fromkeys(feature for one in present for feature in one.features))
    everything = dict.fromkeys([*features, *(other for one in present for other in one.others)])
    asked = reading.options["feature"]
    if asked is not None:
        if present and asked not in everything:
            raise unknown("feature", asked, everything, (f"{name}: layer ", Quote(layer)))
        return asked if present else None
    for choice in ("value", features[0] if len(features) == 1 else "", "identifier"):
        if choice in features:
            return choice
    if not any(mark.values.get(key) for mark in _annotations(documents, layer) for key in features):
        return None
    raise FormatError(
        *("layer ", Quote(layer), " has several features: ", *quotes(features)),
        where=name,
        remedy=("pass the one that holds the label: ", Use("feature", placeholder="NAME")),
    )


def _spans(
    document: Layered, layer: str | None, feature: str | None, reading: Reading
) -> Iterator[DraftSpan]:
    """The spans of one document; everything else is counted."""
    chosen = [] if layer is None else list(_annotations([document], layer))
    # By identity: an annotation is in the layer of its type and in those of its supertypes.
    others = {id(mark) for name in document.candidates for mark in _annotations([document], name)}
    others -= set(map(id, chosen))
    if others:
        reading.skipped[not_read("annotations of other layers")] += len(others)
    for mark in chosen:
        label = short_name(layer or "") if feature is None else mark.values.get(feature)
        if label:
            yield DraftSpan(mark.start, mark.end, label, where=mark.where, id=mark.id)
        else:
            reading.skipped[UNLABELLED] += 1
