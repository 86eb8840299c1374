"""Under ``--no-text`` nothing of the annotated text is shown, whatever the files hold.

Every word of every text holds the mark, and no label, annotator or document does. So the
mark on a stream is text that got out, unless damage has made a name of it: a word that
stands where a label belongs is a label.
"""

import json
import random
from itertools import cycle
from pathlib import Path

import pytest

import beyondchance as bc
from attack import COMMANDS, has_marked_names
from beyondchance.cli.main import main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from every_format import (
    EXAMPLES,
    Example,
    brat,
    conll,
    lines,
    zipped,
)
from mutation import MARK, MARKED, mutant
from refusals import assert_tells


def test_every_word_holds_the_mark_and_no_name_does():
    assert all(MARK in word for document in MARKED.sentences for word in MARKED.words(document))
    labels = [label for spans in MARKED.spans.values() for _, _, label in spans]
    assert not any(MARK in name for name in [*MARKED.sentences, *MARKED.people, *labels])


# --- Damage -------------------------------------------------------------------


def mutants(name, example):
    """Numbers of mutants, each with the file that differs and what it holds."""
    for number in range(N_MUTANTS):
        dice = random.Random(f"{name} {number}")  # noqa: S311 - the same on every run
        path = dice.choice(list(example.files))
        yield number, path, mutant(path, example.files[path], dice)


# --- What is shown ------------------------------------------------------------

N_MUTANTS = 300
"""Of each variant of a format: few of them make a message quote a text."""
NEVER_QUOTED = {"gate_xml", "eaf", "refi_qda", "hf_parquet", "records_wide", "table_xlsx"}
"""Where no message quotes a text."""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command on an example in a folder of its own: exit code, what it showed."""
    monkeypatch.chdir(tmp_path)

    def runner(command, example, *flags):
        code = main([*command, *example.given, *example.flags(), *flags])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return runner


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Write an example into a folder of its own, where commands run from then on."""

    def writer(name, made=None):
        example = made or EXAMPLES[name](MARKED)
        example.saved(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        return example

    return writer


def is_marked(example):
    """Whether damage has made a name of a word."""
    try:
        return has_marked_names(bc.read(*example.given, **example.options))
    except bc.BeyondChanceError:
        return False


N_BATCHES = 8
BATCHES = [pytest.param(n, marks=[pytest.mark.slow] * (n % 4 > 0)) for n in range(N_BATCHES)]
ROTATION = list(zip(EXAMPLES, cycle(COMMANDS), strict=False))
"""Every format and every command once."""


def hidden(code, shown):
    assert code == 0, shown
    assert shown
    assert MARK not in shown


@pytest.mark.parametrize("batch", BATCHES)
def test_results_show_no_text(run, saved, batch):
    for name, command in ROTATION[batch::N_BATCHES]:
        hidden(*run(command, saved(name), "--no-text"))


@pytest.mark.slow
def test_no_output_shows_text(run, tmp_path):
    example = conll(MARKED)
    example.saved(tmp_path)
    for output in OUTPUTS:
        hidden(*run(["agree", "--by", "document", "--output", output], example, "--no-text"))
        run(["agree", "--output", output, "--save", "saved"], example, "--no-text")
        hidden(0, (tmp_path / "saved").read_text("utf-8"))


def test_disagreements_show_text_only_if_they_may(run, tmp_path):
    example = conll(MARKED)
    example.saved(tmp_path)
    for output in LIST_OUTPUTS:
        for flags, is_shown in (([], True), (["--no-text"], False)):
            code, shown = run(["disagreements", "--quiet", "--output", output], example, *flags)
            assert code == 0
            assert (MARK in shown) == is_shown, output
            assert "PER" in shown


def shows_text(run, name, example):
    """Whether some damage makes a message show text."""
    for _, path, content in mutants(name, example):
        Path(path).write_bytes(content)
        code, shown = run(["agree"], example)
        if code == 1 and MARK in shown and not is_marked(example):
            return True
        Path(path).write_bytes(example.files[path])
    return False


# Else the attack, which looks for text under the option, would find none whatever it did.
QUOTED = [name for name in EXAMPLES if name not in NEVER_QUOTED]
SOON = [
    "conll",
    "table_jsonl",
    "brat",
    "label_studio",
    "webanno_tsv",
    "spacy",
    "tei",
    "web_annotation",
    "pubtator",
]
"""Where few mutants are enough."""


@pytest.mark.long
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_without_the_option_damaged_files_show_text(run, saved, batch):
    assert [n for n in QUOTED[batch::N_BATCHES] if not shows_text(run, n, saved(n))] == []


@pytest.mark.slow
def test_without_the_option_damaged_files_of_some_formats_show_text(run, saved):
    assert [n for n in SOON if not shows_text(run, n, saved(n))] == []


@pytest.mark.usefixtures("by_characters")
def test_without_the_option_texts_are_converted(run, tmp_path):
    example = brat(MARKED)
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


def test_names_cannot_uncover_what_is_hidden(run, saved):
    makers = (conll_by, brat_by, doccano_by, label_studio_of)
    for number, odd in enumerate(["ada", "o'ada", "ada (1)", "ada (1"]):
        for made_by in makers:
            example = saved(f"{number} {made_by.__name__}", made_by(odd))
            for flags, is_shown in (([], True), (["--no-text"], False)):
                code, shown = run(["agree"], example, *flags)
                assert code == 1
                assert (MARK in shown) == is_shown, (made_by, odd)


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
        assert_tells(shown, "texts.csv: … column")
        assert (MARK in shown) == is_shown


FURTHER = {
    "spans.csv": b"document,annotator,start,end,label,length,sentence\n"
    b"doc1,ada,0,5,PER,11,Zqx01 Zqx02\ndoc1,ben,0,5,PER,11,Zqx01 Zqx02\n",
    "ada.conll": b"# newdoc id = doc1\n# text_de = Zqx01 Zqx02\nZqx03\tB-PER\nZqx04\tO\n",
}


def test_fields_may_be_texts_and_are_not_written(run, saved):
    for path in FURTHER:
        example = saved("further", Example(FURTHER, [path]))
        for flags, is_shown in (([], True), (["--no-text"], False)):
            code, shown = run(["convert", "--to", "table"], example, *flags)
            assert code == 0
            assert (MARK in shown) == is_shown, path


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


def test_words_that_a_message_does_not_quote(run, saved):
    for path in UNQUOTED:
        example = saved("unquoted", Example(UNQUOTED, [path], {"format": path.partition(".")[2]}))
        for flags, is_shown in (([], True), (["--no-text"], False)):
            code, shown = run(["agree"], example, *flags)
            assert code == 1
            assert (MARK in shown) == is_shown, path


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
