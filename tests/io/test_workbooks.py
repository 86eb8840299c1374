"""Sheets of Excel workbooks, read like CSV."""

import pytest

import beyondchance as bc
from each import each
from every_format import as_csv, workbook, zipped
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

pytest.importorskip("python_calamine")

SPANS = [
    ["document", "annotator", "start", "end", "label", "text"],
    ["a", "x", 0, 3, "PER", "Ada sat"],
    ["a", "y", 0, 7, "PER", "Ada sat"],
]
TOKENS = [
    ["sentence", "word", "gold", "predicted"],
    [1, "Ada", "B-PER", "B-PER"],
    [1, "sat", "O", "O"],
]


def saved(folder, content, name="book.xlsx"):
    (folder / name).write_bytes(content)
    return folder / name


def test_the_same_as_csv(tmp_path):
    rows = [*SPANS, [12, "x", None, None, None, "Bob, ran\nhome"], [12, "y", 1, 2.0, "Q", ""]]
    book = bc.read(saved(tmp_path, workbook(Spans=rows)))
    table = bc.read(saved(tmp_path, as_csv(rows), "book.csv"))
    assert book.documents == table.documents == ("a", "12")
    assert book.texts == table.texts
    for corpus in (book, table):
        assert corpus.spans("12", "y") == [(1, 2, "Q")]
        assert corpus.spans("a", "y") == [(0, 7, "PER")]
    assert book.inputs[0].sha256 != table.inputs[0].sha256


def test_the_sheet_with_a_header(tmp_path):
    content = workbook(Empty=[], Remarks=[["see the other sheet"]], Spans=SPANS)
    assert bc.read(saved(tmp_path, content)).annotators == ("x", "y")


def test_a_workbook_without_sheets_is_refused(tmp_path):
    with refused(bc.FormatError, "book.xlsx: the workbook has no sheets"):
        bc.read(saved(tmp_path, workbook()))


def test_several_sheets(tmp_path):
    path = saved(tmp_path, workbook(Spans=SPANS, Tokens=TOKENS))
    with refused(bc.FormatError, "book.xlsx: … 'Spans', 'Tokens'", use="layer"):
        bc.read(path)
    assert bc.read(path, layer="Spans").annotators == ("x", "y")
    tokens = bc.read(path, layer="Tokens", positions=None)
    assert tokens.annotators == ("gold", "predicted")
    assert tokens.positions == "tokens"
    with refused(bc.OptionError, "'Others' … 'Spans', 'Tokens'"):
        bc.read(path, layer="Others")


def test_a_row_for_each_text(tmp_path):
    rows = [["text", "anna", "ben"], ["Ada sat", "B-PER O", "O O"]]
    assert bc.read(saved(tmp_path, workbook(Wide=rows))).annotators == ("anna", "ben")


def test_a_table_of_documents(tmp_path):
    texts = saved(tmp_path, workbook(Texts=[["document", "text"], ["a", "Ada sat"]]), "texts.xlsx")
    rows = [row[:5] for row in SPANS]
    corpus = bc.read(saved(tmp_path, workbook(Spans=rows)), documents=texts)
    assert corpus.texts == ("Ada sat",)


def test_rows_are_numbered_as_in_the_sheet(tmp_path):
    rows = [*SPANS, ["b", "x", 0, 3, "PER", "Bob\nran"], ["b", "y", 0, 99, "PER", "Bob\nran"]]
    with refused(bc.SpanError, "book.xlsx:5: … [0, 99) 'PER'", use="bad_rows"):
        bc.read(saved(tmp_path, workbook(Spans=rows)))


def test_a_cell_far_away(tmp_path):
    """Cells between them would take gigabytes."""
    far = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    far += '<row r="1"><c r="A1"><v>1</v></c></row><row r="9"><c r="XFD1048576"><v>1</v></c></row>'
    files = {"xl/workbook.xml": b"", "xl/worksheets/sheet1.xml": far.encode()}
    with refused(bc.FormatError, "book.xlsx: … 16,384 … 1,048,576"):
        bc.read(saved(tmp_path, zipped(files)))


@each("files", [{"xl/workbook.xml": b""}, {"xl/workbook.xml": b"<workbook/>", "x": b"r"}])
def test_broken(tmp_path, files):
    with refused(bc.FormatError, "book.xlsx: …"):
        bc.read(saved(tmp_path, zipped(files)))


def test_cut_off(tmp_path):
    with pytest.raises(bc.FormatError):
        bc.read(saved(tmp_path, workbook(Spans=SPANS)[:300]))


def test_tables_of_text_have_no_sheets(tmp_path):
    with refused(bc.OptionError, "layer"):
        bc.read(saved(tmp_path, as_csv(SPANS), "book.csv"), layer="Spans")
