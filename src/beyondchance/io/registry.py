"""Every format: its name, its defaults, its options and the module that reads it.

To add a format, write a module that follows `Reader`: one of `beyondchance.io.formats`, with an
entry here, or one of another package, which offers its `Format` as an entry point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeVar, cast

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.errors import DataError
from beyondchance.installing import required as required  # noqa: PLC0414 - for readers
from beyondchance.io.drafts import Draft
from beyondchance.io.options import CHARACTERS, EVERYWHERE, Reading
from beyondchance.io.sources import Source, is_type_system
from beyondchance.io.tagged import TaggedTexts
from beyondchance.messages import quotes
from beyondchance.tallies import not_read

Work = Draft | TaggedTexts
"""What readers yield: the work of one annotator on one document, or on those of a file."""
W = TypeVar("W", Draft, TaggedTexts)


@dataclass(frozen=True, eq=False)
class Upload:
    """What was given for one path: a file, or the files of a folder.

    Attributes
    ----------
    name : str
        The path as given.
    annotator : str
        The annotator, unless the file itself names one.
    sources : list of Source
    is_folder : bool
    data : object, optional
        What was given instead of a path.
    path : str
        The path; empty for data and streams.
    is_named : bool
        Whether the annotator's name was given together with it.
    n_ignored : int
        Files of a folder that are about it, such as its licence.
    given : str
        The path as given, where people are shown another name.
    """

    name: str
    annotator: str
    sources: list[Source]
    is_folder: bool = False
    data: Any = None
    path: str = ""
    is_named: bool = False
    n_ignored: int = 0
    given: str = ""

    @property
    def full_name(self) -> str:
        """The name as given, which is not for people where names are hidden."""
        return self.given or self.name

    def document_of(self, source: Source) -> str:
        """Name the document that a file holds, unless the file itself names one.

        In a folder its name below the folder, without the ending. A file given by
        itself is by one annotator of one document, which has no name: ``1``.
        """
        return str(self.stem_of(source)) if self.is_folder else "1"

    def prefix_of(self, source: Source, sign: str = "/") -> str:
        """Return the prefix of document numbers: in a folder its file and a sign, else empty."""
        return f"{self.document_of(source)}{sign}" if self.is_folder else ""

    def check_named(self, own: Collection[str]) -> None:
        """Refuse one name for several annotators."""
        if self.is_named and len(own) > 1:
            raise self.several(own, "one, because one name was given for the file")

    def several(self, own: Collection[str], expected: str) -> DataError:
        """Build the refusal of several annotators."""
        found = (f"holds {len(own)} annotators (", *quotes(own), ")")
        return DataError(*found, where=self.name, expected=expected)

    def stem_of(self, source: Source) -> PurePosixPath:
        """Return the path of a file below the folder that was given, without its ending."""
        folder = PurePosixPath(self.full_name.replace("\\", "/"))
        path = source.posix_path
        inside = path.relative_to(folder) if path.is_relative_to(folder) else path
        return inside.with_suffix("")

    def sources_of(
        self,
        looks: Callable[[Source], object],
        reading: Reading,
        *endings: str,
        beside: Collection[Source] = (),
    ) -> list[Source]:
        """Return the files of a format, and count the others.

        A file given by itself has to be of the format. In a folder, so has a file that ends as
        those of the format do, if it is of no other: a damaged one is refused where it is read.

        Parameters
        ----------
        looks : callable
            Whether a file looks like the format.
        reading : Reading
        *endings : str
            Endings of the format: a file of another format that has one is refused.
        beside : collection of Source, optional
            Files that belong to those of the format, and are not counted.
        """
        if not self.is_folder:
            return self.sources
        alike = set(filter(looks, self.sources))
        own = {source.ending for source in alike}
        found = [
            source
            for source in self.sources
            if source in alike
            or (source.ending in endings and not is_type_system(source))
            or (source.ending in own and is_unknown(source))
        ]
        if n_others := len(set(self.sources).difference(found, beside)):
            reading.skipped[not_read("files of other formats")] += n_others
        return found


def recognised(upload: Upload) -> Format | None:
    """Return the format that the content looks like; those of other packages are tried last."""
    try:
        found = next((item for item in FORMATS.values() if item.detects(upload)), None)
        return found or next((item for item in plugins().values() if item.detects(upload)), None)
    finally:
        for source in upload.sources:  # of many files, it would take much memory
            source.found.clear()


@cache
def plugins() -> Mapping[str, Format]:
    """Load the formats that other packages offer as entry points of ``beyondchance.formats``."""
    found: dict[str, Format] = {}
    for point in import_module("importlib.metadata").entry_points(group="beyondchance.formats"):
        try:
            item = point.load()
        except Exception as error:
            raise _broken(point, f"cannot be loaded ({type(error).__name__}: {error})") from error
        if not isinstance(item, Format):
            raise _broken(point, f"is {item!r}, and not a Format")
        if item.name in FORMATS or item.name in found:
            raise _broken(point, f"is called {item.name}, as another format is")
        found[item.name] = item
    return found


def _broken(point: Any, problem: str) -> DataError:
    return DataError(
        f"the format that {point.value} adds {problem}",
        remedy=f"mend or uninstall {point.dist.name if point.dist else 'it'}",
    )


def format_named(name: str) -> Format:
    """Return the format of a name."""
    if name in FORMATS:
        return FORMATS[name]
    known = {**FORMATS, **plugins()}
    return known[checked_option("format", name, known)]


def is_unknown(source: Source) -> bool:
    """Return whether a file is neither of some format nor a type system, which is no annotation."""
    upload = Upload(source.name, source.stem, [source])
    return not is_type_system(source) and recognised(upload) is None


class Reader(Protocol):
    """What the module of a format offers."""

    def is_format(self, upload: Upload, /) -> bool:
        """Return whether the content of an upload looks like this format."""

    def read(self, uploads: list[Upload], reading: Reading, /) -> Corpus | Iterable[Work]:
        """Read uploads that are all of this format.

        The work of annotators is put together with that in other formats by
        `beyondchance.io.assembling`.
        A reader that puts the annotators together in its own way returns a Corpus.
        """


def each_upload(
    read: Callable[[Upload, Reading], Iterable[W]],
) -> Callable[[list[Upload], Reading], Iterator[W]]:
    """Make the reading function of a format from one that reads a single upload."""

    @wraps(read)
    def read_all(uploads: list[Upload], reading: Reading) -> Iterator[W]:
        for upload in uploads:
            own: dict[str, None] = {}
            for draft in read(upload, reading):
                reading.met(upload.name, [draft.annotator])
                is_renamed = upload.is_named and not draft.is_gold
                if is_renamed:
                    own[draft.annotator] = None
                    is_renamed = draft.annotator != upload.annotator
                yield replace(draft, annotator=upload.annotator) if is_renamed else draft
            upload.check_named(own)

    return read_all


def by_files(
    quantifier: Callable[[Iterable[object]], bool], looks: Callable[[Source], object]
) -> Callable[[Upload], bool]:
    """Make the detection of a format from one of a single file.

    Parameters
    ----------
    quantifier : {any, all}
        How many files of a folder have to look like the format.
    looks : callable
        Whether a file does.
    """
    return lambda upload: upload.data is None and quantifier(map(looks, upload.sources))


EITHER = "sentence or document"
"""The unit of formats that may have sentences: these, if all documents have some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format that can be read.

    Attributes
    ----------
    name, title : str
    example : str
        One line that shows how to call it.
    unit, positions, offsets : str
        Its defaults: what a text is, what positions are, what the file's offsets count.
    options : frozenset of str
        The reading options that concern it.
    has_ends : bool
        Whether the ends of its spans may be inclusive.
    first : str
        The characters that its files of text can begin with; any if there are none.
    is_in_memory : bool
        Whether data in memory can be of it.
    is_alone : bool
        Whether its reader returns a Corpus, which files of other formats cannot join.
    library, extra : str, optional
        What must be installed, and the extra of this package that does it.
    module : str
        The module that reads it; by default one of `beyondchance.io.formats` with its name.
    """

    name: str
    title: str
    example: str
    unit: str = "document"
    positions: str = "tokens"
    offsets: str = "code points"
    options: frozenset[str] = EVERYWHERE
    has_ends: bool = False
    first: str = ""
    is_in_memory: bool = False
    is_alone: bool = False
    library: str | None = None
    extra: str | None = None
    module: str = ""

    def reader(self) -> Reader:
        """Import the module that reads it."""
        own = self.module or f"beyondchance.io.formats.{self.name.replace('-', '_')}"
        return cast("Reader", sys.modules.get(own) or import_module(own))

    def detects(self, upload: Upload) -> bool:
        """Return whether the content looks like this format."""
        # No need to import a reader of JSON for what does not begin with a brace.
        if upload.data is not None:
            is_possible = self.is_in_memory
        else:
            is_any = not self.first or upload.is_folder
            is_possible = is_any or upload.sources[0].beginning[:1] in self.first
        return is_possible and self.reader().is_format(upload)


_FITTING = "code points, or what fits the stored words"

# In the order in which they are tried: those that are easiest to recognise first.
_ALL = (
    Format(
        name="brat",
        title="brat standoff: one folder per annotator, .ann next to .txt",
        example="beyondchance agree anna/ ben/",
        options=CHARACTERS | {"discontinuous", "empty"},
    ),
    Format(
        name="spacy",
        title="spaCy DocBin: one .spacy file per annotator",
        is_in_memory=True,
        example="beyondchance agree anna.spacy ben.spacy",
        first="\0",  # never text
        options=CHARACTERS | {"layer"},
        library="spacy",
        extra="spacy",
    ),
    Format(
        name="refi-qda",
        title="REFI-QDA projects (NVivo, ATLAS.ti, MAXQDA, QualCoder): .qdpx or .qde",
        example="beyondchance agree project.qdpx",
        offsets="code points, or as the project shows",
        first="<",
        options=CHARACTERS,
    ),
    Format(
        name="uima",
        title="UIMA CAS: XMI, CAS JSON, or an INCEpTION project export",
        example="beyondchance agree project.zip",
        offsets="UTF-16 units",
        first="<{",
        options=CHARACTERS | {"layer", "feature"},
        library="cassis",
        extra="uima",
    ),
    Format(
        name="webanno-tsv",
        title="WebAnno TSV 3.x: one file or folder per annotator",
        example="beyondchance agree anna.tsv ben.tsv",
        unit="sentence",
        offsets="UTF-16 units",
        first="#",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="gate",
        title="GATE XML and bdocjs: annotation sets are annotators",
        example="beyondchance agree document.xml",
        offsets="code points, or as the file says (bdocjs)",
        first="<{",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="tei",
        title="TEI and other XML with inline elements: one file or folder per annotator",
        example="beyondchance agree anna.xml ben.xml",
        first="<",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="eaf",
        title="ELAN: tiers with times",
        example="beyondchance agree recording.eaf --grid 10ms",
        positions="frames",
        offsets="milliseconds",
        is_alone=True,
        first="<",
        options=EVERYWHERE | {"grid", "tier", "layer"},
    ),
    Format(
        name="textgrid",
        title="Praat TextGrid: interval tiers with times",
        example="beyondchance agree recording.TextGrid --grid 10ms",
        positions="frames",
        offsets="seconds",
        is_alone=True,
        first='Fo"',
        options=EVERYWHERE | {"grid", "tier", "layer"},
    ),
    Format(
        name="rttm",
        title="RTTM: who spoke when",
        example="beyondchance agree anna.rttm ben.rttm --grid 10ms",
        positions="frames",
        offsets="seconds",
        is_alone=True,
        first="SNLFEICA;",
        options=EVERYWHERE | {"grid"},
    ),
    Format(
        name="web-annotation",
        title="W3C Web Annotation (Recogito, Hypothesis): JSON, with the text next to it",
        example="beyondchance agree annotations.json --documents letter.txt",
        offsets="code points, or as the quotes show",
        first="[{",
        options=CHARACTERS | {"documents"},
    ),
    Format(
        name="bioc",
        title="BioC XML and JSON: all annotators in one file, or one file per annotator",
        example="beyondchance agree anna.xml ben.xml",
        offsets=_FITTING,
        first="<{[",
        options=CHARACTERS | {"discontinuous", "empty", "feature"},
    ),
    Format(
        name="knowtator",
        title="Knowtator (1, 2) and eHOST XML: saved/ next to corpus/, all annotators in one file",
        example="beyondchance agree project/",
        offsets=_FITTING,
        first="<",
        options=CHARACTERS | {"discontinuous", "documents", "empty"},
    ),
    Format(
        name="medtator",
        title="MedTator, MAE and n2c2 XML: one folder per annotator",
        example="beyondchance agree anna/ ben/",
        offsets=_FITTING,
        first="<",
        options=CHARACTERS | {"discontinuous", "feature"},
    ),
    Format(
        name="pubtator",
        title="PubTator: one file per annotator",
        example="beyondchance agree anna.pubtator ben.pubtator",
        offsets=_FITTING,
        options=CHARACTERS,
    ),
    Format(
        name="argilla",
        title="Argilla 2: records in JSON, or flattened in JSONL or Parquet",
        example="beyondchance agree records.json",
        offsets="UTF-16 units from its pages, code points from its library",
        first="[{P",
        options=CHARACTERS | {"predictions", "layer"},
    ),
    Format(
        name="langextract",
        title="LangExtract: JSONL of annotated documents, one file per run",
        example="beyondchance agree run-1.jsonl run-2.jsonl --match text",
        first="[{",
        options=CHARACTERS,
    ),
    Format(
        name="mqm",
        title="MQM: errors marked in translations, TSV of WMT, TSV and JSON of Bio-MQM",
        example="beyondchance agree mqm_generalMT2022_ende.tsv --feature severity",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="esa",
        title="ESA: error spans in translations, JSONL of pearmut and WMT, CSV of Appraise",
        example="beyondchance agree campaign.jsonl",
        offsets="UTF-16 units",
        options=CHARACTERS - {"offsets"} | {"feature", "documents"},
    ),
    Format(
        name="factgenie",
        title="factgenie: spans in generated texts, JSONL, with the JSONL of the outputs",
        example="beyondchance agree annotations.jsonl outputs.jsonl",
        first="{",
        options=CHARACTERS | {"documents"},
    ),
    Format(
        name="toxic-spans",
        title="toxic spans of SemEval-2021: CSV with texts and indices of characters",
        example="beyondchance agree anna.csv ben.csv",
        options=CHARACTERS,
    ),
    Format(
        name="label-studio",
        title="Label Studio: JSON, JSON-MIN, CSV and TSV, all annotators in one file",
        example="beyondchance agree export.json",
        unit=EITHER,
        first="[{",
        options=CHARACTERS | {"predictions"},
    ),
    Format(
        name="doccano",
        title="doccano: JSONL, or the zip with one JSONL per user",
        example="beyondchance agree project.zip",
        unit=EITHER,
        offsets="UTF-16 units",
        first="{",
        options=CHARACTERS | {"empty"},
    ),
    Format(
        name="prodigy",
        title="Prodigy: JSONL from db-out",
        example="beyondchance agree dataset.jsonl",
        unit=EITHER,
        first="{",
        options=CHARACTERS,
    ),
    Format(
        name="records",
        title="JSON, JSONL or Parquet of texts with spans: spaCy, GLiNER, LightTag, any keys",
        is_in_memory=True,
        example="beyondchance agree gold.jsonl model.jsonl",
        first="[{P",
        options=CHARACTERS | {"layer", "empty", "fields", "documents", "scheme", "repair"},
        has_ends=True,
    ),
    Format(
        name="quotes",
        title="quotes without offsets, as of language models: JSON or JSONL, one file per model",
        is_in_memory=True,
        example="beyondchance agree model.jsonl gold.jsonl",
        offsets="none",
        first="[{",
        options=CHARACTERS - {"offsets"} | {"near_quotes", "missing_quotes", "documents"},
    ),
    Format(
        name="conllu",
        title="CoNLL-U with entities in MISC, and CoNLL-2012 (OntoNotes)",
        example="beyondchance agree anna.conllu ben.conllu",
        unit="sentence",
        first="#0123456789",
        options=EVERYWHERE | {"unit", "positions", "scheme", "repair", "feature"},
    ),
    Format(
        name="hf",
        title="Hugging Face: tokens and tags in JSON, JSONL or Parquet, or a Dataset in memory",
        is_in_memory=True,
        example="beyondchance agree anna.parquet ben.parquet",
        unit="sentence",
        first="[{P",
        options=EVERYWHERE | {"unit", "positions", "scheme", "repair", "columns", "label_names"},
    ),
    Format(
        name="table",
        title="CSV, TSV, xlsx, JSONL, Parquet, data frames: document, annotator, start, end, label",
        unit=EITHER,
        is_in_memory=True,
        example="beyondchance agree spans.csv",
        is_alone=True,
        options=CHARACTERS | {"bad_rows", "columns", "documents", "empty", "length"},
        has_ends=True,
    ),
    Format(
        name="conll",
        title="columns of tokens and tags, blank lines between sentences",
        example="beyondchance agree anna.conll ben.conll",
        unit="sentence",
        options=EVERYWHERE | {"unit", "positions", "scheme", "repair", "columns"},
    ),
    Format(
        name="answers",
        title="answers of language models with quotes: batch files, JSON in prose or in a string",
        example="beyondchance agree gold.jsonl batch_output.jsonl",
        offsets="none",
        options=CHARACTERS - {"offsets"} | {"near_quotes", "missing_quotes", "documents"},
    ),
)

TAGS = Format(
    name="tags",
    title="lists of tags, one for each text",
    is_in_memory=True,
    example="bc.agreement(tags_of_one, tags_of_another)",
    unit="sentence",
    options=EVERYWHERE | {"unit", "scheme", "repair", "label_names", "documents"},
)
SPANS = Format(
    name="spans",
    title="lists of spans, one for each text",
    is_in_memory=True,
    example="bc.agreement(spans_of_one, spans_of_another, texts=texts)",
    options=CHARACTERS | {"documents"},
    has_ends=True,
)
KINDS: Mapping[str, Format] = {"tags": TAGS, "spans": SPANS}
"""Data in memory that no file holds as they are; all formats may also be given as data."""
FORMATS: Mapping[str, Format] = {item.name: item for item in _ALL}
