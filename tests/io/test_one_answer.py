"""The same annotations have the same scores, whatever file they come from."""

import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.offsets import tokenized
from beyondchance.settings import added_settings
from each import each
from examples import examples
from refusals import assert_notes, refused

PATHS = {
    "conll": "c/",
    "table": "t.csv",
    "jsonl": "t.jsonl",
    "doccano": "d/",
    "label-studio": "l.json",
    "prodigy": "p.jsonl",
    "webanno-tsv": "w/",
}


def scores(corpus):
    return [bc.agreement(corpus, measure=measure).corrected for measure in ("token", "exact")]


@each("name", PATHS)
def test_the_example_in_every_format(name, tmp_path):
    corpus, path = bc.example(), f"{tmp_path}/{PATHS[name]}"
    bc.write(corpus, path, format="table" if name == "jsonl" else name)
    found = bc.read(path)
    assert (found.unit, found.positions) == ("sentence", "tokens")
    assert scores(found) == scores(corpus)


def test_the_example_as_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    bc.write(bc.example(), tmp_path / "t.parquet")
    assert scores(bc.read(tmp_path / "t.parquet")) == scores(bc.example())
    assert scores(bc.scan(tmp_path / "t.parquet")) == scores(bc.example())


def test_brat_has_no_sentences(tmp_path):
    bc.write(bc.example(), tmp_path / "t.csv")
    bc.write(bc.example(), f"{tmp_path}/brat/", format="brat")
    by_document = scores(bc.read(tmp_path / "t.csv", unit="document"))
    assert scores(bc.read(tmp_path / "brat", positions="whitespace")) == by_document


@each("asked", [{}, {"unit": "document"}])
@each("positions", ["characters", None])
def test_tables_of_texts_without_tokens(asked, positions, tmp_path):
    """Of texts in two sentences, by characters and by the tokens of a rule."""
    spans = {"x": [[(0, 3, "P")], [(0, 4, "L")]], "y": [[(0, 7, "P")], []]}
    corpus = bc.Corpus.from_spans(spans, texts=["Ada sat.", "Rome"], documents=["a", "a"])
    bc.write(corpus, f"{tmp_path}/d/", format="doccano")
    read = bc.read(f"{tmp_path}/d/", positions=positions, **asked)
    bc.write(read, tmp_path / "t.csv", format="table")
    again = bc.read(tmp_path / "t.csv")
    assert (again.unit, again.positions) == (read.unit, positions or "tokens")
    assert again.text_length.tolist() == read.text_length.tolist()
    assert scores(again) == scores(read)


# --- Tokens by rule -----------------------------------------------------------


@each(
    ("text", "tokens"),
    [
        ("St. Anne's", ["St", ".", "Anne", "'", "s"]),
        ("naïve nai\u0308ve", ["naïve", "nai\u0308ve"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("東京の iPhone15で", ["東", "京", "の", "iPhone15", "で"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("👩‍💻👍🏽 🇳🇴🇸🇪!", ["👩‍💻", "👍🏽", "🇳🇴", "🇸🇪", "!"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("한국어", ["한국어"]),
    ],
)
def test_tokens_by_rule(text, tokens):
    assert [text[start:end] for start, end in tokenized(text)] == tokens


@examples(300)
@given(st.text())
def test_every_visible_character_is_in_one_token(text):
    places = tokenized(text)
    inside = [place for start, end in places for place in range(start, end)]
    assert inside == [place for place, sign in enumerate(text) if not sign.isspace()]
    for start, _ in places:
        # A mark begins a token only where nothing stands before it.
        is_mark = unicodedata.category(text[start])[0] == "M"
        assert not is_mark or start == 0 or text[start - 1].isspace()


def test_spans_that_cut_tokens_are_said():
    one, two = [[(0, 2, "P"), (4, 7, "P")]], [[(4, 7, "P")]]
    corpus = bc.corpus(one, two, texts=["Ada sat."])
    assert corpus.spans("0", "a") == [(0, 1, "P"), (1, 2, "P")]
    assert_notes(corpus.notes, "1 of 3 spans cut tokens … positions='characters'")
    assert not bc.corpus(two, two, texts=["Ada sat."]).notes


# --- Columns of tables --------------------------------------------------------

HEAD = "document,annotator,start,end,label,length,sentence_lengths,offsets_in\n"


def table(path, *rows):
    (path / "t.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path / "t.csv"


@each(
    ("row", "kind", "told"),
    [
        ("a,x,0,1,P,9,4 5,words", bc.FormatError, "t.csv: … offsets_in … 'words' … tokens"),
        ("a,x,0,1,P,9,4 4,tokens", bc.FormatError, "t.csv: … 'a' … 8, not 9"),
        ("a,x,0,1,P,9,4+5,tokens", bc.FormatError, "t.csv: … sentence_lengths … '4+5' … 12 9 8"),
        ("a,x,3,6,P,9,4 5,tokens", bc.SpanError, "t.csv:2: … [3, 6) … one sentence"),
    ],
)
def test_columns_that_make_no_sense(row, kind, told, tmp_path):
    with refused(kind, told):
        bc.read(table(tmp_path, row, "a,y,0,1,P,9,,tokens"))


def test_two_sizes_of_a_document(tmp_path):
    with refused(bc.FormatError, "t.csv: … sentence_lengths …"):
        bc.read(table(tmp_path, "a,x,0,1,P,9,4 5,tokens", "a,y,0,1,P,9,5 4,tokens"))


def test_what_options_say(tmp_path):
    path = table(tmp_path, "a,x,3,6,P,9,4 5,tokens", "a,y,0,1,P,9,,tokens")
    assert bc.read(path, unit="document").spans("a", "x") == [(3, 6, "P")]
    with refused(bc.OptionError, "tokens … offsets_in", use="positions"):
        bc.read(path, unit="document", positions="characters")
    path = table(tmp_path, "a,x,3,6,P,9,,tokens", "a,y,0,1,P,9,,tokens")
    with refused(bc.OptionError, "sentences", use="unit"):
        bc.read(path, unit="sentence")


def test_a_text_that_is_an_address(tmp_path):
    words = "https://example.org/a"
    corpus = bc.Corpus.from_spans({"x": [[(0, 21, "URL")]], "y": [[]]}, texts=[words])
    bc.write(corpus, tmp_path / "l.json", format="label-studio")
    assert bc.read(tmp_path / "l.json", positions="characters").spans("0", "x") == [(0, 21, "URL")]


# --- Sentences that files have ------------------------------------------------


def entry(text, *labels, **more):
    return json.dumps({"id": "1", "text": text, "label": list(labels), **more}) + "\n"


def saved(path, **files):
    for name, content in files.items():
        (path / f"{name}.jsonl").write_text(content)
    return [path / f"{name}.jsonl" for name in files]


TEXT = "Don't stop. Mr. Day!"


def test_sentences_that_differ_are_not_used(tmp_path):
    x = entry(TEXT, [0, 5, "P"], sentence_offsets=[[0, 11], [12, 20]])
    y = entry(TEXT, [12, 19, "P"], sentence_offsets=[[0, 20]])
    paths = saved(tmp_path, x=x, y=y)
    for order in (paths, paths[::-1]):
        assert bc.read(*order).unit == "document"


def test_sentences_of_one_annotator(tmp_path):
    x = entry(TEXT, [0, 5, "P"])
    y = entry(TEXT.replace(". ", ".\n", 1), [0, 5, "P"], sentence_offsets=[[0, 11], [12, 20]])
    paths = saved(tmp_path, x=x, y=y)
    assert bc.read(*paths).unit == "document"
    assert bc.read(*paths[::-1]).text_length.tolist() == [5, 4]


@each("places", [[[0, 8], [5, 20]], [[-3, 11], [11, 20]], [[0, 11], [12, 21]]])
def test_sentences_out_of_place(tmp_path, places):
    paths = saved(tmp_path, x=entry(TEXT, [0, 5, "P"], sentence_offsets=places))
    with refused(bc.FormatError, "'1' … within"):
        bc.read(*paths, format="doccano")


def test_no_sentences(tmp_path):
    paths = saved(tmp_path, x=entry(TEXT, [0, 5, "P"], sentence_offsets=[]))
    assert bc.read(*paths).unit == "document"


def test_sentences_of_texts_in_tables(tmp_path):
    rows = "document,annotator,start,end,label,text,sentence_lengths\n"
    (tmp_path / "t.csv").write_text(f"{rows}a,x,0,3,P,abc defgh,3 4\na,y,0,3,P,,\n")
    with refused(bc.FormatError, "'a' … 8 … 9"):
        bc.read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(f"{rows}a,x,0,3,P,abc defgh,3 5\nb,x,0,3,P,abc,\n")
    with refused(bc.FormatError, "'b' … sentence_lengths"):
        bc.read(tmp_path / "t.csv")


def test_other_offsets_leave_them_out(tmp_path):
    corpus = bc.Corpus.from_tags(
        {"x": [["B-P"], ["O"]]}, tokens=[["😀"], ["Ada"]], documents=["a", "a"]
    )
    bc.write(corpus, tmp_path / "l.json", format="label-studio")
    assert bc.read(tmp_path / "l.json").unit == "sentence"
    found = bc.read(tmp_path / "l.json", offsets="codepoints")
    assert found.unit == "document"
    assert_notes(found.notes, "label-studio", "tokens and sentences … other offsets")


def test_parts_with_tokens_of_files_and_by_rule():
    one, two = (
        bc.Settings.parse(f"beyondchance|measure:token|tokens:{x}") for x in ("file", "rule")
    )
    assert added_settings([one, two]).tokens == "file+rule"
