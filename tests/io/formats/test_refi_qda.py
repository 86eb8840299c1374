"""REFI-QDA: users, codes, texts, what positions count, and what is refused."""

import contextlib
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import refi_qda
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from every_format import Annotations, refi_qda as built, zipped
from examples import examples
from refusals import assert_tells

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo."
USERS = (
    '<Users><User guid="U-1" name="Anna"/><User guid="U-2" name="Ben"/><User guid="U-3"/></Users>'
)
CODES = (
    '<CodeBook><Codes><Code guid="C-1" name="Person" isCodable="true">'
    '<Code guid="C-2" name="Friend"/></Code><Code guid="C-3" name="Place"/></Codes></CodeBook>'
)


def coding(code="C-1", user="U-1"):
    by = f' creatingUser="{user}"' if user else ""
    return f'<Coding guid="k"{by}><CodeRef targetGUID="{code}"/></Coding>'


def selection(start, end, *codings, name="", user=""):
    by = f' creatingUser="{user}"' if user else ""
    inner = "".join(codings or [coding()])
    return (
        f'<PlainTextSelection guid="s-{start}" name={quoteattr(name)}{by} '
        f'startPosition="{start}" endPosition="{end}">{inner}</PlainTextSelection>'
    )


def source(*selections, name="letter.txt", guid="t-1", path="internal://t-1.txt", more=""):
    where = f' plainTextPath="{path}"' if path else ""
    return (
        f'<TextSource guid="{guid}" name="{name}"{where}>{more}{"".join(selections)}</TextSource>'
    )


def project(*sources, users=USERS, codes=CODES, origin="NVivo 12", more=""):
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<Project name="p" origin="'
        f'{origin}" xmlns="urn:QDA-XML:project:1.0">{users}{codes}'
        f"<Sources>{''.join(sources)}</Sources>{more}</Project>"
    )


def packed(content, texts=(("t-1.txt", TEXT),), file="project.qde", folder="sources"):
    files = {f"{folder}/{name}": text.encode() for name, text in texts}
    return zipped({file: content.encode(), **files})


@pytest.fixture
def read(tmp_path):
    def reader(*contents, **options):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"p{number + 1}.qdpx")
            made = packed(content) if isinstance(content, str) else content
            paths[-1].write_bytes(made)
        return bc.read(*paths, **{"format": "refi-qda", **options})

    return reader


# --- Users and codes ----------------------------------------------------------


def test_users_are_annotators_and_codes_are_labels(read):
    corpus = read(
        project(source(selection(0, 3), selection(8, 10, coding(user="U-2"), coding("C-3"))))
    )
    assert corpus.annotators == ("Anna", "Ben")
    assert corpus.documents == ("letter.txt",)
    assert corpus.spans("letter.txt", "Anna") == [(0, 3, "Person"), (8, 10, "Place")]
    assert corpus.spans("letter.txt", "Ben") == [(8, 10, "Person")]


def test_the_user_of_a_coding_counts_more_than_that_of_its_selection(read):
    mine, theirs = selection(0, 3, coding(user=""), user="U-2"), selection(8, 10, user="U-2")
    corpus = read(project(source(mine, theirs)))
    assert corpus.spans("letter.txt", "Ben") == [(0, 3, "Person")]
    assert corpus.spans("letter.txt", "Anna") == [(8, 10, "Person")]


def test_users_without_a_name_have_their_identifier(read):
    codings = [coding(user="U-3"), coding(user="U-9"), coding(user="")]
    assert read(project(source(selection(0, 3, *codings)))).annotators == ("U-3", "u-9", "p1")


def test_users_of_one_name_are_told_apart(read):
    users = '<Users><User guid="U-1" name="A"/><User guid="U-2" name="A"/></Users>'
    corpus = read(project(source(selection(0, 3, coding(), coding(user="U-2"))), users=users))
    assert corpus.annotators == ("A (U-1)", "A (U-2)")


def test_codes_of_one_name_are_labelled_by_their_path(read):
    codes = CODES.replace('name="Friend"', 'name="Place"')
    marks = [selection(0, 3, coding("C-2")), selection(8, 10), selection(14, 18, coding("c-3"))]
    corpus = read(project(source(*marks), codes=codes))
    labels = [label for *_, label in corpus.spans("letter.txt", "Anna")]
    assert labels == ["Person/Place", "Person", "Place"]


def test_a_user_who_coded_nothing_in_a_source_did_not_annotate_it(read):
    texts = [("t-1.txt", TEXT), ("t-2.txt", "Bo left."), ("t-3.txt", "Nothing.")]
    content = project(
        source(selection(0, 3), selection(8, 10, coding(user="U-2"))),
        source(selection(0, 2), guid="t-2", name="two", path="internal://t-2.txt"),
        source(guid="t-3", name="three", path="internal://t-3.txt"),
    )
    corpus = read(packed(content, texts))
    assert corpus.documents == ("letter.txt", "two")
    assert corpus.annotators_of("two") == ("Anna",)
    assert corpus.skipped == {"texts without a coded selection left out": 1}


def test_what_is_not_a_coded_selection_of_a_text_is_counted(read):
    content = project(
        source(
            selection(0, 3),
            selection(1, 3, "<Description>memo</Description>"),
            selection(4, 6, coding("C-9")),
            selection(4, 6, coding("K-1")),
            more=coding(),
        ),
        f'<PictureSource guid="x"><PictureSelection>{coding()}</PictureSelection></PictureSource>',
        "<VideoSource><VideoSelection/><Transcript><TranscriptSelection/></Transcript></VideoSource>",
        "<AudioSource><AudioSelection/></AudioSource><PDFSource><PDFSelection/></PDFSource>",
        "<NewSource><NewSelection/></NewSource>",
        more=(
            '<Cases><Case guid="k-1"/></Cases><Notes><Note/><Note/></Notes><Links><Link/></Links>'
        ),
    )
    assert read(content).skipped == {
        "selections in pictures ignored": 1,
        "selections in recordings ignored": 2,
        "selections of times in transcripts ignored": 1,
        "selections of areas in PDF pages ignored": 1,
        "selections of other kinds ignored": 1,
        "codes of entire sources ignored": 1,
        "notes ignored": 2,
        "links ignored": 1,
        "selections without a code ignored": 1,
        "codings by codes that the project does not list left out": 1,
        "codings by cases ignored": 1,
    }


# --- Texts --------------------------------------------------------------------


@each(
    ("file", "folder", "path"),
    [
        ("Project.qde", "Sources", "internal://t-1.txt"),
        ("PROJECT.QDE", "sources", "internal://T-1.TXT"),
        ("a/project.qde", "a/sources", "internal:/t-1.txt"),
    ],
)
def test_names_of_files_in_any_case(read, file, folder, path):
    content = packed(project(source(selection(0, 3), path=path)), file=file, folder=folder)
    assert read(content).texts == (TEXT,)


def test_a_text_may_be_inside_of_the_project(tmp_path):
    inline = f"<PlainTextContent>{TEXT}</PlainTextContent>"
    path = tmp_path / "anna.qde"
    path.write_text(project(source(selection(0, 3), path="", more=inline)))
    corpus = bc.read(path)
    assert corpus.texts == (TEXT,)
    assert corpus.inputs[0].format == "refi-qda"


def test_a_folder_holds_an_unpacked_project(tmp_path):
    (tmp_path / "p" / "Sources").mkdir(parents=True)
    (tmp_path / "p" / "project.qde").write_text(project(source(selection(0, 3))))
    (tmp_path / "p" / "Sources" / "t-1.txt").write_text(TEXT)
    assert bc.read(tmp_path / "p").texts == (TEXT,)


def test_a_folder_of_projects(tmp_path):
    (tmp_path / "p").mkdir()
    for user in ("U-1", "U-2"):
        content = packed(project(source(selection(0, 3, coding(user=user)))))
        (tmp_path / "p" / f"{user}.qdpx").write_bytes(content)
    (tmp_path / "p" / "readme.md").write_text("x")
    corpus = bc.read(tmp_path / "p")
    assert corpus.annotators == ("Anna", "Ben")
    assert corpus.skipped == {"files of other formats ignored": 1}


def test_the_text_that_stands_for_a_pdf_file_is_read(read):
    inner = f'<Representation guid="t-1" plainTextPath="internal://t-1.txt">{selection(0, 3)}'
    corpus = read(project(f'<PDFSource name="a.pdf" guid="p">{inner}</Representation></PDFSource>'))
    assert corpus.documents == ("a.pdf",)
    assert corpus.spans("a.pdf", "Anna") == [(0, 3, "Person")]


def test_sources_without_their_text_are_counted(read):
    lost = source(selection(0, 3), selection(4, 6), name="lost", guid="t", path="relative:///t.txt")
    corpus = read(project(source(selection(0, 3)), lost))
    assert corpus.documents == ("letter.txt",)
    assert corpus.skipped == {"selections of sources without their text left out": 2}


def test_sources_of_one_name_are_told_apart(read):
    again = source(selection(4, 6), guid="t-2")
    corpus = read(project(source(selection(0, 3)), again))
    assert corpus.documents == ("letter.txt (t-1)", "letter.txt (t-2)")


# --- Two projects -------------------------------------------------------------


def test_projects_of_two_people_are_matched_by_the_names_of_sources(read):
    one = project(source(selection(0, 3)))
    texts = [("x.txt", TEXT)]
    mark = selection(0, 3, coding(user="U-2"))
    two = packed(project(source(mark, guid="x", path="internal://x.txt")), texts)
    corpus = read(one, two)
    assert corpus.annotators == ("Anna", "Ben")
    assert bc.agreement(corpus).observed == 1


def test_one_user_in_two_projects_with_one_source_is_two_annotators(read):
    corpus = read(project(source(selection(0, 3))), project(source(selection(8, 10))))
    assert corpus.annotators == ("p1", "p2")
    assert_tells(corpus.notes[0], "'Anna' … projects … 'p1'")


def test_users_of_several_projects_have_the_name_of_the_project_before_theirs(read):
    both = selection(0, 3, coding(), coding(user="U-2"))
    corpus = read(project(source(both)), project(source(both)))
    assert corpus.annotators == ("p1/Anna", "p1/Ben", "p2/Anna", "p2/Ben")


def test_one_user_in_two_projects_with_different_sources_is_one_annotator(read):
    corpus = read(project(source(selection(0, 3))), project(source(selection(0, 3), name="two")))
    assert corpus.annotators == ("Anna",)


# --- Positions ----------------------------------------------------------------

LINES = "Ada met\r\nBo in\r\nOslo."


@each(
    ("origin", "marks", "said"),
    [
        # Oslo begins at 14 if a line end counts one, at 16 if it counts two.
        ("NVivo 12", [selection(16, 20)], "two characters"),
        ("ATLAS.ti 9", [selection(14, 18)], "one character"),
        ("NVivo 12", [selection(14, 18, name="Oslo")], "one character"),
        ("ATLAS.ti 9", [selection(16, 20, name="Oslo")], "two characters"),
        ("ATLAS.ti 9", [selection(16, 21)], "two characters"),
        ("MAXQDA", [selection(14, 18, name="Os…")], "one character"),
        ("MAXQDA", [selection(14, 18, name="Os...")], "one character"),
        ("MAXQDA", [selection(16, 20, name="some name")], "two characters"),
    ],
)
def test_line_ends_count_as_the_names_of_selections_show(read, origin, marks, said):
    content = project(source(*marks), origin=origin)
    corpus = read(packed(content, [("t-1.txt", LINES)]))
    assert corpus.texts == ("Ada met\nBo in\nOslo.",)
    ((start, end, _),) = corpus.spans("letter.txt", "Anna")
    assert corpus.texts[0][start:end] in {"Oslo", "Oslo."}
    assert_tells(corpus.notes, f"lines … {said}")


def test_positions_count_code_points_unless_names_show_otherwise(read):
    texts = [("t-1.txt", "😀\r\n😀 Ada")]
    for marks, options in [
        ([selection(5, 8)], {}),
        ([selection(5, 8, name="Ada")], {}),
        ([selection(7, 10, name="Ada")], {}),
        ([selection(7, 10)], {"offsets": "utf16"}),
    ]:
        corpus = read(packed(project(source(*marks)), texts), **options)
        ((start, end, _),) = corpus.spans("letter.txt", "Anna")
        assert corpus.texts[0][start:end] == "Ada"


@each(
    ("mark", "is_counted"),
    [
        (selection(14, 18), False),
        (selection(14, 18, name="Oslo"), False),
        (selection(15, 19, name="Oslo"), True),
    ],
)
def test_a_byte_order_mark_counts_if_names_show_it(read, mark, is_counted):
    corpus = read(packed(project(source(mark)), [("t-1.txt", "\ufeff" + TEXT)]))
    assert corpus.texts == (TEXT,)
    assert corpus.spans("letter.txt", "Anna") == [(14, 18, "Person")]
    assert ("positions count the byte order mark" in str(corpus.notes)) == is_counted


def test_the_builder_gives_the_spans_that_it_was_given(tmp_path):
    spans = {("1", "anna"): [(0, 2, "X"), (3, 4, "Y")], ("1", "ben"): [(3, 4, "X")]}
    data = Annotations({"1": ['Ada 😀 < "Bo"']}, spans)
    corpus = bc.read(*built(data).saved(tmp_path))
    for person in ("anna", "ben"):
        assert corpus.spans("1", person) == [span[:3] for span in data.marked("1", person)]


# --- What is refused ----------------------------------------------------------


@each(
    ("content", "message"),
    [
        (
            packed(project(source(selection(0, 3))), []),
            "p1.qdpx/project.qde: … 1 … sources … 'sources' … .qdpx",
        ),
        (
            project(source()),
            "p1.qdpx/project.qde: … coded",
        ),
        (
            project(source(selection("x", 3))),
            "p1.qdpx/project.qde: … 'letter.txt' … 's-x' … startPosition … 'x'",
        ),
        (
            project(source(selection(0, 99))),
            "p1.qdpx/project.qde: … 'letter.txt' … 's-0' … span … [0, 99) … 'Person' … 19",
        ),
        (
            "<Projects/>",
            "p1.qdpx/project.qde: … element … 'Projects'",
        ),
        (
            zipped({"a.qde": b"", "b.qde": b""}),
            "p1.qdpx: … 2 … project",
        ),
        (
            packed("<Project>"),
            "p1.qdpx/project.qde:1: … well-formed … 10",
        ),
        (
            zipped({"project.qde": project().encode(), "../x": b""}),
            "p1.qdpx: … '../x' … outside",
        ),
    ],
)
def test_what_is_refused(read, content, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(content)
    assert_tells(caught.value, f"/{message}")


# --- Detection and damage -----------------------------------------------------


def upload(content):
    return Upload("x.qdpx", "x", [Source("x.qdpx", member=content)])


def test_it_is_told_by_its_content():
    assert refi_qda.is_format(upload(packed(project())))
    assert refi_qda.is_format(upload(project().encode()))
    for other in (b"", b"PK\x03\x04", zipped({"a.json": b"{}"}), b"<Project/>", b"{}"):
        assert not refi_qda.is_format(upload(other))
    assert not refi_qda.is_format(upload(zipped({"__MACOSX/._project.qde": b""})))
    assert not refi_qda.is_format(Upload("x", "x", [], data=[]))


@pytest.mark.slow
@examples(160)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 900),
            st.integers(0, 6),
            st.binary(max_size=3) | st.sampled_from([b"<", b">", b'"', b"9", b"-", b"U-2"]),
        ),
        max_size=4,
    ),
    st.sampled_from([TEXT, LINES, "😀\r\n", "", "\ufeffAda\r\n"]),
    st.booleans(),
)
def test_nothing_but_our_errors(changes, text, is_bare):
    content = project(source(selection(0, 3, name="Ada"), selection(8, 10))).encode()
    for start, cut, new in changes:
        content = content[:start] + new + content[start + cut :]
    given_file = upload(
        content if is_bare else zipped({"project.qde": content, "t-1.txt": text.encode()})
    )
    reading = Reading(ReadOptions())
    refi_qda.is_format(given_file)
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            refi_qda.read([given_file], reading), reading, unit="document", positions="characters"
        )
