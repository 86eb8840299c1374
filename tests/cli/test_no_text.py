"""Under ``--no-text`` nothing of the annotated text is shown, whatever the files hold.

Every word of every text holds the mark, and no label, annotator or document does. So the
mark on a stream is text that got out, unless damage has made a name of it: a word that
stands where a label belongs is a label.
"""

import csv
import io
import json
import random
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from itertools import pairwise

import cassis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import srsly
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from mutation import places, replaced

MARK = "Zqx"
# Quotes and brackets, open and closed, for a message may put such around a word.
SENTENCES = {
    "doc1": ['Zqx01 Zqx02\'s "Zqx03" (Zqx04 Zqx05', "Zqx06) Zqx07\" Zqx08' Zqx09\\ Zqx10"],
    "doc2": ["Zqx11 Zqx12 Zqx13 Zqx14", "[Zqx15] Zqx16 {Zqx17} <Zqx18> Zqx19😀"],
}
TEXTS = {name: " ".join(found) for name, found in SENTENCES.items()}
# Counted in words.
SPANS = {
    ("doc1", "ada"): [(0, 2, "PER"), (4, 5, "LOC"), (6, 8, "PER")],
    ("doc1", "ben"): [(1, 2, "PER"), (4, 5, "LOC")],
    ("doc2", "ada"): [(0, 1, "LOC"), (5, 8, "PER")],
    ("doc2", "ben"): [(0, 1, "PER"), (6, 8, "PER")],
}
PEOPLE = ("ada", "ben")


# --- The same annotations in every format -------------------------------------


@dataclass(frozen=True)
class Example:
    """Files, what is given to a command, and the options that they are read with."""

    files: dict[str, bytes]
    given: list[str]
    options: dict[str, str] = field(default_factory=dict)

    def flags(self):
        return [part for key, value in self.options.items() for part in (f"--{key}", value)]


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


def offsets(document, length=len):
    """Where each word begins and ends."""
    found, end = [], -1
    for word in TEXTS[document].split():
        start, end = end + 1, end + 1 + length(word)
        found.append((start, end))
    return found


def marked(document, person, length=len):
    """Start, end, label and words of what somebody marked."""
    words = offsets(document, length)
    text = offsets(document)
    for first, last, label in SPANS[document, person]:
        surface = TEXTS[document][text[first][0] : text[last - 1][1]]
        yield words[first][0], words[last - 1][1], label, surface


def tagged(document, person):
    """Sentences of words with their tags."""
    tags = ["O"] * len(TEXTS[document].split())
    for first, last, label in SPANS[document, person]:
        tags[first:last] = [f"B-{label}", *[f"I-{label}"] * (last - first - 1)]
    rest = iter(tags)
    return [[(word, next(rest)) for word in s.split()] for s in SENTENCES[document]]


def as_bytes(content):
    return content.encode() if isinstance(content, str) else content


def lines(rows):
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def one_each(ending, content_of, **options):
    """One file for each annotator."""
    made = {f"{person}.{ending}": content_of(person) for person in PEOPLE}
    files = {name: as_bytes(content) for name, content in made.items()}
    return Example(files, list(files), options)


def conll():
    def content(person):
        parts = []
        for document in TEXTS:
            parts.append(f"# newdoc id = {document}\n")
            for sentence in tagged(document, person):
                parts.append(f"# text = {' '.join(word for word, _ in sentence)}\n")
                parts += [f"{word}\t{tag}\n" for word, tag in sentence]
                parts.append("\n")
        return "".join(parts)

    return one_each("conll", content)


def conll_columns():
    """Everybody in one file, with a header and no names of documents."""
    rows = ["token ada ben"]
    for document in TEXTS:
        for one, other in zip(*(tagged(document, person) for person in PEOPLE), strict=True):
            rows += [f"{word} {a} {b}" for (word, a), (_, b) in zip(one, other, strict=True)]
            rows.append("")
    return Example({"all.txt": "\n".join(rows).encode()}, ["all.txt"])


def conllu_by(person, misc_of):
    """CoNLL-U whose last column follows from the tags of a sentence."""
    parts = []
    for document in TEXTS:
        parts.append(f"# newdoc id = {document}\n")
        for sentence in tagged(document, person):
            words, tags = zip(*sentence, strict=True)
            parts.append(f"# text = {' '.join(words)}\n")
            for number, (word, misc) in enumerate(zip(words, misc_of(tags), strict=True), start=1):
                parts.append(f"{number}\t{word}\t{word}\tX\t_\t_\t0\tdep\t_\t{misc}\n")
            parts.append("\n")
    return "".join(parts)


def conllu():
    return one_each("conllu", lambda person: conllu_by(person, in_tags))


def in_tags(tags):
    return [f"NER={tag}" for tag in tags]


def conllu_brackets():
    return one_each("conllu", lambda person: conllu_by(person, in_brackets))


def in_brackets(tags):
    for tag, after in pairwise([*tags, "O"]):
        begins, ends = tag[0] == "B", tag != "O" and after[0] != "I"
        yield f"Entity={'(' * begins}{tag[2:]}{')' * ends}" if begins or ends else "_"


def table_rows():
    for document, person in SPANS:
        for start, end, label, _ in marked(document, person):
            yield {
                "document": document,
                "annotator": person,
                "start": start,
                "end": end,
                "label": label,
                "text": TEXTS[document],
            }


def separated(ending, delimiter):
    rows = list(table_rows())
    made = io.StringIO()
    writer = csv.DictWriter(made, rows[0], delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return Example({f"spans.{ending}": made.getvalue().encode()}, [f"spans.{ending}"])


def table_csv():
    return separated("csv", ",")


def table_tsv():
    return separated("tsv", "\t")


def table_jsonl():
    return Example({"spans.jsonl": lines(table_rows())}, ["spans.jsonl"])


def as_parquet(rows):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def table_parquet():
    return Example({"spans.parquet": as_parquet(list(table_rows()))}, ["spans.parquet"])


def table_of_documents():
    """Texts in a second table."""
    rows = [{k: v for k, v in row.items() if k != "text"} for row in table_rows()]
    texts = [{"document": name, "text": text} for name, text in TEXTS.items()]
    files = {"spans.jsonl": lines(rows), "texts.jsonl": lines(texts)}
    return Example(files, ["spans.jsonl"], {"documents": "texts.jsonl"})


def brat():
    files = {}
    for document, person in SPANS:
        rows = [
            f"T{number}\t{label} {start} {end}\t{surface}\n"
            for number, (start, end, label, surface) in enumerate(marked(document, person), start=1)
        ]
        files[f"{person}/{document}.ann"] = "".join(rows).encode()
        files[f"{person}/{document}.txt"] = TEXTS[document].encode()
    return Example(files, list(PEOPLE))


def doccano():
    def content(person):
        return lines(
            {
                "id": name,
                "text": text,
                "label": [[s, e, label] for s, e, label, _ in marked(name, person, utf16)],
            }
            for name, text in TEXTS.items()
        )

    return one_each("jsonl", content)


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def doccano_zip():
    return Example({"project.zip": zipped(doccano().files)}, ["project.zip"])


def prodigy():
    tasks = []
    for number, (document, person) in enumerate(SPANS):
        text = TEXTS[document]
        tokens = [
            {"text": text[start:end], "start": start, "end": end, "id": index}
            for index, (start, end) in enumerate(offsets(document))
        ]
        spans = [
            {"start": start, "end": end, "label": label, "text": surface}
            for start, end, label, surface in marked(document, person)
        ]
        tasks.append(
            {
                "text": text,
                "tokens": tokens,
                "spans": spans,
                "_input_hash": number // 2,
                "_annotator_id": person,
                "answer": "accept",
            }
        )
    return Example({"tasks.jsonl": lines(tasks)}, ["tasks.jsonl"])


def label_studio():
    tasks = []
    for number, (document, text) in enumerate(TEXTS.items()):
        annotations = []
        for index, person in enumerate(PEOPLE):
            results = [
                {
                    "type": "labels",
                    "from_name": "label",
                    "to_name": "text",
                    "value": {"start": start, "end": end, "text": surface, "labels": [label]},
                }
                for start, end, label, surface in marked(document, person)
            ]
            annotations.append(
                {"id": index, "completed_by": {"username": person}, "result": results}
            )
        tasks.append({"id": number, "data": {"text": text}, "annotations": annotations})
    return Example({"export.json": json.dumps(tasks).encode()}, ["export.json"])


def label_studio_min():
    tasks = [
        {
            "id": document,
            "annotator": person,
            "text": TEXTS[document],
            "label": [
                {"start": start, "end": end, "text": surface, "labels": [label]}
                for start, end, label, surface in marked(document, person)
            ],
        }
        for document, person in SPANS
    ]
    return Example({"export.json": json.dumps(tasks).encode()}, ["export.json"])


def webanno_tsv():
    def content(person):
        parts = ["#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Name|value\n\n"]
        base = number = group = 0
        for document, text in TEXTS.items():
            words = iter(offsets(document, utf16))
            for sentence in tagged(document, person):
                number += 1
                shown = " ".join(word for word, _ in sentence)
                parts.append(f"\n#Text={shown}\n".replace("\\", "\\\\"))
                for place, (word, tag) in enumerate(sentence, start=1):
                    start, end = next(words)
                    group += tag[0] == "B"
                    value = "_" if tag == "O" else f"{tag[2:]}[{group}]"
                    form = word.replace("\\", "\\\\")
                    for special in "[]":
                        form = form.replace(special, f"\\{special}")
                    cells = [f"{number}-{place}", f"{base + start}-{base + end}", form, value, ""]
                    parts.append("\t".join(cells) + "\n")
            base += utf16(text) + 1
        return "".join(parts)

    return one_each("tsv", content)


def spacy():
    def content(person):
        vocabulary = Vocab()
        docs = []
        for document, text in TEXTS.items():
            doc = Doc(vocabulary, words=text.split())
            doc.ents = [Span(doc, *span) for span in SPANS[document, person]]
            docs.append(doc)
        return DocBin(docs=docs).to_bytes()

    return one_each("spacy", content)


def gate_bdocjs():
    sets = {
        person: {
            "name": person,
            "annotations": [
                {"type": label, "start": start, "end": end, "id": number, "features": {}}
                for number, (start, end, label, _) in enumerate(marked("doc1", person))
            ],
            "next_annid": 99,
        }
        for person in PEOPLE
    }
    document = {"annotation_sets": sets, "text": TEXTS["doc1"], "features": {}, "name": "doc1"}
    content = json.dumps(document | {"offset_type": "p"}).encode()
    return Example({"document.bdocjs": content}, ["document.bdocjs"])


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def gate_xml():
    text = TEXTS["doc1"]
    places = sorted({place for pair in offsets("doc1") for place in pair})
    pieces = zip([0, *places], [*places, len(text)], strict=True)
    nodes = "".join(
        f'{escaped(text[start:end])}<Node id="{end}"/>' if start < end or not end else ""
        for start, end in pieces
    )
    sets = "".join(
        f'<AnnotationSet Name="{person}">\n'
        + "".join(
            f'<Annotation Id="{number}" Type="{label}" StartNode="{start}" EndNode="{end}">'
            "</Annotation>\n"
            for number, (start, end, label, _) in enumerate(marked("doc1", person))
        )
        + "</AnnotationSet>\n"
        for person in PEOPLE
    )
    content = (
        "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument version=\"3\">\n"
        f"<GateDocumentFeatures/>\n<TextWithNodes>{nodes}</TextWithNodes>\n{sets}</GateDocument>\n"
    )
    return Example({"document.xml": content.encode()}, ["document.xml"])


def made_cas(person):
    system = cassis.TypeSystem()
    kind = system.create_type("custom.Name")
    system.create_feature(kind, "value", "uima.cas.String")
    cas = cassis.Cas(system)
    cas.sofa_string = TEXTS["doc2"]
    cas.sofa_mime = "text/plain"
    for start, end, label, _ in marked("doc2", person):
        cas.add(kind(begin=start, end=end, value=label))
    return cas


def uima_json():
    return one_each("json", lambda person: made_cas(person).to_json())


def uima_xmi():
    example = one_each("xmi", lambda person: made_cas(person).to_xmi())
    system = made_cas("ada").typesystem.to_xml().encode()
    return Example({**example.files, "TypeSystem.xml": system}, example.given)


def eaf():
    """Tiers are labels here, and what is written in them is what was said."""

    def content(person):
        slots, tiers = [], {"PER": [], "LOC": []}
        for number, (start, end, label, surface) in enumerate(marked("doc1", person)):
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

    return one_each("eaf", content, grid="100ms", tier="label")


def textgrid():
    def content(person):
        parts = ['File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n90\n<exists>\n2\n']
        for tier in ("PER", "LOC"):
            found = [item for item in marked("doc1", person) if item[2] == tier]
            parts.append(f'"IntervalTier"\n"{tier}"\n0\n90\n{len(found)}\n')
            for start, end, _, surface in found:
                quoted = surface.replace('"', '""')
                parts.append(f'{start}\n{end}\n"{quoted}"\n')
        return "".join(parts)

    return one_each("TextGrid", content, grid="1s", tier="label")


# --- Damage -------------------------------------------------------------------

LONG = " ".join(f"Zqx{number}" for number in range(20, 40))
# What may stand where something else is expected: other types, and text in the wrong place.
ODD = [None, True, -1, 3, 1.5, 10**9, "", "odd", "Zqx20", LONG, [LONG], {"Zqx20": LONG}, [], {}]
SPECIAL = "\t\n\r\"'(){}[]<>,;:=#|&-_*\\\0\u2028é😀0"


def damaged(content, dice):
    """Text with one thing deleted, added, moved or cut off."""
    rows = content.split("\n")
    row, other = dice.randrange(len(rows)), dice.randrange(len(rows))
    place = dice.randrange(len(content))
    match dice.randrange(9):
        case 0:
            return content[:place] + content[place + dice.randint(1, 9) :]
        case 1:
            return content[:place] + dice.choice(SPECIAL) + content[place + dice.randrange(2) :]
        case 2:
            return content[:place]
        case 3:
            piece = content[dice.randrange(len(content)) :][: dice.randint(1, 30)]
            return content[:place] + piece + content[place:]
        case 4:
            del rows[row]
        case 5:
            rows.insert(row, rows[other])
        case 6:
            rows[row], rows[other] = rows[other], rows[row]
        case 7:
            rows[row] = dice.choice(["", LONG, f"{LONG}\t", "'", '"', rows[row] * 2])
        case 8:
            cells = re.split(r"([\t ,])", rows[row])
            i, j = (2 * dice.randrange(len(cells) // 2 + 1) for _ in range(2))
            cells[i], cells[j] = cells[j], cells[i]
            rows[row] = "".join(cells)
    return "\n".join(rows)


def retold(value, dice):
    """JSON with another value somewhere."""
    return replaced(value, dice.choice(list(places(value))), dice.choice(ODD))


def retold_json(content, dice):
    return json.dumps(retold(json.loads(content), dice)).encode()


def retold_line(content, dice):
    """Lines of JSON with another value in one of them."""
    rows = [json.loads(line) for line in content.splitlines()]
    chosen = dice.randrange(len(rows))
    rows[chosen] = retold(rows[chosen], dice)
    return lines(rows)


def retold_docbin(content, dice):
    message = srsly.msgpack_loads(zlib.decompress(content))
    return zlib.compress(srsly.msgpack_dumps(retold(message, dice)))


def retold_parquet(_, dice):
    """A table with one value in all rows of a column, or with two columns exchanged."""
    rows = list(table_rows())
    one, other = dice.sample(list(rows[0]), 2)
    value = dice.choice([odd for odd in ODD if odd not in ([], {})])
    exchanged = dice.randrange(2)
    for row in rows:
        row[one], row[other] = (row[other], row[one]) if exchanged else (value, row[other])
    return as_parquet(rows)


def mutant(path, content, dice):
    """A file that is damaged somewhere."""
    ending = path.rpartition(".")[2]
    if ending == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = dice.choice(list(members))
        return zipped({**members, chosen: mutant(chosen, members[chosen], dice)})
    retell = {
        "json": retold_json,
        "bdocjs": retold_json,
        "jsonl": retold_line,
        "spacy": retold_docbin,
        "parquet": retold_parquet,
    }
    is_text = ending not in {"spacy", "parquet"}
    if ending in retell and not (is_text and dice.randrange(2)):
        return retell[ending](content, dice)
    made = damaged(content.decode(), dice)
    return made.encode(dice.choice(["utf-8"] * 19 + ["utf-16"]))


def mutants(name, example):
    """Numbers of mutants, each with the file that differs and what it holds."""
    for number in range(N_MUTANTS // len(FORMATS[name.partition("_")[0]])):
        dice = random.Random(f"{name} {number}")  # noqa: S311 - the same on every run
        path = dice.choice(list(example.files))
        yield number, path, mutant(path, example.files[path], dice)


# --- What is shown ------------------------------------------------------------

FORMATS = {
    "conll": [conll, conll_columns],
    "conllu": [conllu, conllu_brackets],
    "table": [table_csv, table_tsv, table_jsonl, table_parquet, table_of_documents],
    "brat": [brat],
    "doccano": [doccano, doccano_zip],
    "prodigy": [prodigy],
    "label": [label_studio, label_studio_min],
    "webanno": [webanno_tsv],
    "spacy": [spacy],
    "gate": [gate_bdocjs, gate_xml],
    "uima": [uima_json, uima_xmi],
    "eaf": [eaf],
    "textgrid": [textgrid],
}
EXAMPLES = {one.__name__: one for variants in FORMATS.values() for one in variants}
N_MUTANTS = 300
"""Of each format, however many variants it has."""
NEVER_QUOTED = {"gate_xml", "eaf"}
"""Where no message quotes a text."""
COMMANDS = [
    ["agree", "--by", "document"],
    ["rank", "--gold", "ada"],
    ["difficulty"],
    ["convert", "--to", "table"],
    ["agree", "--sensitivity", "--output", "json"],
    ["disagreements", "--output", "json"],
]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command on an example in a folder of its own: exit code, what it showed."""
    monkeypatch.chdir(tmp_path)

    def runner(command, example, *flags):
        code = main([*command, *example.given, *example.flags(), *flags])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return runner


def saved(files, folder):
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(as_bytes(content))


@pytest.fixture(params=EXAMPLES)
def name(request):
    return request.param


@pytest.fixture
def example(name, tmp_path):
    made = EXAMPLES[name]()
    saved(made.files, tmp_path)
    return made


def has_marked_names(example):
    """Whether a label, an annotator, a document or a field of what is read holds the mark."""
    try:
        corpus = bc.read(*example.given, **example.options)
    except bc.BeyondChanceError:
        return False
    values = [value for values in corpus.fields.values() for value in values]
    names = [*corpus.labels, *corpus.annotators, *corpus.documents, *corpus.fields, *values]
    return any(MARK in name for name in names)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_results_show_no_text(run, example, command):
    code, shown = run(command, example, "--no-text")
    assert code == 0
    assert shown
    assert MARK not in shown


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_shows_text(run, tmp_path, output):
    example = conll()
    saved(example.files, tmp_path)
    code, shown = run(["agree", "--by", "document", "--output", output], example, "--no-text")
    assert code == 0
    assert MARK not in shown
    run(["agree", "--output", output, "--save", "saved"], example, "--no-text")
    assert MARK not in (tmp_path / "saved").read_text("utf-8")


@pytest.mark.parametrize("output", LIST_OUTPUTS)
def test_disagreements_show_text_only_if_they_may(run, tmp_path, output):
    example = conll()
    saved(example.files, tmp_path)
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["disagreements", "--quiet", "--output", output], example, *flags)
        assert code == 0
        assert (MARK in shown) == is_shown
        assert "PER" in shown


@pytest.mark.slow
def test_damaged_files_show_no_text(run, name, example, tmp_path):
    wrong = {}
    for number, path, content in mutants(name, example):
        (tmp_path / path).write_bytes(content)
        command = COMMANDS[number % len(COMMANDS)]
        code, shown = run(command, example, "--no-text")
        is_leak = MARK in shown and not has_marked_names(example)
        if is_leak or code not in {0, 1, 2} or "a defect of" in shown:
            # One of a kind is enough to tell.
            kind = re.sub(r"[^a-z]+", " ", shown)
            wrong.setdefault(kind, f"mutant {number}, {path}, exit {code}: {shown[-300:]}")
        (tmp_path / path).write_bytes(example.files[path])
    assert not wrong, "\n".join(wrong.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in NEVER_QUOTED])
def test_without_the_option_damaged_files_show_text(run, name, example, tmp_path):
    # Else the test above would hold whatever the option did.
    for _, path, content in mutants(name, example):
        (tmp_path / path).write_bytes(content)
        code, shown = run(["agree"], example)
        if code == 1 and MARK in shown and not has_marked_names(example):
            return
        (tmp_path / path).write_bytes(example.files[path])
    pytest.fail("no message shows any text")


def test_without_the_option_texts_are_converted(run, tmp_path):
    example = brat()
    saved(example.files, tmp_path)
    code, shown = run(["convert", "--to", "table"], example)
    assert code == 0
    assert MARK in shown


# --- Names that look like the end of a quotation ------------------------------


def differing(line):
    """The same sentence by two annotators, with another word at its end."""
    return [line.replace("WORD", word) for word in ("Zqx04", "Zqx05")]


def conll_by(person):
    one, other = differing("Zqx01\tB-PER\nZqx02)\tO\nWORD\tO\n")
    files = {f"{person}.conll": one, "zoe.conll": other}
    return Example(files, list(files))


def brat_by(person):
    files = {f"{person}/x.ann": "T1\tPER 0 5\tZqx09\n", f"{person}/x.txt": "Zqx01 Zqx02) Zqx04"}
    return Example(files, [person])


def doccano_by(person):
    rows = [{"id": 1, "text": text, "label": []} for text in differing("Zqx01 Zqx02) WORD")]
    members = {f"{person}.jsonl": lines(rows[:1]), "zoe.jsonl": lines(rows[1:])}
    return Example({"project.zip": zipped(members)}, ["project.zip"])


def label_studio_of(task):
    value = {"start": 0, "end": 5, "text": "Zqx09", "labels": ["PER"]}
    found = {"type": "labels", "value": value, "to_name": "text", "from_name": "label"}
    data = {"text": "Zqx01 Zqx02) Zqx04"}
    tasks = [{"id": task, "data": data, "annotations": [{"id": 1, "result": [found]}]}]
    return Example({"export.json": json.dumps(tasks)}, ["export.json"])


@pytest.mark.parametrize("odd", ["ada", "o'ada", "ada (1)", "ada (1"])
@pytest.mark.parametrize("made_by", [conll_by, brat_by, doccano_by, label_studio_of])
def test_names_cannot_uncover_what_is_hidden(run, tmp_path, made_by, odd):
    example = made_by(odd)
    saved(example.files, tmp_path)
    code, shown = run(["agree"], example)
    assert code == 1
    assert MARK in shown
    code, shown = run(["agree"], example, "--no-text")
    assert code == 1
    assert MARK not in shown


# --- Texts where none is expected ---------------------------------------------


def test_a_table_of_documents_without_a_header(run, tmp_path):
    spans = "document,annotator,start,end,label\ndoc1,ada,0,5,PER\ndoc1,ben,0,5,PER\n"
    texts = "doc1,Zqx01 Zqx02\ndoc2,Zqx03 Zqx04\n"
    saved({"spans.csv": spans, "texts.csv": texts}, tmp_path)
    example = Example({}, ["spans.csv"], {"documents": "texts.csv"})
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["agree"], example, *flags)
        assert code == 1
        assert shown.startswith("beyondchance: texts.csv: no column ")
        assert (MARK in shown) == is_shown


FURTHER = {
    "spans.csv": "document,annotator,start,end,label,length,sentence\n"
    "doc1,ada,0,5,PER,11,Zqx01 Zqx02\ndoc1,ben,0,5,PER,11,Zqx01 Zqx02\n",
    "ada.conll": "# newdoc id = doc1\n# text_de = Zqx01 Zqx02\nZqx03\tB-PER\nZqx04\tO\n",
}


@pytest.mark.parametrize("path", FURTHER)
def test_fields_may_be_texts_and_are_not_written(run, tmp_path, path):
    saved(FURTHER, tmp_path)
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["convert", "--to", "table"], Example({}, [path]), *flags)
        assert code == 0
        assert (MARK in shown) == is_shown


def conllu_row(number, misc):
    return f"{number}\tZqx0{number[0]}\t_\tX\t_\t_\t0\tdep\t_\t{misc}\n"


UNQUOTED = {
    # The first word looks like the heading of a column.
    "heading.conll": "form Zqx01 NN\nZqx02 Zqx03 VB\n",
    # A word where the entities are.
    "words.conllu": conllu_row("1", "Entity=(PER)") + conllu_row("2", "Entity=Zqx02") + "\n",
    "tokens.conllu": conllu_row("1", "Entity=(PER)")
    + conllu_row("2-3", "Entity=Zqx02)")
    + conllu_row("2", "_")
    + conllu_row("3", "_")
    + "\n",
}


@pytest.mark.parametrize("path", UNQUOTED)
def test_words_that_a_message_does_not_quote(run, tmp_path, path):
    saved(UNQUOTED, tmp_path)
    example = Example({}, [path], {"format": path.partition(".")[2]})
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["agree"], example, *flags)
        assert code == 1
        assert (MARK in shown) == is_shown
