"""Under ``--no-text`` nothing of the annotated text is shown, whatever the files hold.

Every word of every text holds the mark, and no label, annotator or document does. So the
mark on a stream is text that got out, unless damage has made a name of it: a word that
stands where a label belongs is a label.
"""

import io
import json
import random
import re
import zipfile
import zlib

import pyarrow.parquet as pq
import pytest
import srsly

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from every_format import (
    EXAMPLES,
    Annotations,
    Example,
    as_parquet,
    brat,
    conll,
    lines,
    zipped,
)
from mutation import places, replaced

MARK = "Zqx"
# Quotes and brackets, open and closed, for a message may put such around a word. One name
# of a document is a number, which some formats do not write as text.
DATA = Annotations(
    {
        "1": [
            'Zqx01 Zqx02\'s "Zqx03" (Zqx04 Zqx05',
            "Zqx06) Zqx07\" Zqx08' Zqx09\\ Zqx10",
            "[Zqx11] {Zqx12} <Zqx13> Zqx14😀",
        ],
        "doc2": ["Zqx15 Zqx16 Zqx17 Zqx18", "[Zqx19] Zqx20 {Zqx21} <Zqx22> Zqx23😀"],
    },
    {
        ("1", "ada"): [(0, 2, "PER"), (4, 5, "LOC"), (6, 8, "PER"), (10, 13, "LOC")],
        ("1", "ben"): [(1, 2, "PER"), (4, 5, "LOC"), (11, 14, "PER")],
        ("doc2", "ada"): [(0, 1, "LOC"), (5, 8, "PER")],
        ("doc2", "ben"): [(0, 1, "PER"), (6, 8, "PER")],
    },
)


def test_every_word_holds_the_mark_and_no_name_does():
    assert all(MARK in word for document in DATA.sentences for word in DATA.words(document))
    labels = [label for spans in DATA.spans.values() for _, _, label in spans]
    assert not any(MARK in name for name in [*DATA.sentences, *DATA.people, *labels])


# --- Damage -------------------------------------------------------------------

LONG = " ".join(f"Zqx{number}" for number in range(30, 50))
# What may stand where something else is expected: other types, and text in the wrong place.
ODD = [None, True, -1, 3, 1.5, 10**9, "", "odd", "Zqx30", LONG, [LONG], {"Zqx30": LONG}, [], {}]
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


def retold_parquet(content, dice):
    """Rows with one value in all of a column, or with two columns exchanged."""
    rows = pq.read_table(io.BytesIO(content)).to_pylist()
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
    for number in range(N_MUTANTS):
        dice = random.Random(f"{name} {number}")  # noqa: S311 - the same on every run
        path = dice.choice(list(example.files))
        yield number, path, mutant(path, example.files[path], dice)


# --- What is shown ------------------------------------------------------------

N_MUTANTS = 300
"""Of each variant of a format: few of them make a message quote a text."""
NEVER_QUOTED = {"gate_xml", "eaf", "refi_qda"}
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


@pytest.fixture(params=EXAMPLES)
def name(request):
    return request.param


@pytest.fixture
def example(name, tmp_path):
    made = EXAMPLES[name](DATA)
    made.saved(tmp_path)
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
    example = conll(DATA)
    example.saved(tmp_path)
    code, shown = run(["agree", "--by", "document", "--output", output], example, "--no-text")
    assert code == 0
    assert MARK not in shown
    run(["agree", "--output", output, "--save", "saved"], example, "--no-text")
    assert MARK not in (tmp_path / "saved").read_text("utf-8")


@pytest.mark.parametrize("output", LIST_OUTPUTS)
def test_disagreements_show_text_only_if_they_may(run, tmp_path, output):
    example = conll(DATA)
    example.saved(tmp_path)
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
    example = brat(DATA)
    example.saved(tmp_path)
    code, shown = run(["convert", "--to", "table"], example)
    assert code == 0
    assert MARK in shown


# --- Names that look like the end of a quotation ------------------------------


def differing(line):
    """The same sentence by two annotators, with another word at its end."""
    return [line.replace("WORD", word) for word in ("Zqx04", "Zqx05")]


def conll_by(person):
    one, other = differing("Zqx01\tB-PER\nWORD)\tO\nWORD\tO\n")
    files = {f"{person}.conll": one.encode(), "zoe.conll": other.encode()}
    return Example(files, list(files))


def brat_by(person):
    files = {
        f"{person}/x.ann": b"T1\tPER 0 5\tZqx09\n",
        f"{person}/x.txt": b"Zqx01 Zqx02) Zqx04",
    }
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
    return Example({"export.json": json.dumps(tasks).encode()}, ["export.json"])


@pytest.mark.parametrize("odd", ["ada", "o'ada", "ada (1)", "ada (1"])
@pytest.mark.parametrize("made_by", [conll_by, brat_by, doccano_by, label_studio_of])
def test_names_cannot_uncover_what_is_hidden(run, tmp_path, made_by, odd):
    example = made_by(odd)
    example.saved(tmp_path)
    code, shown = run(["agree"], example)
    assert code == 1
    assert MARK in shown
    code, shown = run(["agree"], example, "--no-text")
    assert code == 1
    assert MARK not in shown


# --- Texts where none is expected ---------------------------------------------


def test_a_table_of_documents_without_a_header(run, tmp_path):
    spans = b"document,annotator,start,end,label\ndoc1,ada,0,5,PER\ndoc1,ben,0,5,PER\n"
    texts = b"doc1,Zqx01 Zqx02\ndoc2,Zqx03 Zqx04\n"
    files = {"spans.csv": spans, "texts.csv": texts}
    example = Example(files, ["spans.csv"], {"documents": "texts.csv"})
    example.saved(tmp_path)
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["agree"], example, *flags)
        assert code == 1
        assert shown.startswith("beyondchance: texts.csv: no column ")
        assert (MARK in shown) == is_shown


FURTHER = {
    "spans.csv": b"document,annotator,start,end,label,length,sentence\n"
    b"doc1,ada,0,5,PER,11,Zqx01 Zqx02\ndoc1,ben,0,5,PER,11,Zqx01 Zqx02\n",
    "ada.conll": b"# newdoc id = doc1\n# text_de = Zqx01 Zqx02\nZqx03\tB-PER\nZqx04\tO\n",
}


@pytest.mark.parametrize("path", FURTHER)
def test_fields_may_be_texts_and_are_not_written(run, tmp_path, path):
    example = Example(FURTHER, [path])
    example.saved(tmp_path)
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["convert", "--to", "table"], example, *flags)
        assert code == 0
        assert (MARK in shown) == is_shown


def conllu_row(number, misc):
    return f"{number}\tZqx0{number[0]}\t_\tX\t_\t_\t0\tdep\t_\t{misc}\n".encode()


UNQUOTED = {
    # The first word looks like the heading of a column.
    "heading.conll": b"form Zqx01 NN\nZqx02 Zqx03 VB\n",
    # A word where the entities are.
    "words.conllu": conllu_row("1", "Entity=(PER)") + conllu_row("2", "Entity=Zqx02") + b"\n",
    "tokens.conllu": conllu_row("1", "Entity=(PER)")
    + conllu_row("2-3", "Entity=Zqx02)")
    + conllu_row("2", "_")
    + conllu_row("3", "_")
    + b"\n",
}


@pytest.mark.parametrize("path", UNQUOTED)
def test_words_that_a_message_does_not_quote(run, tmp_path, path):
    example = Example(UNQUOTED, [path], {"format": path.partition(".")[2]})
    example.saved(tmp_path)
    for flags, is_shown in (([], True), (["--no-text"], False)):
        code, shown = run(["agree"], example, *flags)
        assert code == 1
        assert (MARK in shown) == is_shown


def test_labels_of_the_file_are_hidden_and_words_of_the_user_are_not(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["document,annotator,start,end,label"]
    rows += [f"1,ada,{number},{number + 1},Zqx{number}" for number in range(9)]
    (tmp_path / "spans.csv").write_text("\n".join([*rows, "1,ben,0,1,other"]))
    files = ("spans.csv", "--length", "20", "--no-text")
    for command in (["agree"], ["disagreements", "--label", "mine"], ["agree", "--labels", "mine"]):
        main([*command, *files])
        said = capsys.readouterr().err
        assert "Zqx" not in said
        assert ("mine" in said) == ("mine" in command[-1])
