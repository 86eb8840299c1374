"""Every format there is: what it is, how it is told, what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any

from beyondchance.errors import MissingLibraryError
from beyondchance.io.drafts import Draft
from beyondchance.io.options import CHARACTERS, EVERYWHERE, Reading
from beyondchance.io.sources import Source


@dataclass(frozen=True, eq=False)
class Upload:
    """What was given for one path: a file, or the files of a folder.

    Attributes
    ----------
    name : str
        The path as given.
    annotator : str
        Who it is by, unless the file itself says so.
    sources : list of Source
    is_folder : bool
    data : object, optional
        What was given instead of a path.
    """

    name: str
    annotator: str
    sources: list[Source]
    is_folder: bool = False
    data: Any = None

    def document_of(self, source: Source) -> str:
        """The document that a file holds, unless the file itself says so.

        In a folder its name below the folder, without the ending. A file given by
        itself is by one annotator of one document, which has no name: ``1``.
        """
        if not self.is_folder:
            return "1"
        path, folder = (PurePosixPath(name.replace("\\", "/")) for name in (source.name, self.name))
        inside = path.relative_to(folder) if path.is_relative_to(folder) else path
        return str(inside.with_suffix(""))


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
    first : str
        The characters that its files of text can begin with; any if there are none.
    library, extra : str, optional
        What must be installed, and the extra of this package that does it.
    """

    name: str
    title: str
    example: str
    unit: str
    positions: str
    offsets: str = "code points"
    options: frozenset[str] = field(default=EVERYWHERE)
    first: str = ""
    library: str | None = None
    extra: str | None = None

    def module(self) -> ModuleType:
        """The module that reads it: ``is_format(source)`` and ``drafts(upload, reading)``."""
        return import_module(f"beyondchance.io.formats.{self.name.replace('-', '_')}")

    def detects(self, upload: Upload) -> bool:
        """Whether the content looks like this format."""
        if self.first and upload.data is None and not upload.is_folder:
            # No need to import a reader of JSON for what does not begin with a brace.
            beginning = upload.sources[0].head_text.lstrip()
            if beginning and beginning[0] not in self.first:
                return False
        return bool(self.module().is_format(upload))

    def drafts(self, upload: Upload, reading: Reading) -> Iterable[Draft]:
        """Read one upload."""
        read: Callable[[Upload, Reading], Iterable[Draft]] = self.module().drafts
        return read(upload, reading)


def required(library: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a library that is only needed here, with a hint if it is missing."""
    try:
        return import_module(library)
    except ImportError as error:
        raise MissingLibraryError(
            f"{purpose} needs the library {library} ({error}); install it with: "
            f"pip install 'beyondchance[{extra}]'"
        ) from None


# In the order in which they are tried: the most telling first.
_ALL = (
    Format(
        name="brat",
        title="brat standoff: one folder per annotator, .ann beside .txt",
        example="beyondchance agree anna/ ben/",
        unit="document",
        positions="characters",
        options=CHARACTERS | {"discontinuous", "empty"},
    ),
    Format(
        name="spacy",
        title="spaCy DocBin: one .spacy file per annotator",
        example="beyondchance agree anna.spacy ben.spacy",
        unit="document",
        positions="tokens",
        first="\0",  # never text
        options=CHARACTERS | {"spans_key"},
        library="spacy",
        extra="spacy",
    ),
    Format(
        name="uima",
        title="UIMA CAS: XMI, CAS JSON, or an INCEpTION project export",
        example="beyondchance agree project.zip",
        unit="document",
        positions="characters",
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
        positions="tokens",
        offsets="UTF-16 units",
        first="#",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="gate",
        title="GATE XML and bdocjs: annotation sets are annotators",
        example="beyondchance agree document.xml",
        unit="document",
        positions="characters",
        offsets="code points, or as the file says (bdocjs)",
        first="<{",
        options=CHARACTERS | {"layer", "feature"},
    ),
    Format(
        name="eaf",
        title="ELAN: tiers with times",
        example="beyondchance agree recording.eaf --grid 10ms",
        unit="document",
        positions="frames",
        offsets="milliseconds",
        first="<",
        options=EVERYWHERE | {"grid", "tier", "layer"},
    ),
    Format(
        name="textgrid",
        title="Praat TextGrid: interval tiers with times",
        example="beyondchance agree recording.TextGrid --grid 10ms",
        unit="document",
        positions="frames",
        offsets="seconds",
        first='Fo"',
        options=EVERYWHERE | {"grid", "tier", "layer"},
        library="praatio",
        extra="textgrid",
    ),
    Format(
        name="rttm",
        title="RTTM: who spoke when",
        example="beyondchance agree anna.rttm ben.rttm --grid 10ms",
        unit="document",
        positions="frames",
        offsets="seconds",
        first="SNLFEICA;",
        options=EVERYWHERE | {"grid"},
    ),
    Format(
        name="label-studio",
        title="Label Studio: JSON and JSON-MIN, everybody in one file",
        example="beyondchance agree export.json",
        unit="document",
        positions="characters",
        first="[{",
        options=CHARACTERS | {"predictions"},
    ),
    Format(
        name="doccano",
        title="doccano: JSONL, or the zip with one JSONL per user",
        example="beyondchance agree project.zip",
        unit="document",
        positions="characters",
        offsets="UTF-16 units",
        first="{",
        options=CHARACTERS | {"empty"},
    ),
    Format(
        name="prodigy",
        title="Prodigy: JSONL from db-out",
        example="beyondchance agree dataset.jsonl",
        unit="document",
        positions="characters",
        first="{",
        options=CHARACTERS,
    ),
    Format(
        name="conllu",
        title="CoNLL-U with entities in MISC",
        example="beyondchance agree anna.conllu ben.conllu",
        unit="sentence",
        positions="tokens",
        first="#0123456789",
        options=EVERYWHERE | {"unit", "positions", "scheme", "repair", "feature"},
        library="conllu",
        extra="conllu",
    ),
    Format(
        name="table",
        title="CSV, TSV, JSONL or Parquet with document, annotator, start, end, label",
        example="beyondchance agree spans.csv",
        unit="document",
        positions="characters",
        options=CHARACTERS | {"documents", "empty", "length"},
    ),
    Format(
        name="conll",
        title="columns of tokens and tags, blank lines between sentences",
        example="beyondchance agree anna.conll ben.conll",
        unit="sentence",
        positions="tokens",
        options=EVERYWHERE
        | {"unit", "positions", "scheme", "repair", "token_column", "tag_column"},
    ),
    Format(
        name="hf",
        title="Hugging Face datasets, or any list of dictionaries with tokens and ner_tags",
        example='bc.read(dataset_a, dataset_b, format="hf")',
        unit="sentence",
        positions="tokens",
        options=EVERYWHERE | {"positions", "scheme", "repair"},
    ),
)

FORMATS: Mapping[str, Format] = {item.name: item for item in _ALL}
