"""spaCy's DocBin, written by spaCy itself."""

import contextlib
import gc
import zlib

import pytest
import spacy as library
import srsly
from hypothesis import given, strategies as st
from spacy.tokens import Doc, DocBin, Span

import beyondchance as bc
from beyondchance.io import sources
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import spacy
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import refused

VOCAB = library.blank("xx").vocab


def made(words, entities=(), groups=None, **more):
    """A document; `entities` None leaves them unset."""
    doc = Doc(VOCAB, words=words, **more)
    if entities is not None:
        doc.ents = [Span(doc, *entity) for entity in entities]
    for key, spans in (groups or {}).items():
        doc.spans[key] = [Span(doc, *span) for span in spans]
    return doc


def packed(*docs, **options):
    return DocBin(docs=docs, **options).to_bytes()


def changed(content, **values):
    """A file with other values under some keys."""
    message = srsly.msgpack_loads(zlib.decompress(content))
    message.update(values)
    message = {key: value for key, value in message.items() if value is not None}
    return zlib.compress(srsly.msgpack_dumps(message))


WORDS = ["Mia", "Lund", "lives", "in", "Oslo"]
PLAIN = made(WORDS, [(0, 2, "PER"), (4, 5, "LOC")])
SIMPLE = packed(PLAIN)
GROUPED = packed(made(WORDS, [(4, 5, "LOC")], {"sc": [(0, 2, "PER"), (0, 1, "NAME")], "x": []}))


@pytest.fixture
def read(tmp_path):
    def reader(content, **options):
        path = tmp_path / "anna.spacy"
        path.write_bytes(content)
        return bc.read(path, format="spacy", **options)

    return reader


def test_entities(read):
    corpus = read(SIMPLE)
    assert corpus.documents == ("1",)
    assert corpus.annotators == ("anna",)
    assert corpus.spans("1", "anna") == [(0, 2, "PER"), (4, 5, "LOC")]
    assert corpus.texts == ("Mia Lund lives in Oslo ",)
    assert corpus.text_length.tolist() == [5]
    assert (corpus.unit, corpus.positions) == ("document", "tokens")
    assert corpus.skipped == {}
    assert corpus.options["tokens"] == "file"


def test_two_annotators(tmp_path):
    (tmp_path / "anna.spacy").write_bytes(SIMPLE)
    (tmp_path / "ben.spacy").write_bytes(packed(made(WORDS, [(0, 1, "PER")])))
    corpus = bc.read(tmp_path / "anna.spacy", tmp_path / "ben.spacy", format="spacy")
    assert corpus.annotators_of("1") == ("anna", "ben")
    assert corpus.spans("1", "ben") == [(0, 1, "PER")]


def test_not_annotated_is_not_empty(read):
    corpus = read(packed(PLAIN, made(["none"], []), made(["unseen"], None)))
    assert corpus.documents == ("1", "2")
    assert corpus.spans("2", "anna") == []
    assert corpus.skipped == {"documents not annotated": 1}


def test_entities_set_in_part_are_counted(read):
    doc = made(WORDS, None)
    doc.set_ents([Span(doc, 0, 1, "PER")], default="missing")
    corpus = read(packed(doc))
    assert corpus.spans("1", "anna") == [(0, 1, "PER")]
    assert corpus.skipped == {"tokens whose entities were not set, taken as outside": 4}


def test_span_groups(read):
    corpus = read(GROUPED, layer="sc")
    assert sorted(corpus.spans("1", "anna")) == [(0, 1, "NAME"), (0, 2, "PER")]
    assert corpus.skipped == {"span groups ignored": 1, "entities ignored": 1}
    assert corpus.options["layer"] == "sc"
    assert read(GROUPED, layer="x").spans("1", "anna") == []
    ents = read(GROUPED)
    assert ents.spans("1", "anna") == [(4, 5, "LOC")]
    assert ents.skipped == {"span groups ignored": 2}


def test_a_document_without_the_group_is_not_annotated(read):
    corpus = read(packed(made(WORDS, None, {"sc": [(0, 1, "A")]}), PLAIN), layer="sc")
    assert corpus.documents == ("1",)
    assert corpus.skipped == {"documents not annotated": 1, "entities ignored": 2}


def test_span_groups_of_older_versions(read):
    message = srsly.msgpack_loads(zlib.decompress(GROUPED))
    groups = srsly.msgpack_loads(message["span_groups"][0])
    old = changed(GROUPED, span_groups=[srsly.msgpack_dumps(list(groups))])
    assert sorted(read(old, layer="sc").spans("1", "anna")) == [(0, 1, "NAME"), (0, 2, "PER")]
    assert read(changed(SIMPLE, span_groups=None, flags=None)).spans("1", "anna")


def test_sentences(read):
    doc = made(WORDS, [(4, 5, "LOC")], sent_starts=[True, False, False, True, False])
    corpus = read(packed(doc), unit="sentence")
    assert corpus.text_length.tolist() == [3, 2]
    assert corpus.spans("1", "anna") == [(1, 2, "LOC")]
    with refused(bc.DataError, "document '1' … sentences … unit='document'"):
        read(SIMPLE, unit="sentence")


def test_characters_emoji_and_spaces(read):
    doc = made(["😀", "Oslo", "!"], [(1, 2, "LOC")], spaces=[True, False, False])
    corpus = read(packed(doc), positions="characters")
    assert corpus.texts == ("😀 Oslo!",)
    assert corpus.spans("1", "anna") == [(2, 6, "LOC")]


def test_only_some_attributes(read):
    content = packed(PLAIN, attrs=["ENT_IOB", "ENT_TYPE"])
    assert read(content).spans("1", "anna") == [(0, 2, "PER"), (4, 5, "LOC")]


def test_user_data_and_categories_are_never_opened(read):
    doc = made(WORDS, [(4, 5, "LOC")])
    doc.cats = {"good": 1.0}
    doc.user_data["anything"] = [1, 2]
    corpus = read(packed(doc, store_user_data=True))
    assert corpus.spans("1", "anna") == [(4, 5, "LOC")]
    assert corpus.skipped == {
        "categories of documents ignored": 1,
        "user data of documents ignored": 1,
    }
    # Bytes that are no message at all stay closed.
    assert read(changed(SIMPLE, user_data=[b"\xc1"])).spans("1", "anna")


class TestInMemory:
    def test_lists_match_by_order(self):
        other = made(WORDS, [(0, 1, "PER")])
        corpus = bc.read([PLAIN, made(["none"], [])], (other, made(["none"], [])))
        assert corpus.documents == ("1", "2")
        assert corpus.spans("1", "annotator 1") == [(0, 2, "PER"), (4, 5, "LOC")]
        assert corpus.spans("1", "annotator 2") == [(0, 1, "PER")]
        assert corpus.annotators_of("2") == ("annotator 1", "annotator 2")

    @each("data", [PLAIN, [PLAIN], (PLAIN,), DocBin(docs=[PLAIN])])
    def test_shapes(self, data):
        assert bc.read(data).spans("1", "annotator 1") == [(0, 2, "PER"), (4, 5, "LOC")]

    def test_documents_with_other_vocabularies(self):
        other = library.blank("en")("Oslo is far.")
        other.ents = [Span(other, 0, 1, "CITY")]
        corpus = bc.read([PLAIN, other])
        assert corpus.spans("2", "annotator 1") == [(0, 1, "CITY")]
        assert corpus.texts[1] == "Oslo is far."

    def test_span_groups_in_memory(self):
        doc = made(WORDS, [(4, 5, "LOC")], {"sc": [(0, 2, "PER"), (0, 1, "NAME")]})
        corpus = bc.read([doc], layer="sc")
        assert sorted(corpus.spans("1", "annotator 1")) == [(0, 1, "NAME"), (0, 2, "PER")]

    def test_many_equal_documents(self, monkeypatch):
        # They would be too small a file for what they hold.
        monkeypatch.setattr(sources, "_LEAST_UNPACKED", 100)
        monkeypatch.setattr(sources, "MOST_EXPANSION", 2)
        assert len(bc.read([PLAIN] * 50).documents) == 50

    def test_something_else_in_the_list(self):
        with refused(bc.FormatError, "data 1: document 2: … str"):
            bc.read([PLAIN, "Oslo"])

    @each("data", [[], [["B-X"]], PLAIN[0:1], [PLAIN[0:1]], [[PLAIN]], {}])
    def test_other_data_is_something_else(self, data):
        assert not spacy.is_format(Upload("x", "x", [], data=data))


def test_folders(tmp_path):
    for annotator in ("anna", "ben"):
        (tmp_path / annotator).mkdir()
        (tmp_path / annotator / "one.spacy").write_bytes(SIMPLE)
        (tmp_path / annotator / "meta.json").write_text("{}")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben", format="spacy")
    assert corpus.documents == ("one/1",)
    assert corpus.annotators == ("anna", "ben")
    assert corpus.skipped == {"files of other formats ignored": 2}


def with_span(start, end, label):
    """A file whose span group was tampered with."""
    span = spacy._SPAN.pack(0, 0, label, start, end, 0, 0)
    group = srsly.msgpack_dumps({"name": "sc", "attrs": {}, "spans": [span]})
    return changed(SIMPLE, span_groups=[srsly.msgpack_dumps({group: ["sc"]})])


BLOCKED = made(WORDS, None)
BLOCKED.set_ents([], blocked=[BLOCKED[1:2]])
PER = VOCAB.strings["PER"]


@pytest.mark.slow
@each(
    ("content", "options", "message"),
    [
        (b"", {}, ": … early"),
        (SIMPLE[:-9], {}, ": … early"),
        (
            b"Oslo B-LOC\n",
            {},
            ": … -3 … decompressing",
        ),
        (
            zlib.compress(srsly.msgpack_dumps([1])),
            {},
            ": … list",
        ),
        (
            changed(SIMPLE, attrs=None),
            {},
            ": … 'attrs' … null",
        ),
        (
            changed(SIMPLE, attrs=[77]),
            {},
            ": … 'attrs' … 77 … different … 65",
        ),
        (
            changed(SIMPLE, strings=["a", 3]),
            {},
            ": … 'strings' … 3 … str … write",
        ),
        (
            changed(SIMPLE, tokens=b"1234567"),
            {},
            ": … 'tokens' … b'1234567' … bytes … 104",
        ),
        (
            changed(SIMPLE, spaces=b"\1"),
            {},
            ": … 5 … 1 … spaces … 5",
        ),
        (
            changed(SIMPLE, lengths=b"\xff\xff\xff\xff\6\0\0\0"),
            {},
            ": … 5 … 5 … spaces … 5",
        ),
        (
            changed(SIMPLE, flags=[]),
            {},
            ": … 'flags' … 0 … values … 1",
        ),
        (
            changed(SIMPLE, span_groups=[b"\x01"]),
            {},
            ": document 1: … groups … 1",
        ),
        (
            SIMPLE,
            {"layer": "sc"},
            ": … group … 'sc'",
        ),
        (
            GROUPED,
            {"layer": "sd"},
            ": … group … 'sd' … 'sc' … 'x'",
        ),
        (
            packed(made(WORDS, None, {"sc": []})),
            {},
            ": … entities … layer=NAME … 'sc'",
        ),
        (
            packed(PLAIN, BLOCKED),
            {},
            ": document 2: … entity … 1",
        ),
        (
            packed(PLAIN, attrs=["ENT_IOB"]),
            {},
            ": document 1: … entity … 0",
        ),
        (
            with_span(0, 99, PER),
            {"layer": "sc"},
            ": document 1: … [0, 99) … 'sc' … lie … 5",
        ),
        (
            with_span(0, 1, 0),
            {"layer": "sc"},
            ": document 1: … [0, 1) … 'sc' … label",
        ),
        (
            with_span(0, 1, 12345),
            {"layer": "sc"},
            ": document 1: … [0, 1) … 'sc' … spell",
        ),
    ],
)
def test_malformed(read, content, options, message):
    with refused(bc.FormatError, f"/anna.spacy{message}"):
        read(content, **options)


def test_words_that_the_file_does_not_spell_out(read):
    with refused(bc.FormatError, "anna.spacy: … cannot"):
        read(changed(SIMPLE, strings=[]))


def test_nothing_unfolds_without_end(read, monkeypatch):
    bomb = zlib.compress(b"\0" * 2**24)
    with refused(bc.FormatError, f"unfolds … {len(bomb):,} … {200 * len(bomb):,} … max_size="):
        read(bomb)
    monkeypatch.setattr(sources, "MOST_BYTES", 100)
    monkeypatch.setattr(Source, "data", SIMPLE)
    with refused(bc.FormatError, "more … 100 … 100"):
        read(SIMPLE)


def test_the_garbage_collector_stays_on(read):
    with refused(bc.FormatError, "anna.spacy: … DocBin … file"):
        read(zlib.compress(b"\xc1"))
    assert gc.isenabled()


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


def test_detection():
    assert spacy.is_format(upload(SIMPLE))
    assert spacy.is_format(upload(packed(PLAIN, made(["x"], []), store_user_data=True)))
    for other in (
        b"",
        b"x",
        b"\x78\x9c\0\xff",
        zlib.compress(b""),
        zlib.compress(b'{"attrs": 1}'),
        b"Oslo B-LOC\n",
        b'{"text": "x", "spans": []}\n',
        b"PK\3\4",
        b"<GateDocument/>",
    ):
        assert not spacy.is_format(upload(other))
    assert not spacy.is_format(Upload("x", "x", [], data=[]))


def check(content, **options):
    reading = Reading(ReadOptions(**options))
    spacy.is_format(upload(content))
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            spacy.read([upload(content)], reading), reading, unit="document", positions="tokens"
        )


edits = st.lists(
    st.tuples(st.integers(0, 900), st.integers(0, 3), st.binary(max_size=3)), max_size=4
)


def edited(content, changes):
    for place, cut, new in changes:
        content = content[:place] + new + content[place + cut :]
    return content


@pytest.mark.slow
@examples(120)
@given(st.sampled_from([SIMPLE, GROUPED]), edits, st.booleans(), st.sampled_from([None, "sc"]))
def test_nothing_but_our_errors(content, changes, inside, key):
    if inside:  # so that it unfolds, and what is in it is broken
        check(zlib.compress(edited(zlib.decompress(content), changes)), layer=key)
    else:
        check(edited(content, changes), layer=key)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 2**63)
    | st.floats()
    | st.binary(max_size=41)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.binary(max_size=3) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = ["attrs", "tokens", "spaces", "lengths", "strings", "cats", "flags", "span_groups"]


@pytest.mark.slow
@examples(120)
@given(st.dictionaries(st.sampled_from([*KEYS, "user_data", "version"]), values, max_size=2))
def test_nothing_but_our_errors_for_other_values(new):
    check(changed(GROUPED, **new), layer="sc")


@pytest.mark.slow
@examples(75)
@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 2**64 - 1]), min_size=65, max_size=65))
def test_nothing_but_our_errors_for_other_numbers(numbers):
    tokens = b"".join(number.to_bytes(8, "little") for number in numbers)
    check(changed(SIMPLE, tokens=tokens))
