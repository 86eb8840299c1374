"""Knowtator and eHOST: annotators in the file, texts elsewhere, and what is wrong."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import knowtator
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source, opened
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

#       0         1         2
#       0123456789012345678901234567
TEXT = "Seen 3 May by Dr. Vale.\nNo pain."


def marked(start, end, label="DATE", *, who="ada", words=None, number=1):
    said = TEXT[start:end] if words is None else words
    by = f'<annotator id="e">{who}</annotator>' if who else ""
    kind = f'<mentionClass id="{label}">{said}</mentionClass>' if label else ""
    return (
        f'<annotation><mention id="m{number}"/>{by}<span start="{start}" end="{end}"/>'
        f"<spannedText>{said}</spannedText><creationDate>now</creationDate></annotation>\n"
        f'<classMention id="m{number}">{kind}</classMention>\n'
    )


def content(*parts, source="one.txt"):
    inner = "".join(parts)
    return f'<?xml version="1.0"?>\n<annotations textSource="{source}">\n{inner}</annotations>'


MAY, VALE = marked(5, 10), marked(18, 22, "NAME", number=2)


@pytest.fixture
def project(tmp_path):
    """A project with one document; more are added by calling it."""
    folder = tmp_path / "project"
    for name in ("corpus", "saved"):
        (folder / name).mkdir(parents=True)

    def add(*parts, name="one", text=TEXT):
        (folder / "corpus" / f"{name}.txt").write_bytes(text.encode())
        path = folder / "saved" / f"{name}.txt.knowtator.xml"
        path.write_text(content(*parts, source=f"{name}.txt"))
        return folder

    return add


# --- Valid --------------------------------------------------------------------


def test_a_project(project):
    corpus = bc.read(project(MAY, VALE))
    assert corpus.annotators == ("ada",)
    assert corpus.documents == ("one",)
    assert corpus.spans("one", "ada") == [(5, 10, "DATE"), (18, 22, "NAME")]
    assert corpus.texts == (TEXT,)
    assert corpus.skipped == {}


def test_the_folder_saved_and_a_file_of_it(project):
    folder = project(MAY)
    for path in (folder / "saved", folder / "saved" / "one.txt.knowtator.xml"):
        assert bc.read(path).spans("one", "ada") == [(5, 10, "DATE")]


def test_the_text_next_to_the_file(tmp_path):
    (tmp_path / "one.txt").write_text(TEXT)
    (tmp_path / "anna.xml").write_text(content(MAY, source="C:\\notes\\one.txt"))
    assert bc.read(tmp_path / "anna.xml").spans("one", "ada") == [(5, 10, "DATE")]
    assert bc.read(tmp_path).spans("one", "ada") == [(5, 10, "DATE")]


def test_several_annotators(project):
    project(MAY, marked(5, 10, who="bo", number=3))
    folder = project(marked(0, 4, "SEEN", words="Seen"), name="two")
    corpus = bc.read(folder)
    assert corpus.annotators == ("ada", "bo")
    assert corpus.spans("one", "bo") == [(5, 10, "DATE")]
    assert corpus.spans("two", "bo") == []
    assert_tells(corpus.notes[-1], "1 … annotator")
    assert bc.read(folder, empty="missing").annotators_of("two") == ("ada",)


def test_a_project_for_each_annotator(tmp_path):
    for who in ("ada", "bo"):
        folder = tmp_path / who
        for name in ("corpus", "saved", "config"):
            (folder / name).mkdir(parents=True)
        (folder / "corpus" / "one.txt").write_text(TEXT)
        (folder / "corpus" / "two.txt").write_text(TEXT)
        (folder / "config" / "projectschema.xml").write_text("<x/>")
        (folder / "saved" / "one.txt.knowtator.xml").write_text(content(marked(5, 10, who=who)))
    for paths in ([tmp_path / "ada", tmp_path / "bo"], [tmp_path]):
        corpus = bc.read(*paths)
        assert corpus.annotators_of("one") == ("ada", "bo")
        assert corpus.skipped == {
            "other files ignored": 2,
            "texts without annotations left out as not annotated": 2,
        }


def test_without_annotations_the_folder_is_the_annotator(project):
    corpus = bc.read(project())
    assert corpus.annotators == ("project",)
    assert corpus.spans("one", "project") == []


def test_what_is_not_a_span_is_counted(project):
    corpus = bc.read(
        project(
            MAY,
            '<annotation><mention id="m9"/><annotator>ada</annotator></annotation>',
            '<stringSlotMention id="s1"/><booleanSlotMention id="s2"/>',
            '<complexSlotMention id="s3"/><adjudicating/>',
            marked(len(TEXT), len(TEXT) + 1, who="eHOST", words="", number=4),
        )
    )
    assert corpus.annotators == ("ada",)
    assert corpus.skipped == {
        "annotations without a span ignored": 1,
        "annotations behind the end of the text ignored": 1,
        "attributes ignored": 2,
        "relations ignored": 1,
        "annotations in adjudication ignored": 1,
    }


@each("options", [{"offsets": "bytes"}, {}])
def test_the_end_of_the_text_is_counted_in_the_unit_of_offsets(project, options):
    """By the spans with words, where it is not asked for."""
    text = "é" * 20 + " 3 May"
    known = marked(43, 46, words="May", number=1)
    bare = marked(41, 42, words="", number=2)
    behind = marked(46, 47, words="", number=3)
    corpus = bc.read(project(known, bare, behind, text=text), **options)
    assert corpus.spans("one", "ada") == [(21, 22, "DATE"), (23, 26, "DATE")]
    assert corpus.skipped == {"annotations behind the end of the text ignored": 1}


@each(
    "part",
    [
        marked(5, 10, label=""),
        MAY.replace("classMention", "x"),
        MAY.replace('<mention id="m1"/>', ""),
    ],
)
def test_an_annotation_without_a_class(project, part):
    corpus = bc.read(project(part, VALE))
    assert corpus.spans("one", "ada") == [(5, 10, "_"), (18, 22, "NAME")]
    assert corpus.skipped == {"annotations without a class, labelled '_'": 1}


def test_several_spans(project):
    apart = MAY.replace("/><spanned", '/><span start="18" end="22"/><spanned').replace(
        "<spannedText>3 May", "<spannedText>3 May ... Vale"
    )
    folder = project(apart, VALE)
    with refused(bc.SpanError, "annotation 1: … 'DATE' … 2 … fragments"):
        bc.read(folder, strict="discontinuous")
    assert bc.read(folder).parts(0) == [(5, 10), (18, 22)]
    corpus = bc.read(folder, discontinuous="split")
    assert corpus.spans("one", "ada") == [(5, 10, "DATE"), (18, 22, "DATE"), (18, 22, "NAME")]


def test_line_ends_that_count_as_one(project):
    corpus = bc.read(project(marked(27, 31, "PAIN"), text=TEXT.replace("\n", "\r\n")))
    assert corpus.spans("one", "ada") == [(27, 31, "PAIN")]
    assert_tells(corpus.notes[-1], "offsets … character")


def test_line_ends_that_count_as_two(project):
    later = marked(28, 32, "PAIN", words="pain")
    corpus = bc.read(project(later, text=TEXT.replace("\n", "\r\n")))
    assert corpus.spans("one", "ada") == [(28, 32, "PAIN")]
    assert len(corpus.notes) == 1


# --- Wrong --------------------------------------------------------------------


@each(
    ("text", "message"),
    [
        (
            content(source="two.txt"),
            ": … 'two.txt' … missing",
        ),
        ("<annotations/>", ": … textSource"),
        (
            content(source=".."),
            ": … '..' … missing",
        ),
        ("<a/>", ": … element … 'a'"),
        (
            content(MAY.replace('start="5"', 'start="x"')),
            ": annotation 1: … 'start' … 'x' … number",
        ),
        (
            content(VALE, MAY.replace(' end="10"', "")),
            ": annotation 2: … 'end' … missing",
        ),
        (
            content(MAY, '<classMention id="m1"><mentionClass id="X"/></classMention>'),
            ": … mention … 'm1' … 'DATE' … 'X'",
        ),
        (
            content(marked(5, 10, words="June")),
            ": annotation 1: … [5, 10) … 'DATE' … stores … 'June'",
        ),
        (
            content(marked(5, 99, words="")),
            ": annotation 1: … [5, 99) … 'DATE' … 32 … characters",
        ),
        (
            "<annotations textSource='one.txt'>",
            ":1: … well-formed … 35",
        ),
    ],
)
def test_wrong(tmp_path, text, message):
    (tmp_path / "one.txt").write_text(TEXT)
    (tmp_path / "anna").write_text(text)
    with pytest.raises(bc.DataError) as caught:
        bc.read(tmp_path / "anna", format="knowtator")
    assert_tells(caught.value, f"{tmp_path / 'anna'}{message}")


# --- Texts that are given -----------------------------------------------------


def test_texts_may_be_given(tmp_path):
    for name, texts in (
        *(("a", "texts"), ("b", "texts/one.txt"), ("c", "texts.csv")),
        ("d", "named.csv"),
    ):
        folder = tmp_path / name
        (folder / "texts").mkdir(parents=True)
        (folder / "texts" / "one.txt").write_text(TEXT)
        (folder / "texts" / "two.txt").write_text("Other.")
        (folder / "texts.csv").write_text(f'document,text\none.txt,"{TEXT}"\n')
        (folder / "named.csv").write_text(f'document,text\none,"{TEXT}"\ntwo,Other.\n')
        (folder / "anna.xml").write_text(content(MAY, VALE))
        corpus = bc.read(folder / "anna.xml", documents=folder / texts)
        assert corpus.spans("one", "ada") == [(5, 10, "DATE"), (18, 22, "NAME")]
        assert corpus.texts == (TEXT,)


def test_the_only_text_may_have_another_name(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "note.txt").write_text(TEXT)
    (tmp_path / "anna.xml").write_text(content(MAY))
    for texts in ("texts", "texts/note.txt"):
        corpus = bc.read(tmp_path / "anna.xml", documents=tmp_path / texts)
        assert corpus.spans("one", "ada") == [(5, 10, "DATE")]


def test_no_text_among_those_that_are_given(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("note", "other"):
        (tmp_path / "texts" / f"{name}.txt").write_text(TEXT)
    (tmp_path / "anna.xml").write_text(content(MAY))
    with refused(bc.FormatError, "anna.xml: … 'one.txt' … missing … corpus", use="documents"):
        bc.read(tmp_path / "anna.xml")
    message = "anna.xml: … 'one.txt' … missing … name … table … document … text"
    with refused(bc.FormatError, message, use="documents"):
        bc.read(tmp_path / "anna.xml", documents=tmp_path / "texts")


# --- Knowtator 2 --------------------------------------------------------------


def second(*parts, name="one", more=""):
    inner = "".join(parts)
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<knowtator-project>\n'
        f'<document id="{name}" text-file="{name}.txt">\n'
        f"{inner}</document>{more}</knowtator-project>"
    )


def mark(*places, label='id="DATE"', who="ada"):
    spans = "".join(
        f'<span end="{end}" id="s" start="{start}">{TEXT[start:end]}</span>'
        for start, end in places
    )
    by = f'annotator="{who}" id="a-1" type="identity"'
    return f"<annotation {by}><class {label}/>{spans}</annotation>"


@pytest.fixture
def second_project(tmp_path):
    folder = tmp_path / "second"
    for name in ("Articles", "Annotations", "Profiles"):
        (folder / name).mkdir(parents=True)
    (folder / "Articles" / "one.txt").write_text(TEXT)
    profile = '<knowtator-project><profile id="ada"><highlighter/></profile></knowtator-project>'
    (folder / "Profiles" / "ada.xml").write_text(profile)

    def add(text):
        (folder / "Annotations" / "one.xml").write_text(text)
        return folder

    return add


def test_a_project_of_knowtator_2(second_project):
    graph = '<graph-space id="g"><vertex annotation="a-1" id="n"/><triple id="t"/></graph-space>'
    folder = second_project(
        second(mark((5, 10)), mark((18, 22), label='id="x:1" label="name"', who="bo"), graph)
    )
    for path in (folder, folder / "Annotations" / "one.xml"):
        corpus = bc.read(path)
        assert corpus.annotators == ("ada", "bo")
        assert corpus.spans("one", "ada") == [(5, 10, "DATE")]
        assert corpus.spans("one", "bo") == [(18, 22, "x:1")]
        assert corpus.skipped == {"relations ignored": 1}


def test_a_document_of_knowtator_2_without_the_name_of_its_text(second_project):
    folder = second_project(second(mark((5, 10))).replace(' text-file="one.txt"', ""))
    assert bc.read(folder).spans("one", "ada") == [(5, 10, "DATE")]


def test_fragments_of_knowtator_2(second_project):
    folder = second_project(second(mark((0, 4), (11, 13)), mark((5, 10))))
    with refused(bc.SpanError, "one.xml: annotation 1: … 'DATE' … 2", use="discontinuous"):
        bc.read(folder, strict="discontinuous")
    assert bc.read(folder).parts(0) == [(0, 4), (11, 13)]
    corpus = bc.read(folder, discontinuous="join")
    assert corpus.spans("one", "ada") == [(0, 13, "DATE"), (5, 10, "DATE")]


def test_classes_of_knowtator_2(second_project):
    folder = second_project(second(mark((5, 10), label='label="date"'), mark((0, 4), label="")))
    corpus = bc.read(folder)
    assert corpus.spans("one", "ada") == [(0, 4, "_"), (5, 10, "date")]
    assert corpus.skipped == {"annotations without a class, labelled '_'": 1}


@each(
    ("text", "message"),
    [
        (second(name="two"), "'two.txt' … missing … Articles … documents="),
        (second(more="<document/>"), "text-file … name"),
        (second(mark((5, 10)).replace('"5"', '"x"')), "annotation 1: … 'start' … 'x'"),
        (second(mark((5, 10)).replace("3 May", "June")), "annotation 1: … 'DATE' … 'June'"),
        (second()[:-3], "well-formed"),
    ],
)
def test_what_is_wrong_in_knowtator_2(second_project, text, message):
    path = second_project(text) / "Annotations" / "one.xml"
    with pytest.raises(bc.DataError) as caught:
        bc.read(path)
    assert_tells(caught.value, f"one.xml … {message}")


def test_no_link_leads_out(tmp_path, project):
    (tmp_path / "secret.txt").write_text(TEXT)
    folder = project(MAY)
    (folder / "corpus" / "one.txt").unlink()
    (folder / "corpus" / "one.txt").symlink_to(tmp_path / "secret.txt")
    for path in (folder, folder / "saved"):
        with refused(bc.FormatError, "folder"):
            bc.read(path)


# --- Detection ----------------------------------------------------------------


def upload(data):
    return Upload("anna", "anna", [Source("anna", member=data)])


@each(
    ("text", "is_it"),
    [
        (content(), True),
        ("<!-- x --><!DOCTYPE a><annotations\n id='x' textSource = 'one.txt'>", True),
        ("<annotations><textSource/></annotations>", False),
        ("<a><annotations textSource='x'/></a>", False),
        ("", False),
    ],
)
def test_detection(text, is_it):
    assert knowtator.is_format(upload(text.encode())) is is_it


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_broken_files_give_only_our_errors(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("project")
    whole = content(MAY, VALE, '<complexSlotMention id="s3"/>').encode()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole)))
        length = data.draw(st.integers(0, 5))
        new = st.binary(max_size=3) | st.sampled_from([b"<", b"/", b"9", b"-", b"<span/>", b"\0"])
        whole = whole[:place] + data.draw(new) + whole[place + length :]
    (folder / "one.txt").write_text(TEXT)
    (folder / "a.knowtator.xml").write_bytes(whole)
    reading = Reading(ReadOptions())
    found = opened(folder / "a.knowtator.xml")
    with suppress(bc.BeyondChanceError):
        drafts = knowtator.read([Upload(found.name, "a", [found])], reading)
        assembled(drafts, reading, unit="document", positions="characters")


def test_damaged_annotations_of_a_second_project_are_not_left_out(second_project):
    folder = second_project(second(mark((5, 10))))
    (folder / "Annotations" / "two.xml").write_bytes(b"\xff\xfd\0")
    with refused(bc.FormatError, "two.xml:1: …"):
        bc.read(folder)
