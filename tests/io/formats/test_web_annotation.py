"""Web Annotation: tags, creators, texts, quotes and positions, and what is refused."""

import contextlib
import json
import random

import pytest

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import web_annotation
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from every_format import Annotations, web_annotation as built
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo, and Bo met Cy."


def tag(value, **more):
    return {"type": "TextualBody", "purpose": "tagging", "value": value} | more


PER = tag("PER")
COMMENT = {"type": "TextualBody", "value": "Who?"}


def position(start, end):
    return {"type": "TextPositionSelector", "start": start, "end": end}


def quote(exact, **more):
    return {"type": "TextQuoteSelector", "exact": exact} | more


def annotation(*selectors, by=None, body=(PER,), source=None, **more):
    target = {"selector": list(selectors)} | ({"source": source} if source else {})
    found = {"type": "Annotation", "body": list(body), "target": target}
    return found | ({"creator": by} if by else {}) | more


ADA = annotation(position(0, 3), quote("Ada"))


@pytest.fixture
def read(tmp_path):
    def reader(*annotations, text=TEXT, **options):
        content = annotations[0] if isinstance(annotations[0], str) else json.dumps(annotations)
        (tmp_path / "anna.json").write_text(content, encoding="utf-8")
        if text is not None:
            (tmp_path / "letter.txt").write_bytes(text.encode())
        return bc.read(tmp_path / "anna.json", **options)

    return reader


@pytest.fixture
def marked(read):
    """The words and labels of the only annotator."""

    def reader(*annotations, **options):
        corpus = read(*annotations, **options)
        (text,), (who,), (document,) = corpus.texts, corpus.annotators, corpus.documents
        return [(text[s:e], label) for s, e, label in corpus.spans(document, who)]

    return reader


# --- Tags and creators --------------------------------------------------------


def test_tags_are_labels_and_files_are_annotators(read):
    corpus = read(ADA, annotation(position(14, 18), body=[tag("LOC"), COMMENT]))
    assert corpus.annotators == ("anna",)
    assert corpus.spans("1", "anna") == [(0, 3, "PER"), (14, 18, "LOC")]
    assert corpus.skipped == {"comments ignored": 1}
    assert [file.format for file in corpus.inputs] == ["web-annotation"]
    assert_tells(corpus.notes[1], "text … '1' … 'letter.txt'")


def test_several_tags_are_several_spans_and_no_tag_has_a_label_of_its_own(read):
    corpus = read(
        annotation(position(0, 3), body=[tag("PER"), tag("POET"), tag("PER")]),
        annotation(position(8, 10), body=[COMMENT]),
    )
    assert corpus.spans("1", "anna") == [(0, 3, "PER"), (0, 3, "POET"), (8, 10, "_")]
    assert corpus.skipped == {
        "comments ignored": 1,
        "annotations with several tags, read as a span for each": 1,
        "annotations without a tag, read as labelled '_'": 1,
    }


@each(
    "more",
    [
        {"body": tag("PER")},
        {"body": [tag("PER", purpose="classifying")]},
        {"body": [{"type": "TextualBody", "value": " PER "}], "motivation": "tagging"},
        {"body": {"purpose": ["tagging"], "source": {"id": "http://x/1", "label": "PER"}}},
        {"body": {"purpose": "tagging", "type": "SpecificResource", "source": "PER"}},
        {"body": [], "tags": ["PER"]},
        {"body": None, "bodies": [tag("PER")]},
    ],
)
def test_where_a_tag_may_be(marked, more):
    assert marked(ADA | more) == [("Ada", "PER")]


@each(
    ("creator", "name"),
    [
        ("Anna", "Anna"),
        ({"id": "u7", "name": "Anna"}, "Anna"),
        ({"id": "u7", "nickname": "an"}, "an"),
        ({"id": "u7"}, "u7"),
        ([{"id": "https://x/u7"}, {"id": "u8"}], "https://x/u7"),
        ("acct:anna@example.org", "anna"),
        ({"id": "mailto:anna@example.org"}, "anna"),
        ({}, "anna"),
    ],
)
def test_creators_are_annotators(read, creator, name):
    assert read(ADA | {"creator": creator}).annotators == (name,)


def test_two_creators_in_one_file(read):
    corpus = read(
        annotation(position(0, 3), by="Ann"),
        annotation(position(0, 3), by="Ben"),
        annotation(position(8, 10), by="Ben"),
    )
    assert corpus.annotators == ("Ann", "Ben")
    assert len(corpus.spans("1", "Ben")) == 2


# --- Forms --------------------------------------------------------------------


@each(
    "wrap",
    [
        lambda item: item,
        lambda item: [[item]],
        lambda item: {"type": "AnnotationPage", "items": [item]},
        lambda item: {"type": "AnnotationCollection", "first": {"items": [item]}},
        lambda item: {"total": 1, "rows": [item]},
    ],
)
def test_lists_pages_collections_and_exports(marked, wrap):
    assert marked(json.dumps(wrap(ADA))) == [("Ada", "PER")]


def test_annotations_of_hypothesis(read):
    corpus = read(
        {
            "user": "acct:ben@hypothes.is",
            "uri": "https://example.org/letter.html",
            "text": "a comment",
            "tags": ["PER"],
            "target": [
                {
                    "source": "https://example.org/letter.html",
                    "selector": [
                        {"type": "RangeSelector", "startOffset": 0},
                        position(8, 10),
                        quote("Bo", prefix="Ada met ", suffix=" in Oslo"),
                    ],
                }
            ],
        }
    )
    assert corpus.documents == ("https://example.org/letter.html",)
    assert corpus.spans(corpus.documents[0], "ben") == [(8, 10, "PER")]
    assert corpus.skipped == {"comments ignored": 1}


def test_the_own_form_of_recogito(read):
    selectors = [{"quote": "Ada", "start": 0, "end": 3}, {"quote": "Bo", "start": 8, "end": 10}]
    item = {
        "id": "x",
        "bodies": [{"id": "y", "purpose": "tagging", "value": "PER"}],
        "target": {"annotation": "x", "selector": selectors, "creator": {"id": "guest"}},
    }
    corpus = read(item)
    assert corpus.spans("1", "guest") == [(0, 3, "PER"), (8, 10, "PER")]
    assert corpus.skipped == {"annotations with several places, read as spans of their own": 1}


def test_what_has_no_place_in_a_text_is_counted(read):
    links = {"type": "Annotation", "motivation": "linking", "target": [{"id": "#a"}, {"id": "#b"}]}
    area = annotation({"type": "FragmentSelector", "value": "xywh=1,2,3,4"})
    page = {"type": "Annotation", "target": "https://example.org"}
    corpus = read(ADA, links, area, page)
    assert corpus.skipped == {"annotations without a place in a text ignored": 3}


# --- Quotes -------------------------------------------------------------------


@each(
    ("selectors", "start", "counted"),
    [
        ([position(14, 19), quote("Oslo")], 14, 1),
        ([position(99, 103), quote("Oslo")], 14, 1),
        ([position(-4, 0), quote("Oslo")], 14, 1),
        ([position(7, 9), quote("Bo")], 8, 1),
        ([position(25, 27), quote("Bo")], 24, 1),
        ([position(7, 9), quote("Bo", prefix="and ")], 24, 1),
        ([position(25, 27), quote("Bo", suffix=" in")], 8, 1),
        ([position(7, 9), quote("Bo", prefix="not there")], 8, 1),
        ([position(24, 26), quote("Bo", prefix="Ada met ")], 24, 0),
        ([position(13, 18), quote("Oslo")], 14, 0),
        ([position(14, 18), quote("  Oslo\n")], 14, 0),
    ],
)
def test_quotes_correct_positions(read, selectors, start, counted):
    corpus = read(annotation(*selectors))
    ((found, end, _),) = corpus.spans("1", "anna")
    assert (found, corpus.texts[0][found:end]) == (start, selectors[1]["exact"].strip())
    assert corpus.skipped.get("positions corrected by their quotes", 0) == counted
    assert corpus.options.get("inexact_quotes") == ("mend" if counted else None)
    if not counted:
        assert read(annotation(*selectors), strict=True, zero_length="skip").spans("1", "anna")
        return
    message = "annotation 1: … quote … position … ,"
    for options in ({"strict": True}, {"strict": "inexact_quotes"}):
        with refused(bc.SpanError, message):
            read(annotation(*selectors), **options)


@each("selector", [quote("Oslo"), quote("Bo", prefix="and "), quote("Bo", suffix=" in Oslo")])
def test_quotes_without_a_position_are_looked_up(read, selector):
    corpus = read(annotation(selector))
    ((start, end, _),) = corpus.spans("1", "anna")
    assert corpus.texts[0][start:end] == selector["exact"]
    assert corpus.skipped == {"quotes without a position looked up in the text": 1}


def test_quotes_may_differ_in_white_space(marked):
    text = "\n  Ada\n     met   Bo.\n"
    assert marked(annotation(quote("Ada met Bo")), text=text) == [("Ada\n     met   Bo", "PER")]
    assert marked(annotation(position(0, 2), quote("met\nBo")), text=text)[0][0] == "met   Bo"


def test_quotes_show_what_offsets_count(read):
    text = "😀 Ada 😀 Bo"
    units = annotation(position(3, 6), quote("Ada")), annotation(position(10, 12), quote("Bo"))
    points = annotation(position(2, 5), quote("Ada")), annotation(position(8, 10), quote("Bo"))
    for marks in (units, points):
        corpus = read(*marks, text=text)
        assert corpus.spans("1", "anna") == [(2, 5, "PER"), (8, 10, "PER")]
        assert not corpus.skipped
    corpus = read(annotation(position(3, 6)), annotation(quote("Bo")), text=text, offsets="utf16")
    assert corpus.spans("1", "anna") == [(2, 5, "PER"), (8, 10, "PER")]


def test_lines_end_with_one_character_as_in_a_page(marked):
    assert marked(annotation(position(4, 6)), text="Ada\r\nBo") == [("Bo", "PER")]


# --- Texts --------------------------------------------------------------------


def test_a_text_may_be_given(read, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("Bo met Ada.")
    for given in ("texts", "texts/one.txt"):
        corpus = read(annotation(position(0, 2)), documents=str(tmp_path / given))
        assert corpus.texts == ("Bo met Ada.",)


def test_sources_have_the_names_of_their_texts(read, tmp_path):
    (tmp_path / "one.txt").write_text("Bo met Ada.")
    marks = [annotation(position(0, 2), source=f"https://x.org/{n}") for n in ("one", "letter.txt")]
    corpus = read(*marks)
    assert corpus.texts == ("Bo met Ada.", TEXT)


def test_texts_that_are_given_and_do_not_belong(read, tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("one", "two"):
        (tmp_path / "texts" / f"{name}.txt").write_text("Bo met Ada.")
    given, mark = str(tmp_path / "texts"), annotation(position(0, 2))
    # Not the option that was given already, but what to do about it.
    message = "anna.json: … '1' … 'one.txt', 'two.txt' … 'anna.txt' … rename … table … document"
    with refused(bc.FormatError, message, use="documents") as caught:
        read(mark, documents=given)
    assert "FILE_OR_FOLDER" not in str(caught.value)
    table = tmp_path / "texts.csv"
    table.write_text("document,text\n1,Bo met Ada.\n2,Cy left.\n")
    assert read(mark, documents=str(table)).texts == ("Bo met Ada.",)
    assert read(mark, documents=f"{given}/two.txt").texts == ("Bo met Ada.",)
    (tmp_path / "texts" / "two.txt").rename(tmp_path / "texts" / "anna.txt")
    assert read(mark, documents=given).texts == ("Bo met Ada.",)


def test_addresses_that_ask_for_something(read, tmp_path):
    (tmp_path / "one.txt").write_text("Bo met Ada.")
    marks = [annotation(position(0, 2), source=f"https://x.org/{n}") for n in ("one?p=3", "letter")]
    assert read(*marks).texts == ("Bo met Ada.", TEXT)


def test_texts_may_be_given_as_a_table(read, tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("document,text\nhttps://x.org/a,Bo left.\nb,Cy left.\n")
    marks = [annotation(position(0, 2), source=name) for name in ("https://x.org/a", "b")]
    assert read(*marks, documents=str(table)).texts == ("Bo left.", "Cy left.")
    table.write_text("document,text\na,\n")
    with refused(bc.FormatError, "texts.csv:2: … document"):
        read(*marks, documents=str(table))


def test_a_folder_holds_annotations_next_to_their_texts(tmp_path):
    for name, text in (("one", "Ada met Bo."), ("two", "Cy left.")):
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / f"{name}.json").write_text(json.dumps([annotation(position(0, 2))]))
    (tmp_path / "readme.md").write_text("x")
    corpus = bc.read(tmp_path)
    assert corpus.documents == ("one", "two")
    assert corpus.skipped == {"files of other formats ignored": 1}


def test_files_of_two_annotators_share_a_text(tmp_path):
    for who in ("anna", "ben"):
        (tmp_path / f"{who}.json").write_text(json.dumps([ADA]))
    (tmp_path / "letter.txt").write_text(TEXT)
    corpus = bc.read(tmp_path / "anna.json", tmp_path / "ben.json")
    assert corpus.annotators == ("anna", "ben")
    assert bc.agreement(corpus).observed == 1


def test_the_builder_gives_the_spans_that_it_was_given(tmp_path):
    spans = {("1", "anna"): [(0, 2, "X"), (3, 4, "Y")], ("1", "ben"): [(3, 4, "X")]}
    data = Annotations({"1": ['Ada 😀 < "Bo"']}, spans)
    corpus = bc.read(*built(data).saved(tmp_path))
    for person in ("anna", "ben"):
        assert corpus.spans("1", person) == [span[:3] for span in data.marked("1", person)]


# --- What is refused ----------------------------------------------------------


@each(
    ("items", "message"),
    [
        (
            [annotation(position(0, 3), quote("Eve"))],
            "anna.json: annotation 1: … 'Eve' … occur",
        ),
        (
            [annotation(quote("Bo"))],
            "anna.json: annotation 1: … 'Bo' … several",
        ),
        (
            [annotation(position(16, 18), quote("Bo"))],
            "anna.json: annotation 1: … 'Bo' … equally",
        ),
        (
            [annotation(quote(" "))],
            "anna.json: annotation 1: … ' ' … occur",
        ),
        (
            [ADA, annotation(position(0, 99))],
            "anna.json: annotation 2: … [0, 99) … 'PER' … 34 … characters",
        ),
        (
            [annotation(position("0", 3))],
            "anna.json: annotation 1: … 'start' … '0' … number",
        ),
        (
            [annotation(position(0, 3), quote(["Ada"]))],
            "anna.json: annotation 1: … 'exact' … list",
        ),
        (
            [annotation(position(0, 3), body=[tag(7)])],
            "anna.json: annotation 1: … tag … 7",
        ),
        (
            [ADA | {"creator": 7}],
            "anna.json: annotation 1: … 'creator' … 7 … name",
        ),
        (
            [ADA, "x"],
            "anna.json: annotation 2: … annotation … 'x'",
        ),
        (
            [{"type": "TextQuoteSelector"}],
            "anna.json: … without … 'target'",
        ),
        (
            [annotation({"type": "XPathSelector"})],
            "anna.json: … annotation",
        ),
        (
            [annotation(position(0, 3), source="a"), annotation(position(0, 3), source="b")],
            "anna.json: … 'a' … files … 'letter.txt' … .txt … documents=FILE_OR_FOLDER",
        ),
    ],
)
def test_what_is_refused(read, items, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(*items, format="web-annotation")
    assert_tells(caught.value, f"/{message}")


def test_annotations_without_a_text_are_refused(read):
    with refused(bc.FormatError, "anna.json: … '1' … none … .txt … documents=FILE_OR_FOLDER"):
        read(ADA, text=None)
    with refused(bc.OptionError, "documents … 7"):
        read(ADA, documents=7)


# --- Detection and damage -----------------------------------------------------


def upload(content):
    return Upload("x.json", "x", [Source("x.json", member=content.encode())])


def test_it_is_told_by_its_selectors():
    own = [{"bodies": [], "target": {"selector": [{"quote": "a", "start": 0, "end": 1}]}}]
    for content in ([ADA], ADA, own):
        assert web_annotation.is_format(upload(json.dumps(content)))
    text = json.dumps([{"text": 'a "TextQuoteSelector" selects', "label": []}])
    for other in ("", "[]", "{}", text, 'of type "TextQuoteSelector"'):
        assert not web_annotation.is_format(upload(other))
    assert not web_annotation.is_format(Upload("x", "x", [], data=[]))


ODD = [None, True, -1, 3, 1.5, 10**30, "", "odd", [], {}, ["x"], {"id": 7}, [[]]]
FULL = [
    annotation(position(0, 3), quote("Ada", prefix="", suffix=" met"), by={"id": "a", "name": "A"}),
    annotation(position(14, 19), quote("Oslo"), by="B", source="letter"),
    {
        "bodies": [tag("X"), COMMENT],
        "target": {"selector": [{"quote": "Bo", "start": 8, "end": 10}], "creator": {"id": "c"}},
    },
]


@pytest.mark.slow
@each("offsets", [None, "utf16"])
def test_nothing_but_our_errors(tmp_path, offsets):
    (tmp_path / "letter.txt").write_text(f"{TEXT} 😀")
    dice = random.Random(7)  # noqa: S311 - the same on every run
    for path in places(FULL):
        for odd in ODD:
            content = replaced(FULL, path, odd)
            if dice.randrange(2):
                content = replaced(content, dice.choice(list(places(content))), dice.choice(ODD))
            given = upload(json.dumps(content))
            options = ReadOptions(documents=str(tmp_path / "letter.txt"), offsets=offsets)
            reading = Reading(options)
            web_annotation.is_format(given)
            with contextlib.suppress(bc.BeyondChanceError):
                drafts = web_annotation.read([given], reading)
                assembled(drafts, reading, unit="document", positions="characters")


@each("words", ["b", "ab", "aab", "c"])
def test_the_nearest_place_is_that_of_a_plain_search(words):
    dice = random.Random(words)  # noqa: S311 - the same on every run
    for _ in range(100):
        filler = "a" * dice.choice([0, 3, 300, 2000])
        text = "".join(dice.choice(["a", "b", filler]) for _ in range(dice.randrange(12)))
        wanted = dice.randrange(-3, len(text) + 3)
        starts = [i for i in range(len(text)) if text.startswith(words, i)]
        closest = min((abs(start - wanted) for start in starts), default=0)
        expected = [start for start in starts if abs(start - wanted) == closest]
        assert web_annotation._nearest(text, words, wanted) == expected
