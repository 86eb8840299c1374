"""Every message that a user can meet: one line, no traceback, nothing on standard output."""

import errno
import io
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

from beyondchance.cli.main import COMMANDS, main
from beyondchance.core.measures import MEASURES
from beyondchance.installing import distribution, requirements

HEADER = "document,annotator,start,end,label,length\n"
FILES = {
    "ada.conll": "Anna\tB-PER\nsaw\tO\nBonn\tB-LOC\n",
    "ben.conll": "Anna\tB-PER\nsaw\tO\nBonn\tB-LOC\n",
    "rome.conll": "Anna\tB-PER\nsaw\tO\nRome\tB-LOC\n",
    "empty.conll": "",
    "letter.txt": "Dear Anna,\nhow are you?\n",
    "letters/first.txt": "Dear Anna,\nhow are you?\n",
    "latin.conll": "J\xfcrgen\tB-PER\n".encode("latin-1"),
    "export.conll": "Anna\tB-PER\n\nAnna\tO\n\nsaw\tO\n",
    "damaged/1.tsv": "#FORMAT=WebAnno TSV 3.3\n\n#Text=Anna\n1-1\t0-4\tAnna\t\n",
    "damaged/2.tsv": "#FORMAT=Web",
    "spans.csv": f"{HEADER}d1,ada,0,4,PER,9\nd1,ben,0,4,PER,9\nd1,ben,,,,9\n",
    "rounds.csv": "document,annotator,start,end,label,length,round\n"
    "d1,ada,0,4,PER,9,1\nd1,ben,0,4,PER,9,1\nd1,ben,,,,9,1\n",
    "alone.csv": f"{HEADER}d1,ada,0,4,PER,9\nd2,ada,0,4,PER,9\n",
    "apart.csv": f"{HEADER}d1,ada,0,4,PER,9\nd2,ben,0,4,PER,9\nd2,ben,,,,9\n",
    "overlap.csv": f"{HEADER}d1,ada,0,4,PER,9\nd1,ada,2,6,PER,9\nd1,ben,0,4,PER,9\nd1,ben,,,,9\n",
    "elsewhere.csv": f"{HEADER}d1,ada,0,4,PER,9\nd1,ben,5,9,PER,9\nd1,ben,,,,9\n",
    "nothing.csv": f"{HEADER}d1,ada,,,,9\nd1,ben,,,,9\n",
    "everything.csv": f"{HEADER}d1,ada,0,9,PER,9\nd1,ben,0,9,PER,9\nd1,ben,,,,9\n",
    "lonely.csv": f"{HEADER}d1,ada,0,4,PER,9\nd1,ben,0,4,PERSON,9\nd1,ada,5,6,LOC,9\n"
    "d1,ben,5,6,LOC,9\nd1,ben,,,,9\n",
    # Formats that need a library: as much of each as tells it.
    "ada.conllu": "1\tAnna\tAnna\tPROPN\t_\t_\t0\troot\t_\tNER=B-PER\n\n",
    "ada.eaf": "<ANNOTATION_DOCUMENT></ANNOTATION_DOCUMENT>",
    "ada.TextGrid": 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n0\n',
    "gate.xml": "<GateDocument><TextWithNodes>Anna</TextWithNodes></GateDocument>",
    "spans.parquet": "PAR1",
}


@pytest.fixture(scope="module")
def _written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "hollow").mkdir()
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, _written):
    """The files, in the folder that the commands run in."""
    shutil.copytree(_written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    give(monkeypatch, "")
    return tmp_path


def give(monkeypatch, content):
    """Put something on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


@pytest.fixture
def run(capsys):
    def runner(*args):
        code = main(list(args))
        return code, *capsys.readouterr()

    return runner


@pytest.fixture
def refused(run, folder):
    """Run a command that fails: its exit code and the one line that it says."""

    def runner(*args):
        before = listing(folder)
        code, out, err = run(*args)
        assert out == ""
        assert listing(folder) == before
        return code, one_line(err)

    return runner


def listing(folder):
    return sorted(folder.rglob("*"))


def one_line(err):
    """What was said, which is one sentence in the words of the command line."""
    assert err.endswith("\n")
    line = err.removesuffix("\n")
    assert line
    assert "\n" not in line
    assert "Traceback" not in line
    assert "a defect of" not in line
    assert not re.search(r"\b[a-z_]+=('|\b[a-z])", line), "an option in the words of the library"
    return line


def see(command):
    return f" (see 'beyondchance {command} --help')"


# --- Annotations that cannot be used ------------------------------------------

UNKNOWN = (
    "is plain text, without columns, JSON or XML; expected annotations: 'beyondchance formats' "
    "lists what can be read; or pass --format NAME"
)
ALONE = "only one annotator found: 'ada'; expected at least two who annotated the same document"
OVERLAP = (
    "document 'd1', annotator 'ada', span [0, 4) 'PER' overlaps [2, 6) 'PER'; expected spans of "
    "one label by one annotator not to overlap under model 'disjoint': correct them, or use "
    "--model auto"
)
DATA = {
    "agree ada.conll none.conll": "none.conll: no such file or folder",
    "agree spans.csv --documents none.csv": "none.csv: no such file or folder",
    "agree hollow ada.conll": "hollow: the folder holds no files",
    "agree letters ada.conll": f"letters/first.txt: {UNKNOWN}",
    "agree empty.conll ada.conll": "empty.conll: is empty; expected annotations",
    "agree letter.txt": f"letter.txt: {UNKNOWN}",
    "agree latin.conll": "latin.conll:1: byte 0xfc is not UTF-8; save the file as UTF-8",
    "agree export.conll": (
        "export.conll: 2 of 3 texts occur more than once, up to 2 times; expected each once, "
        "because nothing says whose the copies are: --repeated annotators reads them as the work "
        "of several annotators, --repeated documents as several documents"
    ),
    "agree damaged --strict": (
        "damaged/2.tsv:1: found '#FORMAT=Web'; expected '#FORMAT=WebAnno TSV 3.0' to 3.3: export "
        "the document again as WebAnno TSV 3.3"
    ),
    "agree letter.txt --format conll": (
        "letter.txt:2: found 3 columns; expected 2, as in the first row"
    ),
    "agree ada.conll": ALONE,
    "agree alone.csv": ALONE,
    "rank alone.csv --gold ada": (
        "only one annotator found: 'ada'; expected at least one system besides the gold standard"
    ),
    "agree spans.csv --gold zoe": (
        "gold standard 'zoe' is not among the annotators; found: 'ada', 'ben'"
    ),
    "rank spans.csv --gold zoe": (
        "gold standard 'zoe' is not among the annotators; found: 'ada', 'ben'"
    ),
    "agree spans.csv --annotators zoe": "unknown annotator 'zoe'; the corpus has: 'ada', 'ben'",
    "agree spans.csv --labels ORG": "unknown label 'ORG'; the corpus has: 'PER'",
    "agree spans.csv --exclude-labels ORG": "unknown label 'ORG'; the corpus has: 'PER'",
    "agree spans.csv --rename-label ORG=X": "unknown label 'ORG'; the corpus has: 'PER'",
    "agree ada.conll rome.conll --strict": (
        "rome.conll:1: the text of document '1' differs from that at ada.conll:1 from character "
        "9 on: 'Anna saw Rome' instead of 'Anna saw Bonn'; expected the same text for all "
        "annotators"
    ),
    "disagreements ada.conll": ALONE,
    "disagreements spans.csv --gold zoe": (
        "gold standard 'zoe' is not among the annotators; found: 'ada', 'ben'"
    ),
    "agree overlap.csv --model disjoint": OVERLAP,
    "difficulty overlap.csv --model disjoint": OVERLAP,
    "rank overlap.csv --gold ben --model disjoint": OVERLAP,
    "convert spans.csv --to brat --save brat/": (
        "brat needs the texts, which this corpus does not know; read it from a format that has "
        "them, or write a table"
    ),
    "convert spans.csv --to conll": (
        "positions are characters; expected tokens for conll: read the corpus with --positions "
        "tokens"
    ),
}


def test_bad_data(refused):
    for command, said in DATA.items():
        assert refused(*command.split()) == (1, f"beyondchance: {said}"), command


def test_nothing_in_common(refused):
    code, line = refused("disagreements", "apart.csv")
    assert code == 1
    assert line.startswith(
        "beyondchance: no document was annotated by two annotators to compare ('ada' annotated 1, "
        "'ben' annotated 1); expected documents in common: check that all use the same document "
    )
    code, line = refused("agree", "apart.csv")
    assert code == 1
    assert line.startswith(
        "beyondchance: no document was annotated by two annotators ('ada' annotated 1, 'ben' "
        "annotated 1); expected documents in common: check that all use the same document names, "
        "or read them with --match text or "
    )


def test_a_file_that_may_not_be_read(refused, monkeypatch):
    def refuse(method):
        def refusing(path, *args, **options):
            if path.name == "ada.conll":
                raise PermissionError(errno.EACCES, "Permission denied")
            return method(path, *args, **options)

        return refusing

    for name in ("open", "read_bytes", "read_text"):
        monkeypatch.setattr(Path, name, refuse(getattr(Path, name)))
    message = "beyondchance: ada.conll: cannot be read (permission denied)"
    assert refused("agree", "ada.conll", "ben.conll") == (1, message)


def test_labels_of_one_annotator_are_a_note(run):
    code, out, err = run("agree", "lonely.csv")
    assert code == 0
    assert "\nada and ben: 1 document, 4 spans; " in out
    said = "labels that one annotator alone uses, so that nothing can match them"
    remedy = "--rename-label merges labels, --exclude-labels leaves them out"
    assert err.splitlines() == [
        "each may be one label under two names: 'PER/PERSON'",
        "lonely.csv: read as table",
        f"{said}: 'PER' by 'ada'; 'PERSON' by 'ben'; {remedy}",
    ]
    code, _, err = run("agree", "lonely.csv", "--quiet")
    assert (code, err) == (0, "")


# --- Commands that are called wrongly -----------------------------------------

WRITTEN = "table, conll, brat, spacy, label-studio, doccano, prodigy, webanno-tsv, uima, bioc"
USAGE = {
    "agree": "no files; expected at least one, or - for standard input",
    "rank": "no files; expected at least one, or - for standard input",
    "difficulty": "no files; expected at least one, or - for standard input",
    "disagreements": "no files; expected at least one, or - for standard input",
    "consensus": "no files; expected at least one, or - for standard input",
    "adjudicate --decisions x": "no files; expected at least one, or - for standard input",
    "adjudicate spans.csv": "missing option '--decisions'",
    "adjudicate spans.csv --decisions x --compare --save y": (
        "--compare writes no gold standard; leave out --save"
    ),
    "consensus spans.csv --to brat": "--to is for what --save writes; say where to write it",
    "consensus spans.csv --save x.odd": f"which format? pass --to with one of {WRITTEN}",
    "consensus spans.csv --with-annotators": (
        "--with-annotators is for what --save writes; say where to write it"
    ),
    "consensus spans.csv --weights ada": (
        "invalid value for '--weights': 'ada' is neither agreement nor NAME=NUMBER, several "
        "separated by commas"
    ),
    "disagreements spans.csv --to brat": "--to is for what --save writes; say where to write it",
    "convert --to table": "no files; expected at least one, or - for standard input",
    "convert spans.csv": f"which format? pass --to with one of {WRITTEN}",
    "convert spans.csv --save x.odd": f"which format? pass --to with one of {WRITTEN}",
    "convert spans.csv --to brat": "brat cannot be printed; pass --save to write a file",
    "convert spans.csv --to spacy": "spacy cannot be printed; pass --save to write a file",
    "agree - -": "standard input was given twice; expected '-' once",
    "rank - ada.conll": "standard input cannot be the gold standard; give it a file",
    "agree spans.csv --labels PER --exclude-labels PER": (
        "--exclude-labels does not go with --labels; expected one of them"
    ),
    "agree spans.csv --measure tokn": (
        "invalid value for '--measure': 'tokn' is not one of "
        f"{', '.join(MEASURES)}; did you mean token?"
    ),
    "agree spans.csv --measure colour": (
        f"invalid value for '--measure': 'colour' is not one of {', '.join(MEASURES)}"
    ),
    "agree spans.csv --output jsn": (
        "invalid value for '--output': 'jsn' is not one of text, json, csv, markdown, latex; "
        "did you mean json?"
    ),
    "disagreements spans.csv --output jsnl": (
        "invalid value for '--output': 'jsnl' is not one of text, json, csv, markdown, latex, "
        "jsonl; did you mean jsonl?"
    ),
    "agree spans.csv --scheme IOB3": (
        "invalid value for '--scheme': 'IOB3' is not one of IOB2, IOB1, IO, BIOES, BILOU, BMES; "
        "did you mean IOB2?"
    ),
    "convert spans.csv --to brt": (
        f"invalid value for '--to': 'brt' is not one of {WRITTEN}; did you mean brat?"
    ),
    "agree spans.csv --rename-label PER": (
        "invalid value for '--rename-label': 'PER' is not a renaming; expected OLD=NEW"
    ),
    "agree spans.csv --gamma alpha": (
        "invalid value for '--gamma': 'alpha' is not NAME=NUMBER, several separated by commas"
    ),
    "agree spans.csv --labels PER,,LOC": (
        "invalid value for '--labels': 'PER,,LOC' has an empty name; expected names separated "
        "by commas"
    ),
    "agree spans.csv --fail-under nan": (
        "invalid value for '--fail-under': 'nan' is not a score; expected a number up to 1, "
        "such as 0.7"
    ),
    "agree spans.csv --fail-under 70": (
        "invalid value for '--fail-under': '70' is not a score; expected a number up to 1, such as "
        "0.7"
    ),
    "agree spans.csv --rename-label PER=A --rename-label PER=B": (
        "--rename-label was given twice for one name; expected one new name"
    ),
    "agree spans.csv --exclude-labels PER": ("--exclude-labels leaves no label; expected fewer"),
    "place --length 10 --spans 5,x": (
        "invalid value for '--spans': '5,x' is not a list of lengths; expected lengths such as "
        "1,5,10"
    ),
    "place --length 10 --spans 5,6": (
        "invalid value for '--spans': spans of total length 11 cannot be placed in a text of 10 "
        "positions; expected no more than the text holds"
    ),
    "place --length 10 --spans 11 --model overlapping": (
        "invalid value for '--spans': a span of length 11 cannot be placed in a text of 10 "
        "positions; expected no more than the text holds"
    ),
    "agree spans.csv --methods --output csv": (
        "--methods cannot be shown in a list of rows (csv); choose another --output"
    ),
    "difficulty spans.csv --methods --save x.csv": (
        "--methods cannot be shown in a list of rows (csv); choose another --output"
    ),
    "place --spans 5": "missing option '--length'",
    "place --length 10": "missing option '--spans'",
}
OPTION = {
    "rank spans.csv": (
        "no gold standard is known; name one of the annotators with --gold NAME: 'ada', 'ben'"
    ),
    "agree spans.csv --documents letters": (
        "--documents is 'letters'; expected the path of a table of documents"
    ),
    "agree ada.conll ada.conll": "ada.conll was given twice; expected different files",
    "agree spans.csv --unit sentence": "a table has no sentences; pass --unit document",
    "disagreements spans.csv --kind mised": (
        "unknown kind 'mised'; did you mean missed? choose one of: agree, label, boundary, both, "
        "missed, extra"
    ),
    "disagreements spans.csv --label ORG": "unknown label 'ORG'; choose one of: 'PER'",
    "consensus spans.csv --measure exact": (
        "--measure is 'exact'; expected it with --method best only"
    ),
    "consensus spans.csv --weights eve=2": ("unknown annotator 'eve'; choose one of: 'ada', 'ben'"),
    "place --length 10 --spans 1,2 --plot x.gif": (
        "a figure cannot end with '.gif'; expected .svg: other programs convert it, as "
        "rsvg-convert -f pdf -o figure.pdf figure.svg"
    ),
    "place --length 10 --spans 1,2 --plot x": (
        "a figure cannot end with ''; expected .svg: other programs convert it, as "
        "rsvg-convert -f pdf -o figure.pdf figure.svg"
    ),
}


def test_wrong_usage(refused):
    for command, said in USAGE.items():
        name = command.split()[0]
        line = f"beyondchance {name}: {said}{see(name)}"
        assert refused(*command.split()) == (2, line), command


def test_options_that_do_not_fit(refused):
    for command, said in OPTION.items():
        assert refused(*command.split()) == (2, f"beyondchance: {said}"), command


CLICK = [
    ("agree spans.csv --mesure token", "agree: no such option.*--mesure.*--measure.*"),
    ("agree spans.csv --exclude-label PER", "agree: no such option.*--exclude-labels.*"),
    ("rank spans.csv --split-by-dificulty 1", "rank: no such option.*--split-by-difficulty.*"),
    ("agree spans.csv --save letters", "agree: invalid value for '--save': .*letters.*"),
    ("agree spans.csv --fail-under x", "agree: invalid value for '--fail-under': 'x' .*"),
    ("agree spans.csv --digits 99", "agree: invalid value for '--digits': 99 .*1<=x<=15"),
    ("place --length 0 --spans 1", "place: invalid value for '--length': 0 .*x>=1"),
    ("formats letter.txt", "formats: .*unexpected extra argument.*letter.txt.*"),
]


def test_wrong_usage_in_the_words_of_click(refused):
    for command, pattern in CLICK:
        code, line = refused(*command.split())
        assert code == 2
        end = re.escape(see(command.split()[0]))
        assert re.fullmatch(f"beyondchance {pattern}{end}", line), command


def test_an_option_without_its_value_names_the_command(refused):
    code, line = refused("agree", "spans.csv", "--measure")
    assert code == 2
    assert re.fullmatch(r"beyondchance agree: .*'--measure'.*\(see 'beyondchance agree .*", line)


UNKNOWN_NAMES = [
    ("rounds.csv --by rund", "unknown field .*'rund'; choose one of: 'round'"),
    # Where there are no fields, none can be listed.
    ("ada.conll ben.conll --by rund", r"unknown field .*'rund'; .*\w"),
    ("spans.csv --coefficients kapa", "unknown coefficient 'kapa'; .*, kappa, .*"),
    ("spans.csv --coefficients gamma --gamma alfa=1", "unknown .* 'alfa'; .*: alpha, .*"),
]


def test_unknown_names(refused):
    for command, pattern in UNKNOWN_NAMES:
        code, line = refused("agree", *command.split())
        assert code == 2
        assert re.fullmatch(f"beyondchance: {pattern}", line), command


def test_an_unknown_command(refused):
    for command, hint in (
        ("agre", "did you mean agree?"),
        ("convrt", "did you mean convert?"),
        ("colour", f"choose from: {', '.join(COMMANDS)}"),
    ):
        message = f"beyondchance: no command '{command}'; {hint} (see 'beyondchance --help')"
        assert refused(command, "spans.csv") == (2, message)


def test_no_command_at_all(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: beyondchance ")
    assert "  beyondchance agree anna.conll ben.conll     two annotators\n" in err


# --- Scores below the bar -----------------------------------------------------


BELOW = [
    ("agree elsewhere.csv --fail-under 0.5", r"the corrected score is -1\.\d{4}, below 0\.5"),
    (
        "agree nothing.csv --fail-under 0",
        "the corrected score is undefined: nothing was marked by either",
    ),
    (
        "agree everything.csv --fail-under 0",
        (
            "the corrected score is undefined: chance agreement is 1: every random "
            "arrangement agrees completely"
        ),
    ),
    (
        "rank elsewhere.csv --gold ada --fail-under 0.5",
        r"the corrected score of ben is -1\.\d{4}, below 0\.5",
    ),
]


def test_a_score_below_the_bar(run):
    # The result is printed all the same: it is not wrong, only low.
    for command, pattern in BELOW:
        code, out, err = run(*command.split(), "--quiet")
        assert code == 3
        assert re.fullmatch(pattern, one_line(err)), command
        assert run(*command.split()[:-2], "--quiet") == (0, out, "")


def test_a_score_at_the_bar(run):
    code, _, err = run("agree", "spans.csv", "--fail-under", "1", "--quiet")
    assert (code, err) == (0, "")


# --- Places to write to -------------------------------------------------------

NO_FOLDER = "its folder does not exist; make it first"
IS_THERE = "exists already; expected a new folder or an empty one"
PLACES = {
    "agree spans.csv --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "rank spans.csv --gold ada --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "difficulty spans.csv --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "formats --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "place --length 9 --spans 1 --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "place --length 9 --spans 1 --plot none/x.svg": f"none/x.svg: {NO_FOLDER}",
    "place --length 9 --spans 1 --plot x.svg --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "convert spans.csv --to table --save none/x.txt": f"none/x.txt: {NO_FOLDER}",
    "convert spans.csv --to table --save letters": (
        "letters: is a folder; expected the name of a file"
    ),
    "convert ada.conll --to brat --save letters/": f"letters/: {IS_THERE}",
    "demo --files letters": f"letters/: {IS_THERE}",
    "demo --files none/demo": f"none/demo/: {NO_FOLDER}",
}


def test_nowhere_to_write(refused):
    for command, said in PLACES.items():
        assert refused(*command.split()) == (1, f"beyondchance: {said}"), command


class Full(io.RawIOBase):
    """A device without room."""

    def writable(self):
        return True

    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")


PRINTING = ("agree spans.csv", "convert spans.csv --to table", "formats")


def test_no_room_on_standard_output(capsys, monkeypatch):
    for command in PRINTING:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(Full(), write_through=True))
            code = main([*command.split(), "--quiet"])
        line = one_line(capsys.readouterr().err)
        assert code == 1
        assert re.fullmatch("beyondchance: .*no space left on device.*", line, re.IGNORECASE)


def test_no_room_on_standard_error(capsys, monkeypatch):
    for words, expected in (("agree spans.csv", 0), ("agree none.csv", 1), ("agree --nothing", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", io.TextIOWrapper(Full(), write_through=True))
            assert main(words.split()) == expected, words
        assert (capsys.readouterr().out != "") == (expected == 0)


# --- Standard input -----------------------------------------------------------


def test_standard_input(run, monkeypatch):
    code, expected, _ = run("agree", "spans.csv")
    give(monkeypatch, FILES["spans.csv"])
    assert run("agree", "-") == (code, expected, "stdin: read as table\n")


@pytest.mark.slow
def test_standard_input_as_one_of_the_annotators(run, monkeypatch):
    give(monkeypatch, FILES["ada.conll"])
    code, out, _ = run("agree", "-", "ben.conll")
    assert code == 0
    assert out.startswith("Agreement of stdin and ben is complete")


def test_empty_standard_input(refused):
    message = "beyondchance: stdin: is empty; expected annotations"
    assert refused("agree", "-") == (1, message)


def test_closed_standard_input(refused, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, line = refused("agree", "-")
    assert code in {1, 2}
    assert re.fullmatch("beyondchance.*: .*(stdin|standard input).*", line)


# --- Readers who go away ------------------------------------------------------

LARGE = HEADER + "".join(f"d{n},ada,0,4,PER,9\nd{n},ben,0,4,PER,9\n" for n in range(9999))


def started(*args, **streams):
    """Start a process of its own, whose output is buffered as it is by default."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "beyondchance", *args]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **streams)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", "convert spans.csv --to table -q"])
def test_a_pipe_that_nobody_reads(command):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe, started(*command.split(), stdout=pipe) as running:
        assert running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.slow
def test_a_pipe_of_which_the_first_line_is_read(folder):
    (folder / "large.csv").write_text(LARGE)
    command = ("convert", "large.csv", "--to", "table", "--quiet")
    with started(*command, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == HEADER.encode()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_closed_standard_output(capsys, monkeypatch):
    for command in PRINTING:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", None)
            code = main([*command.split(), "--quiet"])
        closed = "beyondchance: the result cannot be written (standard output is closed)\n"
        assert capsys.readouterr().err == closed
        assert code == 1, command


def test_closed_standard_error(capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        code = main(["agree", "spans.csv"])
    assert code == 0
    assert capsys.readouterr().out.startswith("Agreement of ada and ben ")


# --- Interruptions ------------------------------------------------------------


def interrupt(*args, **_):
    """Begin to write, if that was asked for, and be stopped."""
    if args and isinstance(args[0], Path):
        args[0].touch()
    raise KeyboardInterrupt


STOPPED = [
    ("agree spans.csv", "beyondchance.cli.scanning.load"),
    ("agree spans.csv", "beyondchance.cli.running.rendered"),
    ("agree spans.csv --save x.txt", "beyondchance.cli.running.rendered"),
    ("agree spans.csv --save x.txt", "beyondchance.io.saving._write"),
    ("agree spans.csv --save x.txt", "pathlib.Path.replace"),
    ("rank spans.csv --gold ada", "beyondchance.scoring.asked.answer"),
    ("difficulty spans.csv", "beyondchance.scoring.asked.answer"),
    ("convert spans.csv --to table", "beyondchance.cli.writing.write"),
    ("convert spans.csv --save x.csv", "pathlib.Path.replace"),
    ("convert ada.conll --to conll --save x/", "pathlib.Path.replace"),
    ("place --length 9 --spans 1", "beyondchance.cli.place.coverage"),
]


@pytest.mark.slow
def test_an_interruption_leaves_nothing_behind(run, folder, monkeypatch):
    before = listing(folder)
    for command, place in STOPPED:
        module, _, name = place.rpartition(".")
        if module != "pathlib.Path":
            run(*command.split()[:1], "--help")  # a command is imported when it is called
        with monkeypatch.context() as patch:
            patch.setattr(
                Path if module == "pathlib.Path" else sys.modules[module], name, interrupt
            )
            code, out, err = run(*command.split())
        assert (code, out) == (130, ""), (command, place)
        # At most the line break after the ^C of the terminal, below notes.
        assert err.splitlines()[-1:] in ([""], [])
        assert "Traceback" not in err
        assert listing(folder) == before, (command, place)


# --- What is not installed, and what went wrong -------------------------------


@pytest.fixture
def uninstalled(monkeypatch):
    """Make a library look as if it were not there."""

    @contextmanager
    def remover(library):
        class Absent(MetaPathFinder):
            def find_spec(self, name, *_):
                if name.partition(".")[0] == library:
                    raise ModuleNotFoundError(f"No module named {library!r}", name=library)

        with monkeypatch.context() as patch:
            for name in [name for name in sys.modules if name.partition(".")[0] == library]:
                patch.delitem(sys.modules, name)
            patch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
            yield

    return remover


ABSENT = [
    ("pyarrow", "parquet", "agree spans.parquet"),
    ("pyarrow", "parquet", "convert spans.csv --save x.parquet"),
    ("spacy", "spacy", "convert ada.conll --save x.spacy"),
    ("cassis", "uima", "convert ada.conll --to uima --save x/"),
    ("jinja2", "report", "report spans.csv -o x.html"),
]


def test_a_missing_library(refused, uninstalled):
    for library, extra, command in ABSENT:
        with uninstalled(library):
            code, line = refused(*command.split())
        assert code == 1
        assert re.fullmatch(
            rf"beyondchance: .* needs the library {distribution(library)} .*; install it with: .*"
            + " ".join(re.escape(f'"{entry}"') for entry in requirements(extra)),
            line,
        ), command


def test_too_little_memory(refused, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("beyondchance.cli.scanning.load", exhausted)
    message = "beyondchance: not enough memory for these files"
    assert refused("agree", "spans.csv") == (1, message)


def test_a_defect_is_one_line_without_what_it_met(run, monkeypatch):
    def defective(*_, **__):
        raise ZeroDivisionError("Anna saw Bonn")

    monkeypatch.setattr("beyondchance.cli.scanning.load", defective)
    code, out, err = run("agree", "spans.csv")
    assert (code, out) == (1, "")
    assert re.fullmatch(
        r"beyondchance: a defect of beyondchance [\w.]+ \(ZeroDivisionError at \w+\.py:\d+\); "
        "please report it with .*\n",
        err,
    )
    assert "Anna" not in err
