"""The same annotations in every format, as files that need not exist."""

from __future__ import annotations

import csv
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import cassis
import pyarrow as pa
import pyarrow.parquet as pq
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
CUSTOM = "webanno.custom.Name"


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@dataclass(frozen=True)
class Annotations:
    """Documents of sentences, whose words are one space apart, and spans that count words."""

    sentences: dict[str, list[str]]
    spans: dict[tuple[str, str], list[tuple[int, int, str]]]

    @property
    def texts(self) -> dict[str, str]:
        return {name: " ".join(sentences) for name, sentences in self.sentences.items()}

    @property
    def people(self) -> list[str]:
        return list(dict.fromkeys(person for _, person in self.spans))

    @property
    def first(self) -> str:
        return next(iter(self.sentences))

    def by(self, person: str) -> list[str]:
        """The documents that somebody annotated."""
        return [document for document in self.sentences if (document, person) in self.spans]

    def words(self, document: str) -> list[str]:
        return self.texts[document].split()

    def places(self, document: str, length: Callable[[str], int] = len) -> list[tuple[int, int]]:
        """Where each word begins and ends, in characters or UTF-16 units."""
        found, end = [], -1
        for word in self.words(document):
            start, end = end + 1, end + 1 + length(word)
            found.append((start, end))
        return found

    def marked(
        self, document: str, person: str, length: Callable[[str], int] = len
    ) -> Iterator[tuple[int, int, str, str]]:
        """Start, end, label and words of what somebody marked."""
        places, own = self.places(document, length), self.places(document)
        for first, last, label in self.spans[document, person]:
            surface = self.texts[document][own[first][0] : own[last - 1][1]]
            yield places[first][0], places[last - 1][1], label, surface

    def tagged(self, document: str, person: str) -> list[list[tuple[str, str]]]:
        """Sentences of words with their tags."""
        tags = ["O"] * len(self.words(document))
        for first, last, label in self.spans[document, person]:
            tags[first:last] = [f"B-{label}", *[f"I-{label}"] * (last - first - 1)]
        rest = iter(tags)
        return [[(word, next(rest)) for word in s.split()] for s in self.sentences[document]]


@dataclass(frozen=True)
class Example:
    """Files, what is given to `read` or a command, and the options that they are read with."""

    files: dict[str, bytes]
    given: list[str]
    options: dict[str, str] = field(default_factory=dict)

    def flags(self) -> list[str]:
        pairs = [(f"--{key}", value) for key, value in self.options.items()]
        return [part for pair in pairs for part in pair if part is not True]

    def saved(self, folder: Path) -> list[Path]:
        """Write the files; the paths to read."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return [folder / name for name in self.given]


def as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def lines(rows: Any) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def identifier(document: str) -> int | str:
    return int(document) if document.isdecimal() else document


def one_each(
    data: Annotations, ending: str, content_of: Callable[[str], str | bytes], **options: str
) -> Example:
    """One file for each annotator."""
    files = {f"{person}.{ending}": as_bytes(content_of(person)) for person in data.people}
    return Example(files, list(files), options)


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def as_csv(rows: Any, delimiter: str = ",") -> bytes:
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return made.getvalue().encode()


def workbook(**sheets: Any) -> bytes:
    """Write an Excel workbook; numbers are numbers, and None is an empty cell."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"

    def cell(value: Any, column: int, row: int) -> str:
        place = f'r="{chr(65 + column)}{row}"'
        if isinstance(value, int | float):
            return f"<c {place}><v>{value}</v></c>"
        text = f'<t xml:space="preserve">{escaped(str(value))}</t>'
        return "" if value is None else f'<c {place} t="inlineStr"><is>{text}</is></c>'

    listed, related, files = "", "", {}
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        target = f"worksheets/sheet{number}.xml"
        related += f'<Relationship Id="rId{number}" Type="{office}/worksheet" Target="{target}"/>'
        content = "".join(
            f'<row r="{i}">{"".join(cell(x, j, i) for j, x in enumerate(row))}</row>'
            for i, row in enumerate(rows, start=1)
        )
        files[f"xl/{target}"] = (
            f'<worksheet xmlns="{main}"><sheetData>{content}</sheetData></worksheet>'
        )
    files["xl/workbook.xml"] = (
        f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
    )
    root = f'<Relationship Id="r" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
    for name, content in (("_rels/.rels", root), ("xl/_rels/workbook.xml.rels", related)):
        files[name] = f'<Relationships xmlns="{package}">{content}</Relationships>'
    return zipped({name: content.encode() for name, content in files.items()})


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# --- Columns ------------------------------------------------------------------


def conll(data: Annotations) -> Example:
    def content(person: str) -> str:
        parts = []
        for document in data.by(person):
            parts.append(f"# newdoc id = {document}\n")
            for sentence in data.tagged(document, person):
                parts.append(f"# text = {' '.join(word for word, _ in sentence)}\n")
                parts += [f"{word}\t{tag}\n" for word, tag in sentence]
                parts.append("\n")
        return "".join(parts)

    return one_each(data, "conll", content)


def conll_plain(data: Annotations) -> Example:
    """With no comments but the names of documents."""
    files = {
        name: b"".join(row for row in content.splitlines(True) if not row.startswith(b"# text"))
        for name, content in conll(data).files.items()
    }
    return Example(files, list(files))


def conll_columns(data: Annotations) -> Example:
    """All annotators in one file, with a header and no names of documents."""
    rows = [" ".join(["token", *data.people])]
    for document in data.sentences:
        if all((document, person) in data.spans for person in data.people):
            sides = [data.tagged(document, person) for person in data.people]
            for sentences in zip(*sides, strict=True):
                for cells in zip(*sentences, strict=True):
                    rows += [" ".join([cells[0][0], *(tag for _, tag in cells)])]
                rows.append("")
    return Example({"all.txt": "\n".join(rows).encode()}, ["all.txt"])


def universal_ner(data: Annotations) -> Example:
    """Numbers of tokens in front, and columns without tags behind."""

    def content(person: str) -> str:
        parts = []
        for document in data.by(person):
            parts.append(f"# newdoc id = {document}\n")
            for number, sentence in enumerate(data.tagged(document, person), start=1):
                parts.append(f"# sent_id = {document}-{number}\n")
                for place, (word, tag) in enumerate(sentence, start=1):
                    parts.append(f"{place}\t{word}\t{tag}\t-\t{'-' if tag == 'O' else person}\n")
                parts.append("\n")
        return "".join(parts)

    return one_each(data, "iob2", content)


def _in_layers(tag: str) -> tuple[str, str]:
    """Persons in one layer, everything else in another."""
    return (tag, "O") if tag.endswith("PER") else ("O", tag)


def conll_layers(data: Annotations) -> Example:
    """The layers of one annotator in two columns, as GermEval has them."""
    files = {}
    for name, content in universal_ner(data).files.items():
        rows = [row.split("\t") for row in content.decode().split("\n")]
        cut = ["\t".join([*row[:2], *_in_layers(row[2])] if row[2:] else row) for row in rows]
        files[name.replace("iob2", "tsv")] = "\n".join(cut).encode()
    return Example(files, list(files), {"columns": "tag=3+4"})


def conll_table(data: Annotations) -> Example:
    """A long table of tokens; the sentence is named in its first row only."""
    rows: list[list[Any]] = [["Sentence #", "Word", *data.people]]
    for document in data.sentences:
        if all((document, person) in data.spans for person in data.people):
            sides = [data.tagged(document, person) for person in data.people]
            tokens = zip(*map(chain.from_iterable, sides), strict=True)
            rows += [["", cells[0][0], *(tag for _, tag in cells)] for cells in tokens]
            rows[-len(data.words(document))][0] = f"Sentence: {document}"
    return Example({"tokens.csv": as_csv(rows)}, ["tokens.csv"])


def _conllu(data: Annotations, misc_of: Callable[[list[str]], Any]) -> Example:
    """CoNLL-U whose last column follows from the tags of a sentence."""

    def content(person: str) -> str:
        parts = []
        for document in data.by(person):
            parts.append(f"# newdoc id = {document}\n")
            for sentence in data.tagged(document, person):
                words, tags = zip(*sentence, strict=True)
                parts.append(f"# text = {' '.join(words)}\n")
                for number, (word, misc) in enumerate(
                    zip(words, misc_of(list(tags)), strict=True), start=1
                ):
                    parts.append(f"{number}\t{word}\t{word}\tX\t_\t_\t0\tdep\t_\t{misc}\n")
                parts.append("\n")
        return "".join(parts)

    return one_each(data, "conllu", content)


def conllu(data: Annotations) -> Example:
    return _conllu(data, lambda tags: [f"NER={tag}" for tag in tags])


def conllu_brackets(data: Annotations) -> Example:
    def in_brackets(tags: list[str]) -> Iterator[str]:
        for tag, after in pairwise([*tags, "O"]):
            begins, ends = tag[0] == "B", tag != "O" and after[0] != "I"
            yield f"Entity={'(' * begins}{tag[2:]}{')' * ends}" if begins or ends else "_"

    return _conllu(data, in_brackets)


def conll_2012(data: Annotations) -> Example:
    """Entities in brackets in column 11; sentences differ in how many columns they have."""

    def content(person: str) -> str:
        parts = []
        for document in data.by(person):
            parts.append(f"#begin document ({document}); part 000\n")
            for n_predicates, sentence in enumerate(data.tagged(document, person)):
                tags = [tag for _, tag in sentence]
                for number, (word, _) in enumerate(sentence):
                    tag, after = tags[number], [*tags, "O"][number + 1]
                    begins, ends = tag[0] == "B", tag != "O" and after[0] != "I"
                    star = "" if begins and ends else "*"
                    entity = f"{f'({tag[2:]}' * begins}{star}{')' * ends}"
                    cells = [document, 0, number, word, "X", "*", "-", "-", "-", "-", entity]
                    rest = [*["*"] * n_predicates, "-"]
                    parts.append("   ".join(map(str, [*cells, *rest])) + "\n")
                parts.append("\n")
            parts.append("#end document\n")
        return "".join(parts)

    return one_each(data, "gold_conll", content)


def _webanno_tsv(data: Annotations, documents: list[str], person: str, layer: str) -> bytes:
    parts = [f"#FORMAT=WebAnno TSV 3.3\n#T_SP={layer}|value\n\n"]
    base = number = group = 0
    for document in documents:
        places = iter(data.places(document, utf16))
        for sentence in data.tagged(document, person):
            number += 1
            text = " ".join(word for word, _ in sentence)
            parts.append(f"\n#Text={text}\n".replace("\\", "\\\\"))
            for place, (word, tag) in enumerate(sentence, start=1):
                start, end = next(places)
                group += tag[0] == "B"
                value = "_" if tag == "O" else f"{tag[2:]}[{group}]"
                form = word.replace("\\", "\\\\")
                for special in "[]":
                    form = form.replace(special, f"\\{special}")
                cells = [f"{number}-{place}", f"{base + start}-{base + end}", form, value, ""]
                parts.append("\t".join(cells) + "\n")
        base += utf16(data.texts[document]) + 1
    return "".join(parts).encode()


def webanno_tsv(data: Annotations) -> Example:
    files = {
        f"{person}/{document}.tsv": _webanno_tsv(data, [document], person, ENTITY)
        for document, person in data.spans
    }
    return Example(files, data.people)


def webanno_tsv_file(data: Annotations) -> Example:
    """All documents as one, with a layer that is not built in."""
    return one_each(data, "tsv", lambda by: _webanno_tsv(data, data.by(by), by, CUSTOM))


def _hf_rows(data: Annotations, person: str) -> list[dict[str, Any]]:
    """An example for each document, with tags as strings."""
    rows = []
    for document in data.by(person):
        cells = [cell for sentence in data.tagged(document, person) for cell in sentence]
        rows.append(
            {
                "id": document,
                "tokens": [word for word, _ in cells],
                "ner_tags": [tag for _, tag in cells],
            }
        )
    return rows


def hf_jsonl(data: Annotations) -> Example:
    return one_each(data, "jsonl", lambda person: lines(_hf_rows(data, person)))


def hf_layers(data: Annotations) -> Example:
    """The layers of one annotator under two keys, as SkillSpan has them."""

    def content(person: str) -> bytes:
        rows = _hf_rows(data, person)
        for row in rows:
            pairs = map(_in_layers, row.pop("ner_tags"))
            row["tags_outer"], row["tags_inner"] = map(list, zip(*pairs, strict=True))
        return lines(rows)

    return one_each(data, "jsonl", content, columns="tag=tags_outer+tags_inner")


def hf_json(data: Annotations) -> Example:
    return one_each(data, "json", lambda person: json.dumps(_hf_rows(data, person)))


def hf_parquet(data: Annotations) -> Example:
    """Tags are numbers, whose names are in the schema."""

    def content(person: str) -> bytes:
        rows = _hf_rows(data, person)
        names = ["O", *sorted({tag for row in rows for tag in row["ner_tags"]} - {"O"})]
        for row in rows:
            row["ner_tags"] = [names.index(tag) for tag in row["ner_tags"]]
        kind = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
        info = json.dumps({"info": {"features": {"ner_tags": kind}}})
        return as_parquet(rows, {"huggingface": info})

    return one_each(data, "parquet", content)


# --- Tables -------------------------------------------------------------------


def table_rows(data: Annotations) -> Iterator[dict[str, Any]]:
    """A row for each span, and one without a span where nothing was found."""
    for document, person in data.spans:
        for start, end, label, _ in list(data.marked(document, person)) or [(None,) * 4]:
            yield {
                "document": document,
                "annotator": person,
                "start": start,
                "end": end,
                "label": label,
                "text": data.texts[document],
            }


def _separated(data: Annotations, ending: str, delimiter: str) -> Example:
    rows = list(table_rows(data))
    made = io.StringIO()
    writer = csv.DictWriter(made, rows[0], delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return Example({f"spans.{ending}": made.getvalue().encode()}, [f"spans.{ending}"])


def table_csv(data: Annotations) -> Example:
    return _separated(data, "csv", ",")


def table_tsv(data: Annotations) -> Example:
    return _separated(data, "tsv", "\t")


def table_jsonl(data: Annotations) -> Example:
    return Example({"spans.jsonl": lines(table_rows(data))}, ["spans.jsonl"])


def as_parquet(rows: list[dict[str, Any]], metadata: dict[str, str] | None = None) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def table_parquet(data: Annotations) -> Example:
    return Example({"spans.parquet": as_parquet(list(table_rows(data)))}, ["spans.parquet"])


def table_of_documents(data: Annotations) -> Example:
    """Texts in a second table."""
    rows = [{k: v for k, v in row.items() if k != "text"} for row in table_rows(data)]
    texts = [{"document": name, "text": text} for name, text in data.texts.items()]
    files = {"spans.jsonl": lines(rows), "texts.jsonl": lines(texts)}
    return Example(files, ["spans.jsonl"], {"documents": "texts.jsonl"})


def table_of_words(data: Annotations) -> Example:
    """A column text with the words of each span, and the texts of documents in a second table."""
    rows = [["document", "annotator", "start", "end", "label", "text"]]
    for document, person in data.spans:
        found = list(data.marked(document, person)) or [(None,) * 4]
        rows += [[document, person, *span] for span in found]
    texts = [["document", "text"], *data.texts.items()]
    files = {"spans.csv": as_csv(rows), "texts.csv": as_csv(texts)}
    return Example(files, ["spans.csv"], {"documents": "texts.csv"})


def table_xlsx(data: Annotations) -> Example:
    rows = list(table_rows(data))
    listed = [[*rows[0]], *([*row.values()] for row in rows)]
    return Example(
        {"spans.xlsx": workbook(Remarks=[["made by hand"]], Spans=listed)}, ["spans.xlsx"]
    )


def _wide(data: Annotations, cell: Callable[[str, str], str]) -> Example:
    """A row for each document, and a column for each annotator."""
    rows = [["id", "text", *data.people]]
    for document, text in data.texts.items():
        cells = [cell(document, x) if (document, x) in data.spans else "" for x in data.people]
        rows.append([document, text, *cells])
    return Example({"wide.csv": as_csv(rows)}, ["wide.csv"])


def records_wide(data: Annotations) -> Example:
    return _wide(data, lambda d, x: json.dumps([span[:3] for span in data.marked(d, x)]))


def hf_wide(data: Annotations) -> Example:
    return _wide(data, lambda d, x: " ".join(tag for s in data.tagged(d, x) for _, tag in s))


# --- Offsets ------------------------------------------------------------------


def brat(data: Annotations) -> Example:
    files = {}
    for document, person in data.spans:
        rows = [
            f"T{number}\t{label} {start} {end}\t{surface}\n"
            for number, (start, end, label, surface) in enumerate(
                data.marked(document, person), start=1
            )
        ]
        files[f"{person}/{document}.ann"] = "".join(rows).encode()
        files[f"{person}/{document}.txt"] = data.texts[document].encode()
    return Example(files, data.people)


def doccano(data: Annotations) -> Example:
    def content(person: str) -> bytes:
        return lines(
            {
                "id": identifier(document),
                "text": data.texts[document],
                "label": [[s, e, label] for s, e, label, _ in data.marked(document, person, utf16)],
                "Comments": [],
            }
            for document in data.by(person)
        )

    return one_each(data, "jsonl", content)


def doccano_zip(data: Annotations) -> Example:
    return Example({"project.zip": zipped(doccano(data).files)}, ["project.zip"])


def prodigy(data: Annotations) -> Example:
    tasks = []
    for document, person in data.spans:
        text = data.texts[document]
        tokens = [
            {"text": text[start:end], "start": start, "end": end, "id": index}
            for index, (start, end) in enumerate(data.places(document))
        ]
        spans = [
            {"start": start, "end": end, "label": label, "text": surface}
            for start, end, label, surface in data.marked(document, person)
        ]
        tasks.append(
            {
                "text": text,
                "tokens": tokens,
                "spans": spans,
                "_input_hash": identifier(document),
                "_annotator_id": person,
                "answer": "accept",
            }
        )
    return Example({"tasks.jsonl": lines(tasks)}, ["tasks.jsonl"])


def _argilla_spans(data: Annotations, document: str, person: str) -> list[dict[str, Any]]:
    return [
        {"label": label, "start": start, "end": end}
        for start, end, label, _ in data.marked(document, person)
    ]


def argilla(data: Annotations) -> Example:
    records = [
        {
            "id": document,
            "fields": {"text": text},
            "metadata": {},
            "suggestions": {},
            "responses": {
                "spans": [
                    {"value": _argilla_spans(data, document, person), "user_id": person}
                    for person in data.people
                    if (document, person) in data.spans
                ]
            },
            "vectors": {},
            "_server_id": None,
        }
        for document, text in data.texts.items()
    ]
    content = json.dumps(records).encode()
    return Example({"records.json": content}, ["records.json"], {"offsets": "codepoints"})


def argilla_flat(data: Annotations) -> Example:
    rows = []
    for document, text in data.texts.items():
        people = [person for person in data.people if (document, person) in data.spans]
        rows.append(
            {
                "id": document,
                "text": text,
                "spans.responses": [_argilla_spans(data, document, person) for person in people],
                "spans.responses.users": people,
                "spans.responses.status": ["submitted"] * len(people),
            }
        )
    return Example({"flat.jsonl": lines(rows)}, ["flat.jsonl"], {"offsets": "codepoints"})


def langextract(data: Annotations) -> Example:
    def content(person: str) -> bytes:
        return lines(
            {
                "extractions": [
                    {
                        "extraction_class": label,
                        "extraction_text": surface,
                        "char_interval": {"start_pos": start, "end_pos": end},
                        "alignment_status": "match_exact",
                    }
                    for start, end, label, surface in data.marked(document, person)
                ],
                "text": data.texts[document],
                "document_id": document,
            }
            for document in data.by(person)
        )

    return one_each(data, "jsonl", content)


def records(data: Annotations) -> Example:
    """One file for each annotator, in the shape of Hugging Face's pipelines."""

    def content(person: str) -> bytes:
        return lines(
            {
                "id": identifier(document),
                "text": data.texts[document],
                "entities": [
                    {"entity_group": label, "score": 0.5, "word": words, "start": s, "end": e}
                    for s, e, label, words in data.marked(document, person)
                ],
            }
            for document in data.by(person)
        )

    return one_each(data, "jsonl", content)


def records_of_all(data: Annotations) -> Example:
    """All annotators in one array, with other names for everything."""
    rows = [
        {
            "doc_id": document,
            "annotator": person,
            "full_text": data.texts[document],
            "spans": [
                {"entity_type": label, "entity_value": words, "offset": s, "length": e - s}
                for s, e, label, words in data.marked(document, person)
            ],
        }
        for document, person in data.spans
    ]
    return Example({"all.json": json.dumps({"data": rows}, indent=1).encode()}, ["all.json"])


def records_with_ends(data: Annotations) -> Example:
    """One file for each annotator, where the end of a span is its last character."""

    def content(person: str) -> bytes:
        rows = [
            {
                "id": identifier(document),
                "sentence": data.texts[document],
                "ents": [
                    {"label": [label], "name": words, "span": [s, e - 1]}
                    for s, e, label, words in data.marked(document, person)
                ],
            }
            for document in data.by(person)
        ]
        return json.dumps(rows).encode()

    return one_each(data, "json", content)


def records_of_pairs(data: Annotations) -> Example:
    """spaCy's pairs for training, named by their numbers."""

    def content(person: str) -> bytes:
        pairs = []
        for document, text in data.texts.items():
            spans = None
            if (document, person) in data.spans:
                spans = [span[:3] for span in data.marked(document, person)]
            pairs.append((text, {"entities": spans}))
        return json.dumps(pairs).encode()

    return one_each(data, "json", content)


def records_of_words(data: Annotations) -> Example:
    """GLiNER's data for training, whose spans count words and include the last."""

    def content(person: str) -> bytes:
        rows = [
            {
                "id": identifier(document),
                "tokenized_text": data.words(document),
                "ner": [[s, e - 1, label] for s, e, label in data.spans[document, person]],
            }
            for document in data.by(person)
        ]
        return json.dumps(rows).encode()

    return one_each(data, "json", content)


def records_by_fields(data: Annotations) -> Example:
    """Keys that nobody knows, in the words of the option that reads them."""

    def row(document: str, person: str) -> dict[str, Any]:
        marks = [
            {"at": [{"from": s, "upto": e - 1}], "names": [label]}
            for s, e, label, _ in data.marked(document, person)
        ]
        about = {"name": document, "who": {"login": person}}
        return {"about": about, "body": {"en": data.texts[document]}, "marks": marks}

    fields = "document=about.name,annotator=about.who.login,text=body.en,spans=marks"
    fields += ",start=at.0.from,end=at.0.upto,label=names.0,records=corpus.items"
    rows = [row(document, person) for document, person in data.spans]
    content = json.dumps({"corpus": {"items": rows}}).encode()
    return Example({"all.json": content}, ["all.json"], {"fields": fields, "offsets": "inclusive"})


def dataturks(data: Annotations) -> Example:
    def row(document: str, person: str) -> dict[str, Any]:
        marks = [
            {"label": [label], "points": [{"start": s, "end": e - 1, "text": surface}]}
            for s, e, label, surface in data.marked(document, person)
        ]
        return {"content": data.texts[document], "annotation": marks, "extras": None}

    return one_each(data, "json", lambda by: lines(row(name, by) for name in data.by(by)))


def lighttag(data: Annotations) -> Example:
    """All annotators in one file; a span that several marked is there once."""

    def example(document: str, text: str) -> dict[str, Any]:
        people = [person for person in data.people if (document, person) in data.spans]
        marked: dict[tuple[int, int, str, str], list[str]] = {}
        for person in people:
            for span in data.marked(document, person):
                marked.setdefault(span, []).append(person)
        annotations = [
            {
                "start": start,
                "end": end,
                "tag": label,
                "value": surface,
                "correct": None,
                "annotated_by": [{"annotator_id": 1, "annotator": name} for name in names],
            }
            for (start, end, label, surface), names in marked.items()
        ]
        return {
            "example_id": document,
            "content": text,
            "seen_by": [{"annotator_id": 1, "annotator": person} for person in people],
            "annotations": annotations,
            "classifications": [],
        }

    examples = [example(document, text) for document, text in data.texts.items()]
    content = json.dumps({"id": "5d1c", "examples": examples, "relations": []}).encode()
    return Example({"lighttag.json": content}, ["lighttag.json"])


def dygie(data: Annotations) -> Example:
    """Spans are with their sentences, and count the words of the document."""

    def row(document: str, person: str) -> dict[str, Any]:
        sentences = [sentence.split() for sentence in data.sentences[document]]
        bounds = pairwise(accumulate(map(len, sentences), initial=0))
        spans = data.spans[document, person]
        ner = [[[s, e - 1, x] for s, e, x in spans if low <= s < high] for low, high in bounds]
        return {"doc_key": document, "sentences": sentences, "ner": ner}

    return one_each(data, "jsonl", lambda by: lines(row(name, by) for name in data.by(by)))


def spert(data: Annotations) -> Example:
    def row(document: str, person: str) -> dict[str, Any]:
        entities = [
            {"type": label, "start": s, "end": e} for s, e, label in data.spans[document, person]
        ]
        words = data.words(document)
        return {"tokens": words, "entities": entities, "relations": [], "orig_id": document}

    return one_each(data, "json", lambda by: json.dumps([row(name, by) for name in data.by(by)]))


def spacy_2(data: Annotations) -> Example:
    """Training data with the tags of BILUO."""

    def row(document: str, person: str) -> dict[str, Any]:
        sentences = []
        for sentence in data.tagged(document, person):
            tags = [tag for _, tag in sentence]
            for place, (tag, after) in enumerate(pairwise([*tags, "O"])):
                if tag != "O" and after[0] != "I":
                    tags[place] = ("U" if tag[0] == "B" else "L") + tag[1:]
            tokens = [
                {"id": place, "orth": word, "ner": tag}
                for place, ((word, _), tag) in enumerate(zip(sentence, tags, strict=True))
            ]
            sentences.append({"tokens": tokens, "brackets": []})
        return {
            "id": document,
            "paragraphs": [{"raw": data.texts[document], "sentences": sentences}],
        }

    return one_each(data, "json", lambda by: json.dumps([row(name, by) for name in data.by(by)]))


def comprehend(data: Annotations) -> Example:
    """A text on each line of a file, which is given beside."""

    def row(line: int, document: str, person: str) -> dict[str, Any]:
        entities = [
            {"BeginOffset": s, "EndOffset": e, "Score": 0.9, "Text": surface, "Type": label}
            for s, e, label, surface in data.marked(document, person)
        ]
        return {"Entities": entities, "File": "texts.txt", "Line": line}

    numbers = {document: line for line, document in enumerate(data.sentences)}
    made = one_each(data, "jsonl", lambda by: lines(row(numbers[x], x, by) for x in data.by(by)))
    texts = "".join(f"{text}\n" for text in data.texts.values()).encode()
    return Example({**made.files, "texts.txt": texts}, made.given, {"documents": "texts.txt"})


def quotes(data: Annotations) -> Example:
    """Without offsets: from left to right, so that the i-th mention is the i-th occurrence."""

    def content(person: str) -> bytes:
        return lines(
            {
                "id": identifier(document),
                "text": data.texts[document],
                "entities": [
                    {"text": surface, "label": label}
                    for _, _, label, surface in data.marked(document, person)
                ],
            }
            for document in data.by(person)
        )

    return one_each(data, "jsonl", content)


def answers(data: Annotations) -> Example:
    """Quotes as a model gives them: JSON in a string, one record a line."""
    made = quotes(data)
    files = {}
    for name, content in made.files.items():
        rows = map(json.loads, content.splitlines())
        files[name] = lines({**row, "entities": json.dumps(row["entities"])} for row in rows)
    return Example(files, made.given)


def mqm(data: Annotations) -> Example:
    """An error in each row, between marks; a row without an error where nothing was found."""
    names = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category"]
    rows = [[*names, "severity"]]
    for document, person in data.spans:
        text = data.texts[document]
        begin = ["", "", "", document, person, ""]
        found = [
            [*begin, f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}", label, "Minor"]
            for start, end, label, _ in data.marked(document, person)
        ]
        rows += found or [[*begin, text, "No-error", "No-error"]]
    return Example({"mqm.tsv": "\n".join(map("\t".join, rows)).encode()}, ["mqm.tsv"])


def mqm_json(data: Annotations) -> Example:
    """Of Bio-MQM, which does not name documents: by their texts."""
    records = [
        {
            "source": "",
            "target": data.texts[document],
            "SEG_ID": document,
            "source_errors": [],
            "target_errors": [
                {"term": words, "startIndex": start, "endIndex": end - 1}
                | {"error_category": label, "severity": "Minor"}
                for start, end, label, words in data.marked(document, person)
            ],
            "Annotator_ID": person,
        }
        for document, person in data.spans
    ]
    return Example({"mqm.json": json.dumps(records).encode("utf-8-sig")}, ["mqm.json"])


def _errors(data: Annotations, document: str, person: str) -> list[dict[str, Any]]:
    return [
        {"start_i": start, "end_i": end - 1, "severity": label}
        for start, end, label, _ in data.marked(document, person, utf16)
    ]


def esa(data: Annotations) -> Example:
    """As pearmut stores it."""
    log = [
        {
            "user_id": person,
            "item_i": number,
            "item": [{"item_id": document, "tgt": {"": data.texts[document]}}],
            "annotation": [{"": {"score": 80, "error_spans": _errors(data, document, person)}}],
        }
        for number, (document, person) in enumerate(data.spans)
    ]
    return Example({"log.jsonl": lines(log)}, ["log.jsonl"])


def esa_wmt(data: Annotations) -> Example:
    segments = [
        {
            "doc_id": document,
            "tgt_text": {"": text},
            "scores": {
                "": [
                    {"annotator": person, "errors": _errors(data, document, person)}
                    for person in data.people
                    if (document, person) in data.spans
                ]
            },
        }
        for document, text in data.texts.items()
    ]
    return Example({"wmt.jsonl": lines(segments)}, ["wmt.jsonl"])


def esa_appraise(data: Annotations) -> Example:
    """The texts are in a second file."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    for document, person in data.spans:
        errors = json.dumps(_errors(data, document, person))
        writer.writerow([person, "", document, "TGT", "eng", "deu", "80", "", "False", errors])
    items = [
        {"targetID": "", "itemID": document, "documentID": "", "targetText": text}
        for document, text in data.texts.items()
    ]
    files = {
        "scores.csv": made.getvalue().encode(),
        "batches.json": json.dumps([{"items": items}]).encode(),
    }
    return Example(files, ["scores.csv"], {"documents": "batches.json"})


def factgenie(data: Annotations) -> Example:
    """The outputs are a second file; documents are named after data set, split and setup too."""

    def key(document: str) -> dict[str, str]:
        return {"dataset": "d", "split": "test", "example_idx": document, "setup_id": "one"}

    rows = [
        {
            **key(document),
            "annotations": [
                {"type": label, "text": words, "start": start}
                for start, _, label, words in data.marked(document, person)
            ],
            "annotator_group": person,
        }
        for document, person in data.spans
    ]
    texts = [{**key(document), "output": text} for document, text in data.texts.items()]
    files = {"annotations.jsonl": lines(rows), "outputs.jsonl": lines(texts)}
    return Example(files, list(files))


def _regions(data: Annotations, document: str, person: str) -> list[dict[str, Any]]:
    return [
        {"start": start, "end": end, "text": surface, "labels": [label]}
        for start, end, label, surface in data.marked(document, person)
    ]


def label_studio(data: Annotations) -> Example:
    tasks = []
    for document, text in data.texts.items():
        annotations = [
            {
                "id": index,
                "completed_by": {"username": person},
                "result": [
                    {
                        "id": f"r{number}",
                        "type": "labels",
                        "from_name": "label",
                        "to_name": "text",
                        "value": region,
                    }
                    for number, region in enumerate(_regions(data, document, person))
                ],
            }
            for index, person in enumerate(data.people)
            if (document, person) in data.spans
        ]
        tasks.append(
            {"id": identifier(document), "data": {"text": text}, "annotations": annotations}
        )
    return Example({"export.json": json.dumps(tasks).encode()}, ["export.json"])


def label_studio_min(data: Annotations) -> Example:
    tasks = [
        {
            "id": identifier(document),
            "annotator": person,
            "text": data.texts[document],
            "label": _regions(data, document, person),
        }
        for document, person in data.spans
    ]
    return Example({"export.json": json.dumps(tasks).encode()}, ["export.json"])


def label_studio_csv(data: Annotations) -> Example:
    tasks = json.loads(label_studio_min(data).files["export.json"])
    rows = [["annotation_id", "annotator", "id", "label", "lead_time", "text"]]
    for number, task in enumerate(tasks):
        label = json.dumps(task["label"], ensure_ascii=False) if task["label"] else ""
        rows.append([number, task["annotator"], task["id"], label, 1.5, task["text"]])
    return Example({"export.csv": as_csv(rows)}, ["export.csv"])


def label_studio_tsv(data: Annotations) -> Example:
    (content,) = label_studio_csv(data).files.values()
    rows = csv.reader(io.StringIO(content.decode()))
    return Example({"export.tsv": as_csv(rows, "\t")}, ["export.tsv"])


def spacy(data: Annotations) -> Example:
    def content(person: str) -> bytes:
        vocabulary = Vocab()
        docs = []
        for document in data.sentences:
            words = data.words(document)
            doc = Doc(vocabulary, words=words, spaces=[True] * (len(words) - 1) + [False])
            if (document, person) in data.spans:
                doc.ents = [Span(doc, *span) for span in data.spans[document, person]]
            docs.append(doc)
        return DocBin(docs=docs).to_bytes()

    return one_each(data, "spacy", content)


def _bdocjs(data: Annotations, document: str, offset_type: str) -> bytes:
    length = {"j": utf16, "p": len}[offset_type]
    sets = {
        person: {
            "name": person,
            "annotations": [
                {"type": label, "start": start, "end": end, "id": number, "features": {}}
                for number, (start, end, label, _) in enumerate(
                    data.marked(document, person, length)
                )
            ],
            "next_annid": 99,
        }
        for person in data.people
        if (document, person) in data.spans
    }
    text = data.texts[document]
    content = {"annotation_sets": sets, "text": text, "features": {}, "name": document}
    return json.dumps(content | {"offset_type": offset_type}).encode()


def gate_bdocjs(data: Annotations) -> Example:
    files = {f"gate/{document}.bdocjs": _bdocjs(data, document, "j") for document in data.sentences}
    return Example(files, ["gate"])


def gate_bdocjs_file(data: Annotations) -> Example:
    """The first document, with offsets that count code points."""
    return Example({"document.bdocjs": _bdocjs(data, data.first, "p")}, ["document.bdocjs"])


def gate_xml(data: Annotations) -> Example:
    """The first document."""
    document = data.first
    text = data.texts[document]
    places = sorted({place for pair in data.places(document) for place in pair})
    nodes = "".join(
        f'{escaped(text[start:end])}<Node id="{end}"/>' if start < end or not end else ""
        for start, end in zip([0, *places], [*places, len(text)], strict=True)
    )
    sets = "".join(
        f'<AnnotationSet Name="{person}">\n'
        + "".join(
            f'<Annotation Id="{number}" Type="{label}" StartNode="{start}" EndNode="{end}">'
            "</Annotation>\n"
            for number, (start, end, label, _) in enumerate(data.marked(document, person))
        )
        + "</AnnotationSet>\n"
        for person in data.people
    )
    content = (
        "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument version=\"3\">\n"
        f"<GateDocumentFeatures/>\n<TextWithNodes>{nodes}</TextWithNodes>\n{sets}</GateDocument>\n"
    )
    return Example({"document.xml": content.encode()}, ["document.xml"])


def _cas(data: Annotations, document: str, person: str, layer: str) -> Any:
    system = cassis.TypeSystem()
    kind = system.create_type(layer)
    system.create_feature(kind, "value", "uima.cas.String")
    cas = cassis.Cas(system)
    cas.sofa_string = data.texts[document]
    cas.sofa_mime = "text/plain"
    for start, end, label, _ in data.marked(document, person):
        cas.add(kind(begin=start, end=end, value=label))
    return cas


def _cas_json(cas: Any) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_bytes(cas.to_json())


def uima_json(data: Annotations) -> Example:
    files = {
        f"{person}/{document}.json": _cas_json(_cas(data, document, person, ENTITY))
        for document, person in data.spans
    }
    return Example(files, data.people)


def uima_json_file(data: Annotations) -> Example:
    """The first document, with a layer that is not built in."""
    return one_each(data, "json", lambda by: _cas_json(_cas(data, data.first, by, CUSTOM)))


def uima_xmi(data: Annotations) -> Example:
    """The first document, with a layer that is not built in, and the types."""
    made = {person: _cas(data, data.first, person, CUSTOM) for person in data.people}
    example = one_each(data, "xmi", lambda person: made[person].to_xmi())
    types = made[data.people[0]].typesystem.to_xml().encode()
    return Example({**example.files, "TypeSystem.xml": types}, example.given)


# --- Markup and selections ----------------------------------------------------


def _inline(data: Annotations, document: str, person: str, element: str, key: str) -> str:
    """The text with elements around what somebody marked, which may not overlap."""
    text, parts, last = data.texts[document], [], 0
    for start, end, label, surface in data.marked(document, person):
        parts.append(escaped(text[last:start]))
        parts.append(f'<{element} {key}="{label}">{escaped(surface)}</{element}>')
        last = end
    return "".join(parts) + escaped(text[last:])


def tei(data: Annotations) -> Example:
    """The elements of MUC, whose types are labels."""
    files = {
        f"{person}/{document}.xml": (
            f"<DOC>\n<TEXT>{_inline(data, document, person, 'ENAMEX', 'TYPE')}</TEXT>\n</DOC>\n"
        ).encode()
        for document, person in data.spans
    }
    return Example(files, data.people)


def tei_names(data: Annotations) -> Example:
    """The first document as TEI, with the attribute that holds the label."""

    def content(person: str) -> str:
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n'
            "<teiHeader/>\n<text><body>\n"
            f"  <p>{_inline(data, data.first, person, 'rs', 'type')}</p>\n</body></text>\n</TEI>\n"
        )

    return one_each(data, "xml", content, feature="type")


def refi_qda(data: Annotations) -> Example:
    """The first document: a project does not say who found nothing."""
    document = data.first
    labels = dict.fromkeys(label for spans in data.spans.values() for _, _, label in spans)
    users = "".join(f'<User guid="user-{who}" name="{who}"/>\n' for who in data.people)
    codes = "".join(f'<Code guid="code-{x}" name="{x}" isCodable="true"/>\n' for x in labels)
    selections = "".join(
        f'<PlainTextSelection guid="{who}-{start}" name={quoteattr(surface)} '
        f'startPosition="{start}" endPosition="{end}">\n'
        f'<Coding guid="c-{who}-{start}" creatingUser="user-{who}">'
        f'<CodeRef targetGUID="code-{label}"/></Coding>\n</PlainTextSelection>\n'
        for who in data.people
        for start, end, label, surface in data.marked(document, who)
    )
    project = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<Project xmlns="urn:QDA-XML:project:1.0" name="p" origin="us">\n'
        f"<Users>\n{users}</Users>\n<CodeBook><Codes>\n{codes}</Codes></CodeBook>\n<Sources>\n"
        f'<TextSource guid="t-1" name="{document}" plainTextPath="internal://t-1.txt">\n'
        f"{selections}</TextSource>\n</Sources>\n</Project>\n"
    )
    files = {"project.qde": project.encode(), "sources/t-1.txt": data.texts[document].encode()}
    return Example({"project.zip": zipped(files)}, ["project.zip"])


def web_annotation(data: Annotations) -> Example:
    """The first document: annotations do not say who found nothing."""
    annotations = [
        {
            "@context": "http://www.w3.org/ns/anno.jsonld",
            "type": "Annotation",
            "creator": {"id": f"https://example.org/{who}", "name": who},
            "body": [{"type": "TextualBody", "purpose": "tagging", "value": label}],
            "target": {
                "source": data.first,
                "selector": [
                    {"type": "TextQuoteSelector", "exact": surface},
                    {"type": "TextPositionSelector", "start": start, "end": end},
                ],
            },
        }
        for who in data.people
        for start, end, label, surface in data.marked(data.first, who)
    ]
    files = {
        "annotations.json": json.dumps(annotations).encode(),
        f"{data.first}.txt": data.texts[data.first].encode(),
    }
    return Example(files, ["annotations.json"])


# --- Biomedical ---------------------------------------------------------------


def _bioc(data: Annotations, person: str, length: Callable[[str], int]) -> list[dict[str, Any]]:
    """The documents of an annotator, with a passage for each sentence."""
    documents = []
    for document in data.by(person):
        passages: list[dict[str, Any]] = []
        offset = 0
        for sentence in data.sentences[document]:
            passages.append({"offset": offset, "infons": {"type": "x"}, "text": sentence})
            offset += length(sentence) + 1
        passages[0]["annotations"] = [
            {
                "id": str(number),
                "infons": {"type": label},
                "text": surface,
                "locations": [{"offset": start, "length": end - start}],
            }
            for number, (start, end, label, surface) in enumerate(
                data.marked(document, person, length)
            )
        ]
        documents.append({"id": document, "passages": passages})
    return documents


def bioc_json(data: Annotations) -> Example:
    def content(person: str) -> str:
        return json.dumps({"source": "x", "infons": {}, "documents": _bioc(data, person, len)})

    return one_each(data, "json", content)


def bioc_lines(data: Annotations) -> Example:
    """A document a line, with offsets that count UTF-16 units."""
    return one_each(data, "jsonl", lambda person: lines(_bioc(data, person, utf16)))


def bioc_xml(data: Annotations) -> Example:
    """As the specification has it: with its document type, and offsets that count bytes."""

    def annotation(one: dict[str, Any]) -> str:
        place = one["locations"][0]
        return (
            f'<annotation id="{one["id"]}"><infon key="type">{one["infons"]["type"]}</infon>'
            f'<location offset="{place["offset"]}" length="{place["length"]}"/>'
            f"<text>{escaped(one['text'])}</text></annotation>\n"
        )

    def passage(one: dict[str, Any]) -> str:
        marked = "".join(map(annotation, one.get("annotations", ())))
        text = escaped(one["text"])
        return f"<passage><offset>{one['offset']}</offset><text>{text}</text>{marked}</passage>\n"

    def content(person: str) -> str:
        documents = "".join(
            f"<document><id>{one['id']}</id>{''.join(map(passage, one['passages']))}</document>\n"
            for one in _bioc(data, person, lambda text: len(text.encode()))
        )
        return (
            "<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE collection SYSTEM 'BioC.dtd'>\n"
            "<collection><source>x</source><date/><key>x.key</key>\n"
            f"{documents}</collection>\n"
        )

    return one_each(data, "xml", content)


def pubtator(data: Annotations) -> Example:
    """The first word is the title, with a blank at its end that no offset counts."""

    def content(person: str) -> str:
        rows = []
        for document in data.by(person):
            title, _, abstract = data.texts[document].partition(" ")
            rows += [f"{document}|t|{title} ", f"{document}|a|{abstract}"]
            for start, end, label, surface in data.marked(document, person):
                rows.append(f"{document}\t{start}\t{end}\t{surface}\t{label}\tMESH:D1")
            rows.append("")
        return "\n".join(rows)

    return one_each(data, "pubtator", content)


def _tags(data: Annotations, place: Callable[[int, int], str]) -> Example:
    """A file for each document and annotator, in which elements are named by labels."""
    files = {}
    for document, person in data.spans:
        tags = "".join(
            f'<{label} id="{label[0]}{number}" {place(start, end)} text={quoteattr(surface)}/>\n'
            for number, (start, end, label, surface) in enumerate(data.marked(document, person))
        )
        files[f"{person}/{document}.xml"] = (
            f'<?xml version="1.0" encoding="UTF-8" ?>\n<SCHEMA>\n<TEXT><![CDATA['
            f"{data.texts[document]}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</SCHEMA>\n"
        ).encode()
    return Example(files, data.people)


def medtator(data: Annotations) -> Example:
    return _tags(data, lambda start, end: f'spans="{start}~{end}"')


def medtator_n2c2(data: Annotations) -> Example:
    return _tags(data, lambda start, end: f'start="{start}" end="{end}"')


def knowtator(data: Annotations) -> Example:
    """A project of eHOST for each annotator."""
    files = {}
    for document, person in data.spans:
        parts = [
            f'<annotation><mention id="m{number}"/><annotator id="a">{person}</annotator>'
            f'<span start="{start}" end="{end}"/><spannedText>{escaped(surface)}</spannedText>'
            f'</annotation>\n<classMention id="m{number}"><mentionClass id="{label}">'
            f"{escaped(surface)}</mentionClass></classMention>\n"
            for number, (start, end, label, surface) in enumerate(data.marked(document, person))
        ]
        files[f"{person}/corpus/{document}.txt"] = data.texts[document].encode()
        files[f"{person}/saved/{document}.txt.knowtator.xml"] = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<annotations textSource="{document}.txt">\n'
            f"{''.join(parts)}</annotations>\n"
        ).encode()
    return Example(files, data.people)


def knowtator_2(data: Annotations) -> Example:
    """A project of Knowtator 2 for each annotator, with all documents in one file."""
    files, documents = {}, dict.fromkeys(data.people, "")
    for document, person in data.spans:
        marked = enumerate(data.marked(document, person))
        parts = [
            f'<annotation annotator="{person}" id="{document}-{number}" type="identity">'
            f'<class id="{label}"/><span end="{end}" id="s{number}" start="{start}">'
            f"{escaped(surface)}</span></annotation>\n"
            for number, (start, end, label, surface) in marked
        ]
        documents[person] += (
            f'<document id="{document}" text-file="{document}.txt">\n{"".join(parts)}</document>\n'
        )
        files[f"{person}/Articles/{document}.txt"] = data.texts[document].encode()
    for person, content in documents.items():
        files[f"{person}/Annotations/all.xml"] = (
            '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
            f"<knowtator-project>\n{content}</knowtator-project>\n"
        ).encode()
    return Example(files, data.people)


# --- Times --------------------------------------------------------------------


def eaf(data: Annotations) -> Example:
    """Of the first document: tiers are labels, and what is written in them are the words."""
    labels = dict.fromkeys(label for spans in data.spans.values() for _, _, label in spans)

    def content(person: str) -> str:
        slots: list[str] = []
        tiers: dict[str, list[str]] = {label: [] for label in labels}
        for number, (start, end, label, surface) in enumerate(data.marked(data.first, person)):
            for time in (start, end):
                slot = f"t{number}{'ab'[time == end]}"
                slots.append(f'<TIME_SLOT TIME_SLOT_ID="{slot}" TIME_VALUE="{time * 100}"/>\n')
            tiers[label].append(
                f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number}" '
                f'TIME_SLOT_REF1="t{number}a" TIME_SLOT_REF2="t{number}b">\n'
                f"<ANNOTATION_VALUE>{escaped(surface)}</ANNOTATION_VALUE>\n"
                "</ALIGNABLE_ANNOTATION></ANNOTATION>\n"
            )
        listed = "".join(
            f'<TIER LINGUISTIC_TYPE_REF="t" TIER_ID="{label}">\n{"".join(found)}</TIER>\n'
            for label, found in tiers.items()
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<ANNOTATION_DOCUMENT AUTHOR="" DATE="" FORMAT="3.0" VERSION="3.0" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n'
            '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>\n'
            f"<TIME_ORDER>\n{''.join(slots)}</TIME_ORDER>\n{listed}</ANNOTATION_DOCUMENT>\n"
        )

    return one_each(data, "eaf", content, grid="100ms", tier="label")


def textgrid(data: Annotations) -> Example:
    """Of the first document: tiers are labels, and what is written in them are the words."""
    labels = dict.fromkeys(label for spans in data.spans.values() for _, _, label in spans)
    last = len(data.texts[data.first])

    def content(person: str) -> str:
        parts = ['File type = "ooTextFile"\nObject class = "TextGrid"\n\n']
        parts.append(f"0\n{last}\n<exists>\n{len(labels)}\n")
        for tier in labels:
            found = [span for span in data.marked(data.first, person) if span[2] == tier]
            parts.append(f'"IntervalTier"\n"{tier}"\n0\n{last}\n{len(found)}\n')
            for start, end, _, surface in found:
                quoted = surface.replace('"', '""')
                parts.append(f'{start}\n{end}\n"{quoted}"\n')
        return "".join(parts)

    return one_each(data, "TextGrid", content, grid="1s", tier="label")


FORMATS: dict[str, list[Callable[[Annotations], Example]]] = {
    "conll": [conll, conll_plain, conll_columns, universal_ner, conll_layers, conll_table],
    "conllu": [conllu, conllu_brackets, conll_2012],
    "hf": [hf_jsonl, hf_layers, hf_json, hf_parquet, hf_wide],
    "table": [
        *(table_csv, table_tsv, table_jsonl, table_parquet, table_of_documents, table_of_words),
        table_xlsx,
    ],
    "brat": [brat],
    "doccano": [doccano, doccano_zip],
    "prodigy": [prodigy],
    "records": [
        *(records, records_of_all, records_with_ends, records_of_pairs, records_of_words),
        records_wide,
        *(records_by_fields, dataturks, lighttag, dygie, spert, spacy_2, comprehend),
    ],
    "argilla": [argilla, argilla_flat],
    "langextract": [langextract],
    "mqm": [mqm, mqm_json],
    "esa": [esa, esa_wmt, esa_appraise],
    "factgenie": [factgenie],
    "label-studio": [label_studio, label_studio_min, label_studio_csv, label_studio_tsv],
    "quotes": [quotes],
    "answers": [answers],
    "webanno-tsv": [webanno_tsv, webanno_tsv_file],
    "spacy": [spacy],
    "gate": [gate_bdocjs, gate_bdocjs_file, gate_xml],
    "tei": [tei, tei_names],
    "refi-qda": [refi_qda],
    "web-annotation": [web_annotation],
    "uima": [uima_json, uima_json_file, uima_xmi],
    "bioc": [bioc_json, bioc_lines, bioc_xml],
    "pubtator": [pubtator],
    "medtator": [medtator, medtator_n2c2],
    "knowtator": [knowtator, knowtator_2],
    "eaf": [eaf],
    "textgrid": [textgrid],
}
"""Builders of each format by the name that it has in the registry."""
EXAMPLES = {one.__name__: one for variants in FORMATS.values() for one in variants}
_LOSING_DOCUMENTS = (
    conll_columns,
    conll_table,
    mqm_json,
    factgenie,
    comprehend,
    webanno_tsv_file,
    gate_bdocjs_file,
    gate_xml,
    tei_names,
    refi_qda,
    web_annotation,
    uima_json_file,
    uima_xmi,
    eaf,
    textgrid,
)
WITH_ALL_DOCUMENTS = {
    one.__name__: name
    for name, variants in FORMATS.items()
    for one in variants
    if one not in _LOSING_DOCUMENTS
}
"""The format of each builder that keeps every document and its name."""
