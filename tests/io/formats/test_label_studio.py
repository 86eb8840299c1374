"""Label Studio: JSON and JSON-MIN, people, gold, models, and what is refused."""

import json

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import label_studio
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.messages import spoken
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_notes, assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo."


def mark(start, end, *labels, text=None, kind="labels", **more):
    value = {"start": start, "end": end, kind: list(labels)}
    if text is not None:
        value["text"] = text
    return {"id": "r", "type": kind, "from_name": "label", "to_name": "text", "value": value} | more


ADA = mark(0, 3, "PER", text="Ada")
BO = mark(8, 10, "PER", text="Bo")
OSLO = mark(14, 18, "LOC", text="Oslo")


def done(by, *results, number=1, **more):
    return {"id": number, "completed_by": by, "result": list(results)} | more


def task(*annotations, number=7, data=None, **more):
    return {"id": number, "data": data or {"text": TEXT}, "annotations": list(annotations)} | more


@pytest.fixture
def read(tmp_path):
    def reader(content, **options):
        path = tmp_path / "export.json"
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        path.write_bytes(content)
        return bc.read(path, format="label-studio", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(content, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(content, **options)

    return refuser


def upload_of(content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Upload("export.json", "export", [Source("export.json", member=data)])


class TestJson:
    def test_two_people_and_one_who_found_nothing(self, read):
        corpus = read(
            [
                task(done(1, ADA, OSLO, number=1), done(2, ADA, number=2)),
                task(done(1, number=3), number=8),
            ]
        )
        assert corpus.documents == ("7", "8")
        assert corpus.annotators == ("1", "2")
        assert corpus.spans("7", "1") == [(0, 3, "PER"), (14, 18, "LOC")]
        assert corpus.spans("7", "2") == [(0, 3, "PER")]
        assert corpus.annotators_of("8") == ("1",)
        assert corpus.spans("8", "1") == []
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert (corpus.texts, corpus.gold) == ((TEXT, TEXT), None)
        assert (corpus.skipped, corpus.notes) == ({}, ())

    def test_on_tokens(self, read):
        corpus = read([task(done(1, ADA, OSLO))], positions="tokens")
        assert corpus.spans("7", "1") == [(0, 1, "PER"), (4, 5, "LOC")]

    @each(
        ("by", "name"),
        [
            (5, "5"),
            ("ada", "ada"),
            ({"id": 5, "email": "ada@x.org", "username": "ada"}, "ada"),
            ({"id": 5, "email": "", "username": "ada"}, "ada"),
            ({"id": 5, "email": "", "first_name": ""}, "5"),
            (None, "export"),
        ],
    )
    def test_annotators(self, read, by, name):
        assert read([task(done(by, ADA))]).annotators == (name,)

    def test_a_single_task_and_the_old_name_of_annotations(self, read):
        old = {"id": 7, "data": {"text": TEXT}, "completions": [done(1, ADA)]}
        assert read(old).spans("7", "1") == [(0, 3, "PER")]

    def test_tasks_without_identifiers_are_numbered(self, read):
        plain = {"data": {"text": TEXT}, "annotations": [{"result": [ADA]}]}
        corpus = read([plain, plain])
        assert corpus.documents == ("task 1", "task 2")
        assert corpus.annotators == ("export",)

    def test_a_task_that_nobody_did_is_not_annotated(self, read):
        assert read([task(done(1, ADA)), task(number=8)]).documents == ("7",)

    def test_several_labels_and_none(self, read):
        corpus = read([task(done(1, mark(0, 3, "PER", "ADULT"), mark(4, 7), OSLO))])
        assert corpus.spans("7", "1") == [(0, 3, "PER"), (0, 3, "ADULT"), (14, 18, "LOC")]
        assert corpus.skipped == {"spans without labels ignored": 1}

    def test_other_results_are_counted_by_type(self, read):
        others = [
            {"type": "choices", "value": {"choices": ["good"]}},
            {"type": "choices", "value": {"start": 0, "end": 3, "choices": ["good"]}},
            {"type": "taxonomy", "value": {"taxonomy": [["a", "b"]]}},
            {"type": "relation", "from_id": "r", "to_id": "s"},
        ]
        corpus = read([task(done(1, ADA, *others))])
        assert corpus.spans("7", "1") == [(0, 3, "PER")]
        assert corpus.skipped == {"results that are not spans ignored": 4}
        assert_notes(corpus.notes, "2 'choices' … 1 'taxonomy' … 1 'relation'")

    def test_cancelled_ones_are_left_out(self, read):
        corpus = read([task(done(1, ADA, was_cancelled=True), done(2, BO, was_cancelled=False))])
        assert corpus.annotators == ("2",)
        assert corpus.skipped == {"cancelled annotations left out": 1}

    def test_unfinished_drafts_are_counted(self, read):
        corpus = read([task(done(1, ADA), drafts=[{"result": [BO]}, {"result": []}])])
        assert corpus.skipped == {"unfinished drafts ignored": 2}

    def test_a_folder_of_tasks(self, tmp_path):
        for number in (1, 2):
            path = tmp_path / "tasks" / f"{number}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"data": {"text": TEXT}, "annotations": [done(5, ADA)]}))
        corpus = bc.read(tmp_path / "tasks", format="label-studio")
        assert corpus.documents == ("1, task 1", "2, task 1")


class TestGold:
    def test_ground_truth_is_gold_and_not_its_annotators(self, read):
        corpus = read(
            [
                task(done("ada", ADA, ground_truth=True), done("bo", BO, number=2)),
                task(
                    done("ada", ADA, number=3),
                    done("ada", OSLO, number=4, ground_truth=True),
                    number=8,
                ),
            ],
            gold="starred",
        )
        assert corpus.annotators == ("starred", "bo", "ada")
        assert corpus.gold == "starred"
        assert corpus.annotators_of("7") == ("starred", "bo")
        assert corpus.spans("8", "starred") == [(14, 18, "LOC")]
        assert corpus.spans("8", "ada") == [(0, 3, "PER")]
        (note,) = corpus.notes
        assert_tells(spoken(note.text), "gold standard … 2 … 'ada'")

    def test_by_default_stars_stay_with_their_annotators(self, read):
        corpus = read([task(done("ada", ADA, ground_truth=True), done("bo", BO, number=2))])
        assert (corpus.annotators, corpus.gold) == (("ada", "bo"), None)
        assert corpus.spans("7", "ada") == [(0, 3, "PER")]
        (note,) = corpus.notes
        assert_tells(spoken(note.text), "1 … star … gold='starred'")

    def test_no_star(self, refuses):
        refuses(
            [task(done("ada", ADA))],
            "export.json: … star",
            gold="starred",
        )

    def test_the_same_gold_standard_in_two_files(self, tmp_path):
        """It stands at another place in each."""
        gold = done("ada", BO, number=2, ground_truth=True)
        paths = tmp_path / "one.json", tmp_path / "two.json"
        paths[0].write_text(json.dumps([task(gold, done("bo", BO))]))
        paths[1].write_text(json.dumps([task(done("cy", ADA), gold)]))
        corpus = bc.read(*paths, gold="starred")
        assert corpus.spans("7", "starred") == [(8, 10, "PER")]
        assert set(corpus.annotators) == {"starred", "bo", "cy"}

    def test_an_annotator_named_starred(self, refuses):
        refuses(
            [task(done("starred", ADA), done("bo", BO, number=2, ground_truth=True))],
            "export.json: … called … 'starred'",
            gold="starred",
        )

    @each("options", [{}, {"strict": True}, {"repeated": "last"}])
    def test_two_ground_truths_by_different_people(self, refuses, options):
        refuses(
            [task(done(1, ground_truth=True), done(2, number=9, ground_truth=True))],
            "export.json: task 7: annotation 9: … marked … '2' … '1' … export.json … 7 … 1",
            gold="starred",
            **options,
        )

    def test_two_ground_truths_by_one(self, read, refuses):
        content = [task(done(1, ground_truth=True), done(1, BO, number=9, ground_truth=True))]
        corpus = read(content, gold="starred")
        assert corpus.spans("7", "starred") == [(8, 10, "PER")]
        assert corpus.skipped == {"annotations replaced by a later one": 1}
        refuses(
            content,
            (
                "export.json: task 7: annotation 9: … annotated … "
                "'starred' … export.json … 7 … 1 … repeated='last'"
            ),
            gold="starred",
            strict=True,
        )


class TestAnnotationsOfNobody:
    def test_one_for_each_task_is_that_of_the_file(self, read):
        corpus = read([task(done(None, ADA)), task(done(None, BO), number=8)])
        assert corpus.annotators == ("export",)

    def test_several_of_a_task_are_refused(self, refuses):
        message = (
            "export.json: task 7: annotation 9: … annotator … export.json … 7 … 1 … 'completed_by'"
        )
        unnamed = {"id": 9, "result": [BO]}
        refuses([task(done(None, ADA), unnamed)], message)
        refuses([task(done(None, ADA), done(3, BO, number=4), unnamed)], message)

    def test_so_are_predictions_of_no_model(self, refuses):
        models = [{"id": 3, "result": [BO]}, {"id": 4, "result": []}]
        refuses(
            [task(done(1, ADA), predictions=models)],
            (
                "export.json: task 7: prediction 4: … export.json … 7 … "
                "prediction … 3 … 'model_version'"
            ),
            predictions=True,
        )


class TestPredictions:
    MODELS = ({"id": 3, "model_version": "v2", "result": [BO]}, {"id": 4, "result": []})

    def test_ignored_unless_asked_for(self, read):
        corpus = read([task(done(1, ADA), predictions=list(self.MODELS))])
        assert corpus.annotators == ("1",)
        assert corpus.skipped == {"predictions ignored": 2}

    def test_as_annotators(self, read):
        corpus = read([task(done(1, ADA), predictions=list(self.MODELS))], predictions=True)
        assert corpus.annotators == ("1", "v2", "model")
        assert corpus.spans("7", "v2") == [(8, 10, "PER")]
        assert corpus.spans("7", "model") == []


class TestText:
    def test_the_only_string(self, read):
        corpus = read([task(done(1, ADA), data={"body": TEXT, "page": 3})])
        assert corpus.texts == (TEXT,)

    def test_the_one_named_text(self, read):
        corpus = read([task(done(1), data={"title": "Ada", "text": TEXT})])
        assert corpus.texts == (TEXT,)

    def test_the_one_that_all_spans_fit(self, read):
        # The first task alone would not tell: nobody marked anything in it.
        data = {"title": "Ada and others", "text": "Nothing", "body": TEXT}
        corpus = read([task(done(1), data=data), task(done(1, ADA, OSLO), number=8, data=data)])
        assert corpus.texts == (TEXT, TEXT)

    def test_fitting_by_utf16(self, read):
        data = {"title": "no", "body": "😀 Ada"}
        found = [task(done(1, mark(3, 6, "PER", text="Ada")), data=data)]
        assert read(found, offsets="utf16").spans("7", "1") == [(2, 5, "PER")]

    def test_nothing_tells(self, refuses):
        refuses(
            [task(done(1), data={"title": "a", "body": "b"})],
            "export.json: task 7: annotation 1: … fields … 'title' … 'body' … 'text'",
        )

    def test_emoji_count_one(self, read):
        corpus = read([task(done(1, mark(2, 5, "PER", text="Ada")), data={"text": "😀 Ada"})])
        assert corpus.spans("7", "1") == [(2, 5, "PER")]

    def test_emoji_that_count_two(self, read, refuses):
        found = [task(done(1, mark(3, 6, "PER", text="Ada")), data={"text": "😀 Ada!"})]
        refuses(
            found,
            (
                "export.json: task 7: annotation 1: result #1: … "
                "[3, 6) … 'PER' … covers … 'da!' … 'Ada' … UTF-16 … offsets='utf16'"
            ),
            error=bc.SpanError,
        )
        assert read(found, offsets="utf16").spans("7", "1") == [(2, 5, "PER")]

    @each("stored", ["Ada\r\nBo", "Ada\nBo", "AdaBo", "Ada Bo "])
    def test_line_ends_in_stored_words(self, read, stored):
        found = [task(done(1, mark(0, 7, "PER", text=stored)), data={"text": "Ada\r\nBo"})]
        assert read(found).spans("7", "1") == [(0, 7, "PER")]

    def test_web_pages(self, read):
        page = "<p>Ada &amp; <b>Bo</b><br/>in Oslo</p>"  # Ada & Bo, line end, in Oslo
        value = {
            "start": "/p[1]/text()[2]",
            "end": "/p[1]/text()[2]",
            "startOffset": 3,
            "endOffset": 7,
            "globalOffsets": {"start": 12, "end": 16},
            "text": "Oslo",
            "hypertextlabels": ["LOC"],
        }
        result = {"type": "hypertextlabels", "to_name": "page", "value": value}
        corpus = read([task(done(1, result), data={"html": page})])
        assert corpus.texts == ("Ada & Bo\nin Oslo",)
        assert corpus.spans("7", "1") == [(12, 16, "LOC")]

    def test_broken_web_pages(self, read):
        value = {"globalOffsets": {"start": 0, "end": 3}, "hypertextlabels": ["PER"]}
        result = {"type": "hypertextlabels", "to_name": "page", "value": value}
        corpus = read([task(done(1, result), data={"html": "Ada < Bo <p>&lt;" + "<" * 99})])
        assert corpus.texts == ("Ada < Bo <" + "<" * 99,)
        with refused(bc.FormatError, "readable … 20"):
            read([task(done(1, result), data={"html": "Ada" + "<!--a>" * 21})])

    def test_a_web_page_is_parsed_once(self, read, monkeypatch):
        pages = []
        feed = label_studio._Page.feed
        monkeypatch.setattr(label_studio._Page, "feed", lambda s, p: (pages.append(p), feed(s, p)))
        value = {"globalOffsets": {"start": 0, "end": 3}, "hypertextlabels": ["PER"]}
        result = {"type": "hypertextlabels", "to_name": "page", "value": value}
        page = "<p>Ada, parsed once</p>"
        read([task(*(done(i, result, number=i) for i in range(1, 9)), data={"html": page})])
        assert pages == [page]

    def test_byte_order_mark_and_utf16_file(self, read):
        content = json.dumps([task(done("Zoë", ADA))], ensure_ascii=False)
        assert read(content.encode("utf-8-sig")).annotators == ("Zoë",)
        assert read(content.encode("utf-16")).annotators == ("Zoë",)


class TestJsonMin:
    def flat(self, **more):
        return {"id": 7, "text": TEXT, "annotator": 1, "annotation_id": 4, "lead_time": 2.5} | more

    def test_people_of_one_task_meet(self, read):
        corpus = read(
            [
                self.flat(label=[ADA["value"], OSLO["value"]], mood="good"),
                self.flat(label=[BO["value"]], annotator={"email": "bo@x.org"}, annotation_id=5),
                self.flat(annotator=3, annotation_id=6),
            ]
        )
        assert corpus.annotators == ("1", "bo", "3")
        assert corpus.spans("7", "1") == [(0, 3, "PER"), (14, 18, "LOC")]
        assert corpus.spans("7", "3") == []

    def test_regions_of_other_kinds(self, read):
        box = {"x": 1, "y": 2, "rectanglelabels": ["Car"]}
        choice = {"start": 0, "end": 3, "choices": ["good"]}
        corpus = read([self.flat(label=[ADA["value"]], boxes=[box, box], per_region=[choice])])
        assert corpus.skipped == {"results that are not spans ignored": 3}
        assert_notes(corpus.notes, "2 'boxes' … 1 'choices'")

    def test_an_old_name(self, read):
        old = {"id": 1, "ner": TEXT, "label": [ADA["value"]], "completed_by": 9}
        assert read([old]).spans("1", "9") == [(0, 3, "PER")]

    def test_the_same_annotator_twice(self, refuses):
        refuses(
            [self.flat(), self.flat(annotation_id=5)],
            (
                "export.json: task 7: annotation 5: … annotated … "
                "'1' … export.json … 7 … 4 … repeated='last'"
            ),
            strict=True,
        )

    def test_something_else(self, refuses):
        refuses(
            [{"id": 1, "text": "a"}],
            "export.json: task 1: … 'annotations' … 'annotator' … labelled",
        )


def value(**more):
    return mark(0, 3, "PER") | {"value": mark(0, 3, "PER")["value"] | more}


@each(
    ("content", "message"),
    [
        (b"", "export.json:1: … 1 … value"),
        (
            b"[\n{]",
            "export.json:2: … 2 … property",
        ),
        (b'["\xff"]', "export.json:1: … byte … 0xff … UTF-8 … UTF-8"),
        (
            b"[\0]",
            "export.json:1: … NUL … character … UTF-16",
        ),
        ([], "document"),
        ([3], "export.json: task #1 … 3 … object"),
        ([task(number=[])], "export.json: task #1: … 'id' … list"),
        (
            [{"id": 7, "annotations": []}],
            "export.json: task 7: … 'data' … null",
        ),
        (
            [{"id": 7, "data": {}, "annotations": {}}],
            "export.json: task 7: … 'annotations' … object",
        ),
        ([task("x")], "export.json: task 7: annotation #1 … 'x' … object"),
        (
            [task(done(1, was_cancelled="no"))],
            "export.json: task 7: annotation 1: … 'was_cancelled' … 'no' … false",
        ),
        (
            [task(done(1, ground_truth=1))],
            "export.json: task 7: annotation 1: … 'ground_truth' … 1 … false",
        ),
        ([task(done(1.5))], "export.json: task 7: annotation 1: … 'completed_by' … 1.5 … number"),
        (
            [task(done({}))],
            "export.json: task 7: annotation 1: … 'completed_by' … username",
        ),
        (
            [task(done(1, 2))],
            "export.json: task 7: annotation 1: result #1 … 2 … object",
        ),
        (
            [task(done(1, {"type": 1}))],
            "export.json: task 7: annotation 1: result #1: … 'type' … 1 … string",
        ),
        (
            [task(done(1, {"type": "labels"}))],
            "export.json: task 7: annotation 1: result #1: … 'value' … null",
        ),
        (
            [task(done(1, ADA, value(start=True)))],
            "export.json: task 7: annotation 1: result #2: … 'start' … true",
        ),
        (
            [task(done(1, value(end="3")))],
            "export.json: task 7: annotation 1: result #1: … 'end' … '3' … number",
        ),
        (
            [task(done(1, value(start="/p[1]/text()[1]")))],
            (
                "export.json: task 7: annotation 1: result #1: … "
                "'start' … '/p[1]/text()[1]' … without … 'globalOffsets'"
            ),
        ),
        (
            [task(done(1, value(labels="PER")))],
            "export.json: task 7: annotation 1: result #1: … 'labels' … 'PER' … list",
        ),
        (
            [task(done(1, value(labels=[None])))],
            "export.json: task 7: annotation 1: result #1: … label",
        ),
        (
            [task(done(1, value(text=["Ada"])))],
            "export.json: task 7: annotation 1: result #1: … 'text' … list",
        ),
        (
            [task(done(1, {"type": "paragraphlabels", "value": {}}))],
            "export.json: task 7: annotation 1: result #1: … 'paragraphlabels' … dialogue",
        ),
        (
            [task(done(1, ADA, mark(0, 3, "PER", to_name="title")))],
            "export.json: task 7: annotation 1: … several … 'text' … 'title'",
        ),
        (
            [task(done(1, {"type": "rectanglelabels", "value": {}}))],
            "export.json: … result … 1 … 'rectanglelabels'",
        ),
        (
            [task(done(1, ADA), data={"page": 3})],
            "export.json: task 7: annotation 1: … text",
        ),
        (
            [task(done(1, ADA), data={"text": "https://x.org/a.txt"})],
            "export.json: task 7: annotation 1: … 'text' … address … 'https://x.org/a.txt'",
        ),
        (
            [task(done(1, ADA), done(1, BO, number=2))],
            (
                "export.json: task 7: annotation 2: … annotated … "
                "'1' … export.json … 7 … 1 … repeated='last'"
            ),
        ),
    ],
)
def test_refused(refuses, content, message):
    refuses(content, message, strict=True)


@each(
    ("result", "message"),
    [
        (
            mark(0, 30, "PER"),
            "[0, 30) … 'PER' … 19 … characters",
        ),
        (
            mark(0, 3, "PER", text="Bo"),
            "[0, 3) … 'PER' … covers … 'Ada' … 'Bo'",
        ),
        (
            mark(3, 3, "PER"),
            "[3, 3) … 'PER' … empty … zero_length='skip'",
        ),
    ],
)
def test_refused_spans(refuses, result, message):
    refuses(
        [task(done(1, result))],
        f"export.json: task 7: annotation 1: result #1: … {message}",
        error=bc.SpanError,
    )


class TestDetection:
    @each(
        "content",
        [
            [task(done(1, ADA))],
            task(done(1, ADA)),
            [task(), task(done(1))],
            [{"id": 7, "data": {"text": TEXT}, "completions": []}],
            [{"id": 7, "text": TEXT, "label": [ADA["value"]], "annotator": 1}],
            [{"id": 7, "text": TEXT, "annotator": 1, "annotation_id": 2, "lead_time": 1.0}],
        ],
    )
    def test_told(self, content):
        assert label_studio.is_format(upload_of(content))

    @each(
        "content",
        [
            b"",
            b"\xff\xfe\x00",
            b"\x89PNG\0\0",
            b"Ada B-PER\nmet O\n",
            b"document,annotator,start,end,label\n1,ada,0,3,PER\n",
            b'{"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}\n',
            b'{"document": "1", "annotator": "ada", "start": 0, "end": 3, "label": "PER"}\n',
            b'{"text": "Ada", "_input_hash": 1, "spans": [], "answer": "accept"}\n',
            (
                b'{"annotation_sets": {"": {"name": "", "annotations": [{"type": "PER", "start": '
                b'0, "end": 3, "id": 0, "features": {}}]}}, "text": "Ada"}'
            ),
            b'{"%TYPES": {}, "%VIEWS": {}, "%FEATURE_STRUCTURES": []}',
        ],
    )
    def test_not_told(self, content):
        assert not label_studio.is_format(upload_of(content))

    def test_data_in_memory_is_something_else(self):
        found = upload_of([task(done(1, ADA))])
        assert not label_studio.is_format(Upload(found.name, "a", found.sources, data=[]))


# --- Whatever comes -----------------------------------------------------------

VALID = [
    task(
        done({"email": "ada@x.org", "id": 1}, ADA, OSLO, {"type": "choices", "value": {}}),
        done(2, mark(0, 3, "PER", "X"), number=2, ground_truth=True),
        predictions=[{"id": 1, "model_version": "m", "result": [BO]}],
        data={"text": TEXT, "title": "😀 Ada"},
    ),
    {"id": 8, "text": TEXT, "label": [ADA["value"]], "annotator": 1, "annotation_id": 2},
    task(
        done(
            1,
            {
                "type": "hypertextlabels",
                "value": {
                    "start": "/p[1]",
                    "globalOffsets": {"start": 0, "end": 3},
                    "hypertextlabels": ["PER"],
                },
            },
        ),
        number=9,
        data={"html": "<p>Ada</p><![if x]>"},
    ),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "text", "labels", "Ada", "<p>Ada<br>", "<![x", "\ud800", "😀"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["start", "end", "labels", "id", "type", "value", "data", "result"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def only_our_errors(content, **options):
    reading = Reading(ReadOptions(**options))
    upload = upload_of(content)
    label_studio.is_format(upload)
    for positions in ("characters", "tokens"):
        try:
            assembled(
                label_studio.read([upload], reading), reading, unit="document", positions=positions
            )
        except bc.BeyondChanceError as error:
            assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = VALID
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(content))))
        content = replaced(content, path, data.draw(JSON))
    offsets = data.draw(st.sampled_from([None, "utf16"]))
    only_our_errors(content, predictions=data.draw(st.booleans()), offsets=offsets)


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(json.dumps(VALID, ensure_ascii=False).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary() | JSON)
def test_anything(content):
    only_our_errors(content)


def test_deep_nesting_is_refused_with_a_message():
    deep = b'[{"id": 1, "data": {"text": "a"}, "annotations": ' + b"[" * 900 + b"]" * 900 + b"}]"
    with refused(bc.FormatError, "annotation #1 … list"):
        list(label_studio.read([upload_of(deep)], Reading(ReadOptions())))
    with refused(bc.FormatError, "nested"):
        list(label_studio.read([upload_of(b"[" * 100_000)], Reading(ReadOptions())))


def test_the_annotation_changed_last_counts_if_asked_for(tmp_path):
    early, late = done(1, ADA, number=5), done(1, BO, number=4)
    early["updated_at"], late["updated_at"] = "2024-01-02T03:04:05Z", "2024-01-02T03:04:14Z"
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task(late, early)]), encoding="utf-8")
    corpus = bc.read(path, format="label-studio", repeated="last")
    only_late = tmp_path / "late.json"
    only_late.write_text(json.dumps([task(late)]), encoding="utf-8")
    expected = bc.read(only_late, format="label-studio")
    assert corpus.spans("7", "1") == expected.spans("7", "1")
    assert corpus.skipped == {"annotations replaced by a later one": 1}
    assert corpus.options["repeated"] == "last"


class TestNames:
    """How the export names things, which its writer needs."""

    def test_ids_and_controls(self, read):
        one = {**mark(0, 3, "PER", "NAME", text="Ada"), "id": "xY1"}
        other = {**BO, "id": 7}
        corpus = read([task(done(1, one, other))])
        assert corpus.span_id == ("xY1", "xY1", "")
        assert corpus.origin == {"from_name": "label", "to_name": "text", "text_key": "text"}

    def test_controls_that_differ(self, read):
        corpus = read([task(done(1, ADA, {**BO, "from_name": "other"}))])
        assert corpus.origin == {"to_name": "text", "text_key": "text"}

    def test_what_else_is_known_of_a_task(self, read):
        own = {"id": None, "data": {"body": TEXT, "document_name": "d1", "note": "Look"}}
        corpus = read([{**task(done(1, ADA)), **own, "meta": {"round": "2", "n": 3}}])
        assert (corpus.documents, corpus.texts) == (("d1",), (TEXT,))
        assert corpus.fields == {"round": ("2",), "note": ("Look",)}
        assert corpus.origin["text_key"] == "body"

    def test_what_is_no_field(self, read):
        data = {
            "text": TEXT,
            "title": "A",
            "user": "u",
            "body": "x\ny",
            "a=b": "c",
            "long": "x" * 2000,
        }
        assert read([task(done(1, ADA), data=data)]).fields == {"title": ("A",)}

    def test_a_text_that_is_called_a_note(self, read):
        corpus = read([task(done(1, ADA), data={"note": TEXT, "title": "A"})])
        assert (corpus.documents, corpus.texts) == (("7",), (TEXT,))


def test_annotations_that_began_as_predictions_are_told(read):
    def notes(*annotations):
        return [note for note in read([task(*annotations)]).notes if note.is_caution]

    manual = done(1, ADA | {"origin": "manual"}, parent_prediction=None)
    assert notes(manual, done(2, BO | {"origin": ["odd"]}, number=2)) == []
    taken = [
        done(2, ADA, number=2, parent_prediction=5),
        done(3, BO | {"origin": "prediction-changed"}, number=3),
        done(4, OSLO | {"origin": "prediction"}, number=4),
    ]
    for n, others in ((1, taken[:1]), (3, taken)):
        assert_notes(notes(manual, *others), f"{n} of {n + 1} … predictions")
