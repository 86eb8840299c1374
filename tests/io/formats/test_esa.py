"""ESA: error spans of pearmut, WMT and Appraise, and what is counted or refused."""

import csv
import io
import json

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import esa
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Der Hund bellt laut."


def error(start, last, severity="minor", category=None, **more):
    found = {"start_i": start, "end_i": last, "severity": severity}
    return found | ({} if category is None else {"category": category}) | more


def answer(*errors, score=80):
    return {"score": score, "error_spans": list(errors), "textfield": None}


def log(*errors, by="ada", number=0, text=TEXT, name="seg1", **more):
    """A line of pearmut: one item, translated by one system."""
    item = {"item_id": name, "src": "The dog barks loudly.", "tgt": {"one": text}}
    found = {"user_id": by, "item_i": number, "annotation": [{"one": answer(*errors)}]}
    return found | {"item": [item], "actions": []} | more


def rating(*errors, by="ada"):
    return {"annotator": by, "score": 80.0, "errors": list(errors)}


def segment(scores, text=TEXT, **more):
    """A line of WMT."""
    return {
        "doc_id": "cs-de_#_1",
        "src_text": "",
        "tgt_text": {"one": text},
        "scores": scores,
    } | more


def lines(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def scored(*errors, by="ada", item="7", kind="TGT", at="12.5", **more):
    """A row of Appraise."""
    spans = json.dumps(errors) if "spans" not in more else more["spans"]
    return [by, "one", item, kind, "eng", "deu", "80", "doc1", "False", spans, "11.5", at]


def rows(*values):
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(values)
    return made.getvalue().encode()


def target(text=TEXT, item=7, **more):
    found = {"targetID": "one", "itemID": item, "documentID": "doc1", "itemType": "TGT"}
    return found | {"sourceText": "The dog", "targetText": text} | more


BATCHES = [{"items": [target()], "task": {"batchNo": 1}}]


@pytest.fixture
def read(tmp_path):
    def reader(content, batches=None, **options):
        path = tmp_path / "campaign.jsonl"
        path.write_bytes(content)
        if batches is not None:
            options["documents"] = str(tmp_path / "batches.json")
            (tmp_path / "batches.json").write_text(json.dumps(batches))
        return bc.read(path, format="esa", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(content, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(content, **options)

    return refuser


def upload_of(content, data=None):
    return Upload(
        "campaign.jsonl", "campaign", [Source("campaign.jsonl", member=content)], data=data
    )


class TestPearmut:
    def test_the_last_index_belongs_to_the_error(self, read):
        corpus = read(
            lines(log(error(4, 7)), log(error(9, 13, "major"), by="bo"), log(number=1, name="seg2"))
        )
        assert corpus.documents == ("seg1/one", "seg2/one")
        assert corpus.annotators == ("ada", "bo")
        assert corpus.spans("seg1/one", "ada") == [(4, 8, "minor")]
        assert corpus.spans("seg1/one", "bo") == [(9, 14, "major")]
        assert corpus.annotators_of("seg2/one") == ("ada",)
        assert corpus.texts == (TEXT, TEXT)
        assert corpus.fields == {"system": ("one", "one")}
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert (corpus.skipped, corpus.notes) == ({}, ())

    def test_several_items_and_systems(self, read):
        items = [
            {"item_id": "a", "tgt": {"one": "Ja.", "two": "Jawohl."}},
            {"item_id": "b", "tgt": {"one": "Nein."}},
        ]
        answers = [{"two": answer(error(0, 5)), "one": answer()}, {"one": answer(error(0, 3))}]
        corpus = read(lines(log(item=items, annotation=answers)))
        assert corpus.documents == ("a/two", "a/one", "b/one")
        assert corpus.spans("a/two", "ada") == [(0, 6, "minor")]
        assert corpus.fields == {"system": ("two", "one", "one")}

    def test_line_breaks_are_not_counted_and_emoji_count_two(self, read):
        text = "Ja\n😀 so\n"
        corpus = read(lines(log(error(2, 3), error(5, 6, "major"), text=text)))
        assert corpus.spans("seg1/one", "ada") == [(3, 4, "minor"), (5, 7, "major")]

    def test_an_emoji_that_is_cut_is_taken_as_a_whole(self, read):
        assert read(lines(log(error(3, 3), text="Ja 😀"))).spans("seg1/one", "ada") == [
            (3, 4, "minor")
        ]

    def test_the_sign_for_missing_words_is_cut_off(self, read):
        """It stands behind the text, in which line breaks are not counted."""
        corpus = read(lines(log(error(3, 7), text="ab\ncd ef")))
        assert corpus.spans("seg1/one", "ada") == [(4, 8, "minor")]
        assert corpus.skipped == {"errors cut at the end of their text": 1}
        assert read(lines(log(error(3, 7), text="abcd ef"))).spans("seg1/one", "ada") == [
            (3, 7, "minor")
        ]

    def test_what_is_not_counted_does_not_make_room(self, read):
        with refused(bc.SpanError, "span … [3, 12) … 'minor'"):
            read(lines(log(error(3, 8), text="ab\ncd ef\n\n\n")))

    def test_missing_words_have_no_place(self, read):
        corpus = read(lines(log(error(20, 20), error(21, 21), error("missing", "missing"))))
        assert corpus.spans("seg1/one", "ada") == []
        assert corpus.skipped == {"errors of missing words left out": 3}

    def test_tutorials_checks_forms_and_skipped_texts_are_counted(self, read):
        check = {"item_id": "t", "tgt": {"one": TEXT}, "validation": {"one": {"score": [1, 2]}}}
        form = {"text": "Your age?", "form": "number"}
        corpus = read(
            lines(
                log(number="welcome_0"),
                log(number="random_3"),
                log(item=[check]),
                log(item=[form], annotation=["33"]),
                log(annotation=[{"one": answer(score=None)}]),
                log(number=4, name="last"),
            )
        )
        assert corpus.documents == ("last/one",)
        assert corpus.skipped == {
            "tutorials and attention checks left out": 3,
            "forms left out": 1,
            "texts without a score or an error left out as skipped": 1,
        }

    def test_what_was_reset_does_not_count(self, read):
        reset = {"user_id": "ada", "item_i": 0, "annotation": "__RESET__"}
        other = log(error(0, 2), number=1, name="seg2")
        corpus = read(lines(log(error(0, 2)), other, reset, log(error(4, 7))))
        assert corpus.spans("seg1/one", "ada") == [(4, 8, "minor")]
        assert corpus.skipped == {"annotations before a reset left out": 1}
        everything = {"user_id": "ada", "annotation": "__RESET__"}
        corpus = read(lines(log(error(0, 2)), other, everything, log(error(4, 7)), log(by="bo")))
        assert corpus.documents == ("seg1/one",)
        assert corpus.skipped == {"annotations before a reset left out": 2}

    def test_items_without_a_name_meet_by_text(self, read):
        corpus = read(
            lines(log(name=None), log(name=None, by="bo", number=5), log(text="Ja.", name=""))
        )
        assert corpus.documents == ("1/one", "3/one")
        assert corpus.annotators_of("1/one") == ("ada", "bo")

    @each(
        ("feature", "label"),
        [(None, "major"), ("category", "Style"), ("category/severity", "Style/major")],
    )
    def test_the_label_is_the_severity_or_the_category(self, read, feature, label):
        assert read(lines(log(error(0, 2, "major", "Style"))), feature=feature).labels == (label,)

    def test_errors_without_a_label_and_on_white_space_are_counted(self, read):
        corpus = read(lines(log(error(0, 2, None), error(3, 3), error(4, 8))))
        assert corpus.spans("seg1/one", "ada") == [(4, 8, "minor")]
        assert corpus.skipped == {
            "errors without a severity left out": 1,
            "marks of nothing but white space left out": 1,
            "spans trimmed of white space": 1,
        }


class TestWmt:
    def test_annotators_are_in_a_list(self, read):
        ratings = [rating(error(4, 7)), rating(error(9, 13, "major"), by="bo")]
        corpus = read(lines(segment({"one": ratings}), segment({}, doc_id="other")))
        assert corpus.documents == ("cs-de_#_1/one",)
        assert corpus.spans("cs-de_#_1/one", "ada") == [(4, 8, "minor")]
        assert corpus.spans("cs-de_#_1/one", "bo") == [(9, 14, "major")]
        assert corpus.fields == {"system": ("one",)}

    def test_or_numbered(self, read):
        scores = {"human1": 1, "errors1": [], "annotator1": "ada", "errors2": [error(0, 2)]}
        corpus = read(lines(segment({"one": scores | {"annotator2": "bo"}})))
        assert corpus.spans("cs-de_#_1/one", "ada") == []
        assert corpus.spans("cs-de_#_1/one", "bo") == [(0, 3, "minor")]

    def test_line_breaks_are_counted_and_emoji_count_two(self, read):
        corpus = read(lines(segment({"one": [rating(error(3, 4))]}, text="Ja\n😀")))
        assert corpus.spans("cs-de_#_1/one", "ada") == [(3, 4, "minor")]

    def test_missing_words_and_scores_alone_are_counted(self, read):
        ratings = [rating(error("missing", "missing")), {"annotator": "bo", "score": 3}]
        corpus = read(lines(segment({"one": ratings})))
        assert corpus.annotators == ("ada",)
        assert corpus.skipped == {
            "errors of missing words left out": 1,
            "ratings without error spans left out": 1,
        }


class TestAppraise:
    def test_texts_are_in_the_batches(self, read):
        content = rows(scored(error(4, 7, error_type=None)), scored(by="bo"))
        corpus = read(content, BATCHES)
        assert corpus.documents == ("doc1/7/one",)
        assert corpus.annotators == ("ada", "bo")
        assert corpus.spans("doc1/7/one", "ada") == [(4, 8, "minor")]
        assert corpus.texts == (TEXT,)

    def test_rows_without_times_and_errors_as_python_writes_them(self, read):
        spans = "{'start_i': 4, 'end_i': 7, 'severity': 'major'}"
        corpus = read(rows(scored(spans=spans)[:10]), BATCHES)
        assert corpus.spans("doc1/7/one", "ada") == [(4, 8, "major")]

    def test_apostrophes_in_errors_as_python_writes_them(self, read):
        spans = str({"start_i": 4, "end_i": 7, "severity": "ma'jor", "note": 'it\'s "so"'})
        corpus = read(rows(scored(spans=spans)[:10]), BATCHES)
        assert corpus.spans("doc1/7/one", "ada") == [(4, 8, "ma'jor")]

    def test_categories_are_lists(self, read):
        content = rows(scored(error(4, 7, error_type=["Accuracy", "Addition"])))
        assert read(content, BATCHES, feature="category").labels == ("Accuracy/Addition",)

    def test_tests_and_tutorials_are_counted(self, read):
        batches = [
            {"items": [target(), target(item=8, mqm={"tutorial": {}}), target(itemType="BAD")]}
        ]
        content = rows(scored(), scored(item="8"), scored(kind="BAD", by="bo"))
        corpus = read(content, batches)
        assert corpus.annotators == ("ada",)
        assert corpus.skipped == {"tutorials and attention checks left out": 2}

    def test_items_with_several_texts_are_counted(self, read):
        batches = [{"items": [target(), target("Anders."), target(item=8)]}]
        corpus = read(rows(scored(), scored(item="8")), batches)
        assert corpus.documents == ("doc1/8/one",)
        assert corpus.skipped == {"items with several texts left out": 1}

    def test_the_last_by_time_replaces_the_others(self, read):
        content = rows(scored(error(4, 7), at="30.5"), scored(error(0, 2), at="9.5"))
        corpus = read(content, BATCHES, repeated="last")
        assert corpus.spans("doc1/7/one", "ada") == [(4, 8, "minor")]

    def test_a_line_break_is_one_character(self, read):
        corpus = read(rows(scored(error(3, 5))), [{"items": [target("Ja<br>Neu")]}])
        assert corpus.texts == ("Ja\nNeu",)
        assert corpus.spans("doc1/7/one", "ada") == [(3, 6, "minor")]


BEGIN = "campaign.jsonl:2: … "
FIRST = log(number=9, name="first")


@each(
    ("second", "message"),
    [
        (3, "3 … object"),
        (
            log(item=None),
            "'item' … texts … 'item'",
        ),
        (
            log(annotation=[]),
            "1 … 0 … annotations",
        ),
        (log(by=[]), "'user_id' … list"),
        (log(item=[3]), "item #1 … 3 … object"),
        (log(item=[{"tgt": "Ja"}]), "item #1: … 'tgt' … 'Ja' … object"),
        (log(annotation=[None]), "item #1: … annotation"),
        (
            log(annotation=[{"one": 3}]),
            "item #1: … system … 3",
        ),
        (
            log(annotation=[{"two": answer()}]),
            "item #1: … 'two' … missing",
        ),
        (log(annotation=[{"one": {"error_spans": 3}}]), "'error_spans' … 3 … list"),
        (log(3), "error #1 … 3 … object"),
        (log(error(0, 1.5)), "error #1: … 'end_i' … 1.5 … number"),
        (log(error(None, 1)), "error #1: … 'start_i' … null"),
        (log(error(0, 1, {})), "error #1: … 'severity' … object"),
    ],
)
def test_refused_logs(refuses, second, message):
    refuses(lines(FIRST, second), BEGIN + message)


@each("found", [error(18, 21), error(4, 2), error(-1, 2)])
def test_refused_spans(refuses, found):
    span = f"span [{found['start_i']}, {found['end_i'] + 1}) 'minor'"
    refuses(
        lines(log(found)),
        f"campaign.jsonl:1: error #1: … {span} … 20 … characters",
        bc.SpanError,
    )


@each(
    ("scores", "message"),
    [
        ({"one": 3}, "rating … 3"),
        ({"two": []}, "'two' … missing"),
        ({"one": [{"errors": []}]}, "'annotator' … null"),
        ({"one": [rating() | {"errors": 3}]}, "'errors' … 3 … list"),
    ],
)
def test_refused_segments(refuses, scores, message):
    refuses(lines(segment({}), segment(scores)), BEGIN + message)


@each(
    ("content", "batches", "message"),
    [
        (
            rows(scored()),
            None,
            "campaign.jsonl: … Appraise … documents=FILE",
        ),
        (
            rows(scored(), scored(item="9")),
            BATCHES,
            "campaign.jsonl:2: item '9' … 'one' … document … 'doc1' … batches.json",
        ),
        (
            rows(scored(), scored(spans="[")),
            BATCHES,
            "campaign.jsonl:2: … 2 … Expecting",
        ),
        (
            rows(scored(), scored(spans="3")),
            BATCHES,
            "campaign.jsonl:2: … errors … 3",
        ),
        (
            rows(scored(), scored()[:10]),
            BATCHES,
            "campaign.jsonl:2: … 10 … columns … 12",
        ),
        (rows(scored()), [3], "batches.json: … batch … 3"),
        (
            rows(scored()),
            [{"items": [3]}],
            "batches.json: item #1: … 3",
        ),
        (
            rows(scored()),
            [{"items": [target(None)]}],
            "batches.json: item #1: … 'targetText'",
        ),
    ],
)
def test_refused_tables(refuses, content, batches, message):
    refuses(content, message, batches=batches)


def test_refused_options(refuses):
    expected = "one of: category, severity, category/severity"
    refuses(lines(log()), f"feature is 'x'; expected {expected}", bc.OptionError, feature="x")
    refuses(
        lines(log()),
        "campaign.jsonl: … documents",
        bc.OptionError,
        batches=BATCHES,
    )


class TestDetection:
    @each(
        "content",
        [
            lines(log()),
            b"\xef\xbb\xbf\r\n" + lines(log()),
            lines(log(item=None)),
            lines(log(text=TEXT * 5000)),
            lines(segment({})),
            lines(segment({"one": [rating()]}, text=TEXT * 5000)),
            lines({"scores": {"one": [rating()]}, "tgt_text": {"one": TEXT * 5000}}),
            rows(scored()),
            rows(scored(error(0, 2))[:10]),
        ],
    )
    def test_told(self, content):
        assert esa.is_format(upload_of(content))

    @each(
        "content",
        [
            b"",
            b"\x89PNG\0\0",
            b"{",
            b"{" * 100_000,
            b"[1]\n",
            b"Ada\tB-PER\nmet\tO\n",
            b"document,annotator,start,end,label\n1,ada,0,3,PER\n",
            b"a,b,c,d,e,f,g,h,i,j\n",
            lines({"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}),
            lines({"tokens": ["Ada"], "scores": [1]}),
        ],
    )
    def test_not_told(self, content):
        assert not esa.is_format(upload_of(content))

    def test_data_in_memory_is_something_else(self):
        assert not esa.is_format(upload_of(lines(log()), data=[]))


# --- Whatever comes -----------------------------------------------------------

VALID = [
    log(error(4, 7), error(20, 20), text=TEXT),
    {"user_id": "ada", "item_i": 0, "annotation": "__RESET__"},
    log(error(4, 7, category="Style"), by="bo"),
]
SEGMENTS = [segment({"one": [rating(error(4, 7)), rating(by="bo")]})]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "one", "missing", "__RESET__", "\ud800", "😀\n"])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.sampled_from(["one", "start_i"]), st.integers(), max_size=2)
)


def only_our_errors(content, folder, **options):
    upload = upload_of(content)
    esa.is_format(upload)
    reading = Reading(ReadOptions(documents=folder and str(folder / "batches.json"), **options))
    try:
        assembled(esa.read([upload], reading), reading, unit="document", positions="characters")
    except bc.BeyondChanceError as error:
        assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = data.draw(st.sampled_from([VALID, SEGMENTS]))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(VALUES))
    only_our_errors("".join(json.dumps(value) + "\n" for value in content).encode(), None)


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_replaced_values_of_batches(data, tmp_path_factory):
    batches = BATCHES
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(batches))))
        batches = replaced(batches, path, data.draw(VALUES))
    folder = tmp_path_factory.mktemp("batches")
    (folder / "batches.json").write_text(json.dumps(batches))
    only_our_errors(rows(scored(error(4, 7))), folder)


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    (folder / "batches.json").write_text(json.dumps(BATCHES))
    table = rows(scored(error(4, 7)), scored(by="bo"))
    whole = data.draw(st.sampled_from([lines(*VALID), lines(*SEGMENTS), table]))
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content), folder if whole is table else None)


@examples(150)
@given(content=st.binary())
def test_anything(content):
    only_our_errors(content, None)
