"""MQM: marks in tables of WMT and Bio-MQM, offsets in JSON, and what is counted or refused."""

import json

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import mqm
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import refused
from slowness import MOST, n_calls

pytestmark = pytest.mark.usefixtures("by_characters")

WMT = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
SIDE_BY_SIDE = ("system", "doc", "docSegId", "globalSegId", *WMT[4:], "metadata", "# See the page")
BIO = (
    *("SEG_ID", "Doc", "Source", "Tagged_Source", "Target", "MT", "Tagged_Target"),
    *("Error Category", "Severity", "Annotator_ID"),
)
NONE = ("No-error", "No-error")
BY_WORDS = "marks placed by their words, because the text differs from the marked one"


def row(target, category="Fluency/Grammar", severity="Minor", *, by="ada", **more):
    cells = dict(zip(WMT, ("one", "news", "1", "7", by, "Ein Hund.", target), strict=False))
    return cells | {"category": category, "severity": severity} | more


def sheet(*rows, names=WMT):
    lines = ["\t".join(names)]
    lines += ["\t".join(cells.get(name, "") for name in names) for cells in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def bio(tagged="", *, target="The child's dog barks.", by="31", **more):
    cells = {"SEG_ID": "7", "Doc": "doc1", "Source": "Ein Hund.", "Target": target, "MT": "one"}
    label = {"Error Category": "Style - Awkward", "Severity": "Minor"} if tagged else {}
    return cells | {"Tagged_Target": tagged, "Annotator_ID": by} | label | more


def error(start, last, words, category="Awkward", severity="Minor"):
    found = {"term": words, "startIndex": start, "endIndex": last}
    return found | {"error_category": category, "severity": severity}


def record(*errors, by=31, **more):
    found = {"source": "Ein Hund.", "target": "The child's dog barks.", "SEG_ID": "7"}
    found |= {"filename": "x.tsv", "MT_Engine": "one", "source_errors": []}
    return found | {"target_errors": list(errors), "Annotator_ID": by} | more


@pytest.fixture
def read(tmp_path):
    def reader(content, **options):
        path = tmp_path / "ratings.tsv"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return bc.read(path, format="mqm", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(content, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(content, **options)

    return refuser


def upload_of(content, data=None):
    return Upload("ratings.tsv", "ratings", [Source("ratings.tsv", member=content)], data=data)


class TestTables:
    def test_rows_of_a_rater_and_segment_are_one_annotation(self, read):
        corpus = read(
            sheet(
                row("A <v>dog</v> barks."),
                row("A dog barks.", *NONE, by="bo"),
                row("A dog <v>barks</v>.", "Style/Awkward", "Major"),
                row("<v>Dogs</v> bark.", system="two", by="bo"),
            )
        )
        assert corpus.documents == ("one/news/7", "two/news/7")
        assert corpus.annotators == ("ada", "bo")
        assert corpus.texts == ("A dog barks.", "Dogs bark.")
        expected = [(2, 5, "Fluency/Grammar"), (6, 11, "Style/Awkward")]
        assert corpus.spans("one/news/7", "ada") == expected
        assert corpus.spans("one/news/7", "bo") == []
        assert corpus.annotators_of("two/news/7") == ("bo",)
        assert corpus.fields == {"system": ("one", "two"), "article": ("news", "news")}
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert (corpus.skipped, corpus.notes) == ({}, ())

    @each(
        ("feature", "label"),
        [
            (None, "Style/Awkward"),
            ("category", "Style/Awkward"),
            ("severity", "Major"),
            ("category/severity", "Style/Awkward/Major"),
        ],
    )
    def test_the_label_is_the_category_or_the_severity(self, read, feature, label):
        content = sheet(row("A <v>dog</v>.", "Style/Awkward", "Major"))
        assert read(content, feature=feature).labels == (label,)

    def test_a_layer_chooses_the_source(self, read):
        content = sheet(
            row("A dog.", source="Ein <v>Hund</v>."), row("A <v>dog</v>.", "Style/Awkward")
        )
        target, source = read(content), read(content, layer="source")
        assert target.texts == ("A dog.",)
        assert target.spans("one/news/7", "ada") == [(2, 5, "Style/Awkward")]
        assert target.skipped == {"errors marked in the source left out": 1}
        assert source.texts == ("Ein Hund.",)
        assert source.spans("one/news/7", "ada") == [(4, 8, "Fluency/Grammar")]
        assert source.skipped == {"errors marked in the target left out": 1}

    def test_files_of_side_by_side_ratings(self, read):
        cells = {"docSegId": "2", "globalSegId": "17", "metadata": '{"a": "b'}
        content = sheet(
            row("A <v>dog</v>.", **cells),
            row("A dog.", "Found", "HOTW-test", **cells),
            row("A dog.", "Missed", "HOTW-test", by="bo", **cells),
            names=SIDE_BY_SIDE,
        )
        # Rows end before the remark in the header.
        corpus = read(content.replace(b"\t\n", b"\n"))
        assert corpus.documents == ("one/news/2",)
        assert corpus.annotators == ("ada",)
        assert corpus.skipped == {"attention checks left out": 2}

    def test_quotation_marks_are_part_of_the_text(self, read):
        content = sheet(row('"A <v>dog"</v> bar"ks.'), row('"A dog" bar"ks.', *NONE, by="bo"))
        corpus = read(content)
        assert corpus.texts == ('"A dog" bar"ks.',)
        assert corpus.spans("one/news/7", "ada") == [(3, 7, "Fluency/Grammar")]

    def test_white_space_at_the_end_of_a_text_does_not_tell_texts_apart(self, read):
        corpus = read(sheet(row("A dog<v> </v>"), row("A <v>dog</v>"), row("A dog ", *NONE)))
        assert corpus.texts == ("A dog",)
        assert corpus.spans("one/news/7", "ada") == [(2, 5, "Fluency/Grammar")]
        assert corpus.skipped == {"marks of nothing but white space left out": 1}

    def test_marks_on_white_space_are_counted(self, read):
        corpus = read(sheet(row("A<v> </v>dog<v></v>")))
        assert corpus.spans("one/news/7", "ada") == []
        assert corpus.skipped["marks of nothing but white space left out"] == 2

    def test_marks_that_do_not_pair_are_counted(self, read):
        corpus = read(
            sheet(
                row("A dog. <v>?"),
                row("A dog.</v> ?"),
                row("A <v>dog. <v>?</v></v>"),
                row("A dog. ?", "Accuracy/Omission"),
            )
        )
        assert corpus.texts == ("A dog. ?",)
        assert corpus.spans("one/news/7", "ada") == []
        assert corpus.skipped == {
            "errors whose mark does not begin or does not end left out": 3,
            "errors without a mark left out": 1,
        }

    def test_errors_without_a_label_are_counted(self, read):
        content = sheet(row("A <v>dog</v>", category=""))
        assert read(content).skipped == {"errors without a category left out": 1}
        assert read(content, feature="severity").labels == ("Minor",)

    def test_several_texts_of_a_rater_in_one_segment_are_documents_of_their_own(self, read):
        corpus = read(
            sheet(
                row("A <v>dog</v>."),
                row("It <v>barks</v>."),
                row("<v>It</v> barks.", by="bo"),
                row("A dog.", *NONE, by="bo"),
            )
        )
        assert corpus.documents == ("one/news/7", "one/news/7 (2)")
        assert corpus.texts == ("A dog.", "It barks.")
        assert corpus.spans("one/news/7 (2)", "bo") == [(0, 2, "Fluency/Grammar")]
        assert corpus.skipped == {"segments with several texts kept apart": 1}

    def test_a_rater_without_a_name_is_named_after_the_file(self, read):
        assert read(sheet(row("A dog.", *NONE, by=""))).annotators == ("ratings",)

    def test_blank_lines_crlf_and_byte_order_mark(self, read):
        content = sheet(row("A <v>dog</v>"), row("A dog", *NONE, by="bo"))
        corpus = read(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n\r\n"))
        assert corpus.annotators == ("ada", "bo")
        assert corpus.texts == ("A dog",)

    def test_bio(self, read):
        corpus = read(
            sheet(
                bio("The child's <tag>dog</tag> barks."),
                bio(**{"Tagged_Source": "Ein <tag>Hund</tag>.", "Error Category": "Other"}),
                bio(by="32"),
                bio("<tag>Dogs</tag> bark.", target="Dogs bark.", MT="", Severity="Minor "),
                names=BIO,
            )
        )
        assert corpus.documents == ("one/doc1/7", "doc1/7")
        assert corpus.annotators == ("31", "32")
        assert corpus.spans("one/doc1/7", "31") == [(12, 15, "Style - Awkward")]
        assert corpus.spans("one/doc1/7", "32") == []
        assert corpus.fields == {"system": ("one", ""), "article": ("doc1", "doc1")}
        assert corpus.skipped == {"errors marked in the source left out": 1}

    def test_bio_has_columns_with_blanks(self, read):
        content = sheet(bio("The child's <tag>dog</tag> barks."), names=BIO)
        content = content.replace(b"Tagged_Source", b"Tagged Source")
        assert read(content, feature="severity").labels == ("Minor",)

    def test_bio_has_backslashes_in_marked_words(self, read):
        corpus = read(sheet(bio(r"The <tag>child\'s</tag> dog barks"), names=BIO))
        assert corpus.spans("one/doc1/7", "31") == [(4, 11, "Style - Awkward")]
        assert corpus.skipped == {BY_WORDS: 1}

    def test_many_marks_take_linear_time(self, read):
        few, many = (
            sheet(bio("<tag>ab</tag>" * n + "!", target="ab" * n), names=BIO) for n in (200, 800)
        )
        assert len(read(many).span_start) == 800
        assert n_calls(lambda: read(many)) < MOST**2 * n_calls(lambda: read(few))


class TestJson:
    def test_the_last_index_belongs_to_the_error(self, read):
        corpus = read([record(error(12, 14, "dog")), record(by=32), record(by=32, target="Dogs.")])
        assert corpus.documents == ("x.tsv/one/1", "x.tsv/one/3")
        assert corpus.annotators == ("31", "32")
        assert corpus.spans("x.tsv/one/1", "31") == [(12, 15, "Awkward")]
        assert corpus.spans("x.tsv/one/1", "32") == []
        assert corpus.fields == {"system": ("one", "one")}
        assert corpus.skipped == {}

    def test_errors_in_the_source(self, read):
        content = [record(error(12, 14, "dog"), source_errors=[error(4, 7, "Hund", "Omission")])]
        assert read(content).skipped == {"errors marked in the source left out": 1}
        corpus = read(content, layer="source", feature="category/severity")
        assert corpus.spans("x.tsv/one/1", "31") == [(4, 8, "Omission/Minor")]
        assert corpus.skipped == {"errors marked in the target left out": 1}

    def test_backslashes_in_words_move_the_end(self, read):
        corpus = read([record(error(4, 11, r"child\'s"))])
        assert corpus.spans("x.tsv/one/1", "31") == [(4, 11, "Awkward")]
        assert corpus.skipped == {BY_WORDS: 1}

    def test_a_text_that_a_rater_has_twice_is_two_documents(self, read):
        corpus = read([record(), record(error(12, 14, "dog")), record(by=32), record(by=32)])
        assert corpus.documents == ("x.tsv/one/1", "x.tsv/one/2")
        assert corpus.annotators_of("x.tsv/one/2") == ("31", "32")

    def test_a_rater_without_a_name_is_named_after_the_file(self, read):
        assert read([record(by=None)]).annotators == ("ratings",)


@each(
    ("content", "message"),
    [
        (b"", "ratings.tsv:1: … columns … none"),
        (b"a\tb\n", "ratings.tsv:1: … columns … 'a' … 'b'"),
    ],
)
def test_refused_columns(refuses, content, message):
    others = "source, target, severity, doc, system, segment, rater, category"
    refuses(content, f"{message} … {others}")


@each(
    ("content", "message"),
    [
        (
            sheet(row("A"), names=WMT).replace(b"\tMinor", b""),
            ":2: … 8 … columns … 9",
        ),
        (sheet(row("A\tB")), ":2: … 10 … columns … 9"),
        (sheet(row("A"), row("B", seg_id="")), ":3: … segment"),
        (
            sheet(bio("The <tag>cat</tag> barks."), names=BIO),
            ":2: … 'cat' … marked",
        ),
        (
            sheet(bio("Other words and <tag>dog</tag> barks."), names=BIO),
            ":2: … 'dog' … marked",
        ),
        (b"\n\xff", ":2: … byte … 0xff … UTF-8 … UTF-8"),
        ({"a": 1}, ": … object"),
        ([3], ": item 1: … 3 … object"),
        ([record(target=None)], ": item 1: … 'target' … null"),
        ([record(by=[])], ": item 1: … 'Annotator_ID' … list"),
        ([record(target_errors=3)], ": item 1: … 'target_errors' … 3 … list"),
        ([record(3)], ": item 1: error #1 … 3 … object"),
        (
            [record(error("1", 2, "x"))],
            ": item 1: error #1: … 'startIndex' … '1' … number",
        ),
        (
            [record(error(1, None, "x"))],
            ": item 1: error #1: … 'endIndex' … null",
        ),
        (
            [record(error(1, 2, 3))],
            ": item 1: error #1: … 'term' … 3 … words",
        ),
        (
            [record(error(1, 2, "he", 3))],
            ": item 1: error #1: … 'error_category' … 3 … name",
        ),
    ],
)
def test_refused(refuses, content, message):
    refuses(content, "ratings.tsv" + message)


@each(
    ("found", "message"),
    [
        (
            error(12, 14, "cat"),
            "[12, 15) … 'Awkward' … covers … 'dog' … 'cat'",
        ),
        (
            error(12, 30, "dog barks again"),
            "[12, 31) … 'Awkward' … 22 … characters",
        ),
        (
            error(-1, 2, "The"),
            "-1 … 3 … 'Awkward' … 22 … characters",
        ),
    ],
)
def test_refused_spans(refuses, found, message):
    refuses([record(found)], f"ratings.tsv: item 1: error #1: … {message}", bc.SpanError)


def test_texts_that_differ_between_raters_are_not_taken_for_several_documents(read):
    with refused(bc.MismatchError, "ratings.tsv:3: … document … 'one/news/7'"):
        read(sheet(row("A dog."), row("The cat.", by="bo")))


@each(
    ("content", "message", "error"),
    [
        (
            sheet(row("A <v>dog")),
            ":2: … 'A <v>dog' … begin",
            bc.FormatError,
        ),
        (
            sheet(row("A dog."), row("It barks.")),
            ":3: … 'ada' … another … 'one/news/7' … strict='-mismatch'",
            bc.MismatchError,
        ),
        (
            sheet(bio(r"The <tag>child\'s</tag> dog barks."), names=BIO),
            ":2: … differ … strict='-mismatch'",
            bc.MismatchError,
        ),
        (
            [record(error(4, 11, r"child\'s"))],
            ": item 1: error #1: … differ … strict='-mismatch'",
            bc.MismatchError,
        ),
    ],
)
def test_strict_reading_refuses_what_is_mended(refuses, content, message, error):
    refuses(content, "ratings.tsv" + message, error, strict=True)


def test_refused_options(refuses):
    content = sheet(row("A dog."))
    expected = "one of: category, severity, category/severity"
    refuses(content, f"feature is 'x'; expected {expected}", bc.OptionError, feature="x")
    refuses(content, "layer is 'x'; expected target or source", bc.OptionError, layer="x")


class TestDetection:
    @each(
        "content",
        [
            sheet(row("A dog.")),
            sheet(row("A dog.")).decode().encode("utf-16"),
            b"\xef\xbb\xbf" + sheet(row("A dog.")).replace(b"\n", b"\r\n"),
            sheet(names=SIDE_BY_SIDE),
            sheet(bio(), names=BIO),
            sheet(bio(), names=BIO).replace(b"Tagged_Source", b"Tagged Source"),
            sheet(*[row("A dog." * 100)] * 1000),
            json.dumps([record()] * 1000, indent=4).encode("utf-8-sig"),
        ],
    )
    def test_told(self, content):
        assert mqm.is_format(upload_of(content))

    @each(
        "content",
        [
            b"",
            b"\x89PNG\0\0",
            b"system mqm_avg_score seg_id\na 1 2\n",
            b"Ada\tB-PER\nmet\tO\n",
            b"document\trater\tstart\tend\tcategory\n1\tada\t0\t3\tPER\n",
            b'[{"id": 7, "data": {"text": "Ada"}, "annotations": []}]',
            b"{" * 100_000,
        ],
    )
    def test_not_told(self, content):
        assert not mqm.is_format(upload_of(content))

    def test_data_in_memory_is_something_else(self):
        assert not mqm.is_format(upload_of(sheet(row("A dog.")), data=[]))


# --- Whatever comes -----------------------------------------------------------

RECORDS = [
    record(error(12, 14, "dog"), error(4, 11, r"child\'s"), source_errors=[error(4, 7, "Hund")]),
    record(by=32),
]
TABLES = [
    sheet(row("A <v>dog</v>."), row("A dog<v>.</v>"), row("A dog.", *NONE, by="bo")),
    sheet(bio(r"The <tag>child\'s</tag> dog"), bio(by="32"), names=BIO),
]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "dog", "\ud800", "😀", "\\"])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.sampled_from(["term", "startIndex"]), st.integers(), max_size=2)
)


def only_our_errors(content, **options):
    upload = upload_of(content)
    mqm.is_format(upload)
    reading = Reading(ReadOptions(**options))
    try:
        assembled(mqm.read([upload], reading), reading, unit="document", positions="characters")
    except bc.BeyondChanceError as error:
        assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = RECORDS
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(VALUES))
    layer = data.draw(st.sampled_from(["target", "source"]))
    only_our_errors(json.dumps(content).encode(), layer=layer)


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(data.draw(st.sampled_from([*TABLES, json.dumps(RECORDS).encode()])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        new = data.draw(st.binary(max_size=4) | st.sampled_from([b"\t", b"\n", b"<v>", b"</tag>"]))
        content[place : place + length] = new
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary() | st.text(max_size=30).map(str.encode))
def test_anything(content):
    only_our_errors(content)
    only_our_errors(TABLES[0] + content)
