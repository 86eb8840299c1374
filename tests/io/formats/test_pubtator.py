"""PubTator: titles and abstracts, lines of annotations, and what is wrong."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import pubtator
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_tells

pytestmark = pytest.mark.usefixtures("by_characters")

#        0         1         2
#        012345678901234567890123456
TITLE = "Zinc in mice"
BODY = "Mice had no zinc."
HEAD = f"7|t|{TITLE}\n7|a|{BODY}\n"
ZINC = "7\t0\t4\tZinc\tChemical\tMESH:D1\n"
LAST = "7\t25\t29\tzinc\tChemical\t\n"
EXPECTED = [(0, 4, "Chemical"), (25, 29, "Chemical")]


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "anna.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return bc.read(path, **options)

    return read


# --- Valid --------------------------------------------------------------------


def test_a_document(read):
    corpus = read(HEAD + ZINC + LAST)
    assert corpus.documents == ("7",)
    assert corpus.annotators == ("anna",)
    assert corpus.spans("7", "anna") == EXPECTED
    assert corpus.texts == (f"{TITLE}\n{BODY}",)
    assert corpus.skipped == {}


@each(
    "content",
    [
        HEAD.replace(TITLE, f"{TITLE}  ") + ZINC + LAST,
        "\n\n" + HEAD + "\n" + ZINC + LAST + "\n\n",
        (HEAD + ZINC + LAST).replace("\n", "\r\n"),
        "\ufeff" + HEAD + ZINC + LAST,
        (HEAD + ZINC + LAST).rstrip("\n"),
        (HEAD + ZINC + LAST).encode("utf-16"),
    ],
)
def test_the_same_written_differently(read, content):
    corpus = read(content)
    assert corpus.spans("7", "anna") == EXPECTED
    assert corpus.texts == (f"{TITLE}\n{BODY}",)


def test_several_documents(read):
    corpus = read(
        HEAD + ZINC + "\n8|t|Iron\n8|a|\n\nx-9|t|\nx-9|a|Iron\nx-9\t1\t5\tIron\tChemical\n"
    )
    assert corpus.documents == ("7", "8", "x-9")
    assert corpus.texts[1:] == ("Iron", "\nIron")
    assert corpus.spans("8", "anna") == []
    assert corpus.spans("x-9", "anna") == [(1, 5, "Chemical")]


def test_documents_without_blank_lines_between(read):
    assert read(HEAD + ZINC + "8|t|Iron\n8\t0\t4\tIron\tX\n").documents == ("7", "8")


def test_relations_and_other_lines_are_counted(read):
    corpus = read(HEAD + ZINC + "7\tCID\tD1\tD2\n7\tBind\tD1\tD2\tNovel\n7\tzinc\tiron\n")
    assert corpus.spans("7", "anna") == EXPECTED[:1]
    assert corpus.skipped == {"relations ignored": 2, "lines without offsets ignored": 1}


@each("cell", ["", "\t", "\tp|SUB|P|29|S\tRSID:1", "\t|DEL|7|A", "\tc|FS|R||"])
def test_an_annotation_without_a_type(read, cell):
    corpus = read(f"{HEAD}7\t0\t4\tZinc{cell}\n{LAST}")
    assert corpus.spans("7", "anna") == [(0, 4, "_"), (25, 29, "Chemical")]
    assert corpus.skipped == {"annotations without a type, labelled '_'": 1}


def test_normalised_words_are_counted(read):
    corpus = read(HEAD + ZINC + LAST.replace("zinc", "ZN"))
    assert corpus.spans("7", "anna") == EXPECTED
    assert corpus.skipped == {"spans whose stored words differ from the text": 1}


def test_offsets_that_count_utf16_units(read):
    corpus = read("7|t|😀 Zinc\n7|a|\n7\t3\t7\tZinc\tChemical\n")
    assert corpus.spans("7", "anna") == [(2, 6, "Chemical")]
    assert_tells(corpus.notes[-1], "offsets … UTF-16")


def test_one_file_each_and_a_folder(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.pubtator").write_text(HEAD + ZINC)
        (tmp_path / name / "b.txt").write_text("8|t|Iron\n8|a|is heavy\n")
        (tmp_path / name / "LICENSE").write_text("free")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben")
    assert corpus.annotators_of("7") == corpus.annotators_of("8") == ("anna", "ben")
    assert corpus.skipped == {"files of other formats ignored": 2}


# --- Wrong --------------------------------------------------------------------


@each(
    ("content", "message"),
    [
        (
            ZINC,
            ":1: … '7\\t0\\t4\\tZinc\\tChemical\\tMESH:D1' … title … 'ID|t|TITLE'",
        ),
        (
            HEAD + "8\t0\t4\tZinc\tX\n",
            ":3: … '8\\t0\\t4\\tZinc\\tX' … '7<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE' … another",
        ),
        (
            HEAD + "Zinc\n",
            ":3: … 'Zinc' … '7<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE' … another",
        ),
        (HEAD + "7|a|more\n", ":3: … abstract … '7'"),
        (
            HEAD + "7\t-1\t4\tZinc\tX\n",
            ":3: … offsets … '-1' … '4' … 'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'",
        ),
        (
            HEAD + "7\t1\tx\tZinc\tX\n",
            ":3: … offsets … '1' … 'x' … 'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'",
        ),
        (
            HEAD + "7\t1.5\t4\tZinc\tX\n",
            ":3: … offsets … '1.5' … '4' … 'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'",
        ),
        (
            HEAD + "7\t1\n",
            ":3: … offsets … '1' … 'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'",
        ),
        (
            HEAD + "7\t1\t5\tZinc\tX\n7\t9\t13\tzinc\tX\n",
            ":3: … [1, 5) … 'X' … 'Zinc' … 2 of 2",
        ),
        (
            HEAD + ZINC + "7\t24\t28\tzinc\tX\n",
            ":4: … [24, 28) … 'X' … covers … ' zin' … 'zinc'",
        ),
        (
            HEAD + ZINC + "7\t28\t99\tzinc\tX\n",
            ":4: … [28, 99) … 'X' … 30 … characters",
        ),
        ("", ": … document … 'ID|t|TITLE'"),
        ("\t0\t4\tZinc\tX\n", ":1: … title … 'ID|t|TITLE'"),
    ],
)
def test_wrong(tmp_path, content, message):
    (tmp_path / "anna").write_text(content)
    with pytest.raises(bc.DataError) as caught:
        bc.read(tmp_path / "anna", format="pubtator")
    assert_tells(caught.value, f"{tmp_path / 'anna'}{message}")


# --- Detection ----------------------------------------------------------------


def upload(content):
    return Upload("anna", "anna", [Source("anna", member=content.encode())])


@each("content", [HEAD, "\n" + HEAD, "7|t|x", f"7|t|{'x ' * 2**16}", f"7|t|x\n{ZINC}"])
def test_detected(content):
    assert pubtator.is_format(upload(content))


@each(
    "content",
    ["", "x", f"7|a|{BODY}", "a|t|b O\nword O", ZINC, "a b|t|c\na b|a|d"],
)
def test_not_detected(content):
    assert not pubtator.is_format(upload(content))


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_files_give_only_our_errors(data):
    content = (HEAD + ZINC + LAST + "7\tCID\tD1\tD2\n\n8|t|😀 Iron\n8\t2\t6\tIron\tX\n").encode()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        new = st.binary(max_size=3) | st.sampled_from([b"\t", b"\n", b"|", b"9", b"-", b"|t|"])
        content = content[:place] + data.draw(new) + content[place + length :]
    reading = Reading(ReadOptions(offsets=data.draw(st.sampled_from([None, "bytes"]))))
    with suppress(bc.BeyondChanceError):
        drafts = pubtator.read([Upload("a", "a", [Source("a", member=content)])], reading)
        assembled(drafts, reading, unit="document", positions="characters")
