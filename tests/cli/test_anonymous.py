"""Under ``--anonymous`` nothing that is shown or written holds a name or a text.

Every annotator, document, file, word, field and attribute holds the mark, and no label does.
"""

import json
from itertools import cycle

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from deciding import decided_for, file_of
from every_format import EXAMPLES, Annotations, conll
from refusals import refused

MARK = "Kanaria"
ADA, BEN, CLEO = (f"{MARK}{name}" for name in ("Ada", "Ben", "Cleo"))
DATA = Annotations(
    {
        f"{MARK}1": [f"{MARK}Zoe met {MARK}Max in {MARK}Bonn .", f"They saw {MARK}Rome ."],
        f"{MARK}2": [f"{MARK}Anna is in {MARK}Paris now .", f"{MARK}Max is not ."],
    },
    {
        (f"{MARK}1", ADA): [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")],
        (f"{MARK}1", BEN): [(0, 1, "PER"), (4, 5, "LOC"), (8, 9, "LOC")],
        (f"{MARK}1", CLEO): [(0, 1, "PER"), (4, 5, "PER")],
        (f"{MARK}2", ADA): [(0, 1, "PER"), (3, 4, "LOC")],
        (f"{MARK}2", BEN): [(0, 1, "LOC"), (3, 4, "LOC")],
        (f"{MARK}2", CLEO): [(0, 1, "PER"), (3, 4, "LOC")],
    },
)
COMMANDS = [
    ["agree", "--by", "document", "--confidence", "0.95", "--coefficients", "alpha,kappa"],
    ["agree", "--annotators", f"{ADA},{BEN}", "--output", "json"],
    ["rank", "--gold", ADA, "--by", "label", "--output", "json"],
    ["difficulty", "--gold", BEN, "--output", "json"],
    ["disagreements", "--output", "json"],
    ["disagreements", "--by", "pair", "--output", "csv"],
    ["diagnose", "--output", "json"],
    ["careless", "--resamples", "99", "--output", "json"],
    ["consensus", "--ties", "keep", "--output", "json"],
    ["replace", "--model", CLEO, "--output", "json"],
    ["plan", "--replace", CLEO],
    ["convert", "--to", "table"],
    ["report", "-o", "-", "--resamples", "99", "--coefficients", "kappa"],
]
FLAT = {name for name in LIST_OUTPUTS if name not in OUTPUTS}
ROTATION = list(zip(EXAMPLES, cycle(COMMANDS), strict=False))
N_BATCHES = 16
BATCHES = [pytest.param(n, marks=[pytest.mark.slow] * (n % 8 > 0)) for n in range(N_BATCHES)]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own; return its exit code, output and messages."""
    monkeypatch.chdir(tmp_path)

    def runner(*arguments):
        code = main([*map(str, arguments), "--anonymous"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def hidden(code, out, err, *, expected=(0,)):
    assert code in expected, err
    for shown in (out, err):
        assert MARK not in shown, shown[max(0, shown.find(MARK) - 200) :][:400]
    assert "a defect of" not in err
    return out


@pytest.mark.parametrize("batch", BATCHES)
def test_no_format_and_no_command_shows_anything(run, tmp_path, batch):
    for name, command in ROTATION[batch::N_BATCHES]:
        made = EXAMPLES[name](DATA)
        made.saved(tmp_path / name / MARK)
        place = f"{name}/{MARK}"
        given = [f"{place}/{path}" for path in made.given]
        flags = [f"{place}/{word}" if word in made.files else word for word in made.flags()]
        try:
            hidden(*run(*command, *given, *flags))
        except AssertionError as error:
            raise AssertionError(f"{name}, {command}: {error}") from None


@pytest.fixture
def given(tmp_path, monkeypatch):
    """The files of three annotators, in a folder whose name holds the mark."""
    monkeypatch.chdir(tmp_path)
    made = conll(DATA).saved(tmp_path / MARK)
    return [path.relative_to(tmp_path) for path in made]


OUTPUTS_OF = {
    **dict.fromkeys(
        ["agree", "rank", "difficulty", "replace", "plan", "careless", "diagnose"], OUTPUTS
    ),
    **dict.fromkeys(["disagreements", "consensus"], LIST_OUTPUTS),
}
CALLS = {
    "agree": ["--by", "document"],
    "rank": ["--gold", ADA],
    "replace": ["--model", CLEO],
    "careless": ["--resamples", "99"],
    "consensus": ["--ties", "keep"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", OUTPUTS_OF)
def test_no_output_shows_anything(run, given, tmp_path, command):
    saving = "--save" if command != "consensus" else "--name"
    for output in OUTPUTS_OF[command]:
        words = [command, *given, *CALLS.get(command, []), "--output", output]
        assert hidden(*run(*words))
        hidden(*run(*words, saving, "saved"))
        if saving == "--save":
            assert MARK not in (tmp_path / "saved").read_text("utf-8")


def test_annotators_documents_and_files_are_numbered(run, given):
    words = ["agree", *given, "--by", "document", "--output", "json"]
    found = json.loads(hidden(*run(*words)))
    assert list(found["annotators"]) == ["annotator 1", "annotator 2", "annotator 3"]
    assert list(found["documents"]) == ["document 1", "document 2"]
    assert [item["name"] for item in found["inputs"]] == ["file 1", "file 2", "file 3"]
    some = json.loads(hidden(*run(*words, "--annotators", f"{BEN},{CLEO}")))
    assert list(some["annotators"]) == ["annotator 2", "annotator 3"]


def test_a_ranking_is_of_systems(run, given):
    found = json.loads(hidden(*run("rank", *given, "--gold", BEN, "--output", "json")))
    assert found["gold"] == "gold"
    assert sorted(item["name"] for item in found["systems"]) == ["system 1", "system 2"]


def test_the_numbers_are_those_of_the_whole(run, given):
    found = json.loads(hidden(*run("agree", *given, "--output", "json")))
    scores = bc.agreement(bc.read(*given))
    assert found["measures"]["token"]["corrected"] == scores.corrected


@pytest.mark.slow
def test_neither_page_nor_figures_show_anything(run, given, tmp_path):
    for flags in (["--figures", "figures", "--replace", CLEO], ["--gold", ADA, "--title", "Ours"]):
        hidden(*run("report", *given, "-o", "page.html", "--resamples", "99", *flags))
        page = (tmp_path / "page.html").read_text("utf-8")
        assert MARK not in page
        assert "document 1" in page
    figures = [*(tmp_path / "figures").iterdir()]
    assert figures
    assert not any(MARK in f.name or MARK.encode() in f.read_bytes() for f in figures)


def test_fields_and_attributes_are_left_out(run, tmp_path):
    task = {
        "data": {"text": "Ada met Bo.", "place": MARK, "week": "3"},
        "annotations": [
            {
                "completed_by": {"email": f"{by}@x.org"},
                "result": [
                    {
                        "id": MARK,
                        "from_name": MARK,
                        "to_name": "text",
                        "type": "labels",
                        "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]},
                    },
                    {
                        "id": MARK,
                        "from_name": "said",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"start": 0, "end": 3, "text": "Ada", "choices": [MARK]},
                    },
                ],
            }
            for by in (ADA, BEN)
        ],
    }
    (tmp_path / "x.json").write_text(json.dumps([{**task, "id": i} for i in (1, 2)]))
    corpus = bc.read(tmp_path / "x.json")
    assert {*corpus.fields} == {"place", "week"}
    assert corpus.span_fields
    for file in ("y.jsonl", "y.csv"):
        hidden(*run("convert", "x.json", "--to", "table", "--save", file))
        assert MARK not in (tmp_path / file).read_text("utf-8")
    out = hidden(*run("agree", "x.json", "--by", "week", "--output", "json"))
    assert '"week"' in out
    hidden(*run("disagreements", "x.json", "--by", "place", "--output", "json"))
    hidden(*run("agree", "x.json", "--by", "season"), expected=(2,))


def test_decisions_of_an_anonymous_page(run, given, tmp_path):
    corpus = bc.read(*given)
    other = tmp_path / "decisions.json"
    other.write_text(json.dumps(file_of(corpus, decided_for(corpus, ADA, by=MARK))))
    hidden(*run("adjudicate", *given, "--decisions", other), expected=(1,))
    corpus = corpus.anonymous()
    other.write_text(json.dumps(file_of(corpus, decided_for(corpus, "annotator 1", by=MARK))))
    out = hidden(*run("adjudicate", *given, "--decisions", other, "--output", "json"))
    assert "document 1" in out


ERRORS = [
    [f"{MARK}.conll"],
    [f"={MARK}"],
    [f"{MARK}/a.conll", "--gold", MARK],
    [f"{MARK}/a.conll", "--annotators", MARK],
    [f"{MARK}/a.conll", f"{MARK}/bad.conll"],
    [f"{MARK}/a.conll", f"{MARK}/other.conll", "--strict"],
    [f"{MARK}/a.conll", f"{MARK}/tags.conll", "--repair", "none"],
    [f"{MARK}/spans.csv"],
    [f"{MARK}/a.conll", "--by", MARK],
]


def test_errors_show_nothing(run, tmp_path):
    folder = tmp_path / MARK
    folder.mkdir()
    good = f"# newdoc id = {MARK}\n{MARK} B-PER\n. O\n"
    (folder / "a.conll").write_text(good)
    (folder / "bad.conll").write_text(good + f"{MARK}\n")
    (folder / "other.conll").write_text(good.replace(f"\n{MARK}", f"\nx{MARK}"))
    (folder / "tags.conll").write_text(good.replace("B-PER", f"{MARK}-PER"))
    (folder / "spans.csv").write_text(
        f"document,annotator,start,end,label,text\n{MARK},{ADA},9,8,PER,{MARK}\n"
    )
    for words in ERRORS:
        hidden(*run("agree", *words), expected=(1, 2))
        if "--by" not in words:
            hidden(*run("report", *words, "-o", "x.html"), expected=(1, 2))
    words = ["replace", f"{MARK}/a.conll", f"{MARK}/other.conll", "--model", MARK]
    hidden(*run(*words), expected=(1, 2))


TIER = '"IntervalTier"\n"{}"\n0\n1\n1\n0\n1\n"PER"\n'
GRID = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n2\n'


def test_an_option_that_lists_annotators_shows_no_name(run, tmp_path):
    (tmp_path / "x.TextGrid").write_text(GRID + TIER.format(ADA) + TIER.format(BEN))
    words = ["agree", "x.TextGrid", "--grid", "1s", "--layer", f"{ADA}, {BEN}", "--output", "json"]
    signature = json.loads(hidden(*run(*words)))["signature"]
    assert "layer:annotator 1%2Cannotator 2" in signature


def test_what_is_read_in_parts_is_not_anonymous(run, given):
    hidden(*run("agree", *given, "--workers", "1"), expected=(2,))
    with refused(bc.OptionError, "anonymous", use="anonymous"):
        bc.agreement(bc.scan(*given, anonymous=True))


class TestInPython:
    def test_what_is_read_holds_nothing(self, given):
        corpus = bc.read(*given, anonymous=True)
        assert MARK not in str((corpus.documents, corpus.annotators, corpus.inputs, corpus.notes))
        assert corpus.texts is corpus.token_start is corpus.token_end is None
        assert corpus.labels == ("LOC", "PER")

    def test_every_function_takes_it(self, given):
        files = list(map(str, given))
        assert MARK not in str(bc.rank(files, gold=ADA, anonymous=True))
        corpus = bc.read(*given)
        found = bc.rank(corpus, gold=ADA, anonymous=True)
        assert [*found.systems] == ["system 1", "system 2"]
        assert found.gold == "gold"
        assert bc.agreement(corpus, anonymous=False).counts.annotators == corpus.annotators
        page = bc.report(files, anonymous=True, resamples=99, coefficients="kappa")
        assert MARK not in page.html
        assert (
            page.html == bc.report(corpus, anonymous=True, resamples=99, coefficients="kappa").html
        )

    def test_a_result_has_names_already(self, given):
        corpus = bc.read(*given)
        with refused(bc.OptionError, "anonymous … result", use="anonymous"):
            bc.report(bc.agreement(corpus), corpus, anonymous=True)

    def test_errors_show_nothing(self, tmp_path):
        (tmp_path / f"{MARK}.conll").write_text(f"{MARK} {MARK}\n")
        with pytest.raises(bc.BeyondChanceError) as caught:
            bc.read(tmp_path / f"{MARK}.conll", anonymous=True)
        assert MARK not in str(caught.value)
