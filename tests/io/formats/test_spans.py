"""Lists of spans in memory: what offsets count, and what stands next to them."""

import pytest
import spacy
from datasets import Dataset

import beyondchance as bc
from each import each
from refusals import refused

TOKENS = [["Ada", "L.", "in", "Oslo"]]
TEXTS = ["Ada L. in Oslo"]
WORDS = [[(0, 2, "PER"), (3, 4, "LOC")]]
CHARACTERS = [[(0, 6, "PER"), (10, 14, "LOC")]]
TAGS = [["B-PER", "I-PER", "O", "B-LOC"]]
ROWS = [{"tokens": TOKENS[0], "ner_tags": TAGS[0]}]
RECORDS = [{"text": TEXTS[0], "entities": [list(span) for span in CHARACTERS[0]]}]


VOCAB = spacy.vocab.Vocab()


def doc():
    made = spacy.tokens.Doc(VOCAB, words=TOKENS[0], spaces=[True] * 3 + [False])
    made.set_ents([spacy.tokens.Span(made, *span[:2], label=span[2]) for span in WORDS[0]])
    return [made]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ada.conll"
    path.write_text("\n".join(map(" ".join, zip(TOKENS[0], TAGS[0], strict=True))) + "\n")
    return path


class TestNextToOthers:
    """Offsets count what is said, or what cannot be anything else."""

    @each("given", [{"tokens": TOKENS}, {"positions": "tokens"}])
    def test_tokens(self, path, given):
        for place, other in enumerate((path, ROWS, Dataset.from_list(ROWS), doc(), TAGS)):
            pair = (other, WORDS) if (place + len(given.get("tokens", ""))) % 2 else (WORDS, other)
            assert bc.agreement(*pair, **given).observed == 1
        assert bc.corpus(ROWS, WORDS, **given).unit == "sentence"

    def test_tokens_of_records(self):
        options = {"unit": "document", "positions": "tokens"}
        assert bc.agreement(RECORDS, WORDS, tokens=TOKENS, **options).observed == 1
        # Nobody has tokens, and offsets may count characters as well.
        message = "'1' … known"
        with refused(bc.FormatError, message):
            bc.agreement(RECORDS, CHARACTERS, **options)
        assert bc.agreement(RECORDS, CHARACTERS, texts=TEXTS, **options).observed == 1

    def test_characters(self):
        assert bc.agreement(RECORDS, CHARACTERS).observed == 1
        assert bc.agreement(doc(), CHARACTERS).observed == 1
        assert bc.agreement(doc(), CHARACTERS, texts=TEXTS, positions="tokens").observed == 1
        assert bc.agreement(ROWS, CHARACTERS, positions="characters").observed == 1

    def test_nothing_that_says_it(self, path):
        message = "nothing … '1'"
        for other in (path, ROWS, Dataset.from_list(ROWS)):
            with refused(bc.FormatError, message):
                bc.agreement(other, WORDS)
        with refused(bc.FormatError, "'0' … known"):
            bc.agreement(TAGS, WORDS)

    def test_tokens_that_are_not_there(self):
        message = "span 0: … span … [0, 6) … 'PER' … 4"
        for given in ({"tokens": TOKENS}, {"positions": "tokens"}):
            with refused(bc.SpanError, message):
                bc.agreement(ROWS, CHARACTERS, **given)

    def test_lengths_do_not_apply(self):
        with refused(bc.OptionError, "apply"):
            bc.agreement(RECORDS, CHARACTERS, lengths=[14])

    @each("number", [2, 3])
    def test_as_many_as_texts(self, path, number):
        spans, tags = [*([None] * (number - 1)), [(0, 1, "PER")]], [["O"] * 4] * number
        lists = [(other, spans) for other in (path, ROWS, RECORDS, doc())]
        lists += [(other, tags) for other in (path, ROWS, Dataset.from_list(ROWS))]
        for other, given in lists:
            with refused(bc.MismatchError, "because"):
                bc.agreement(other, given)


class TestNothing:
    """Lists of nothing are whatever the others are."""

    def test_spans(self):
        assert bc.agreement([[]], [[]], texts=TEXTS).counts.annotators == ("a", "b")
        assert bc.agreement(CHARACTERS, [[]], lengths=[14]).observed == 0
        assert bc.agreement(CHARACTERS, [[]], texts=TEXTS).observed == 0
        assert bc.agreement(WORDS, [[]], tokens=TOKENS).observed == 0

    def test_next_to_texts(self, path):
        for other in (RECORDS, doc(), path, ROWS, Dataset.from_list(ROWS)):
            assert bc.agreement(other, [[]]).observed == 0
            assert bc.agreement([[]], other).observed == 0

    def test_tags(self):
        assert bc.corpus([[]], [[]]).positions == "tokens"
        with refused(bc.MismatchError, "'a' … 4 … tags … 'b' … 0"):
            bc.agreement(TAGS, [[]])


class TestNames:
    """Names of keys say what offsets count."""

    SPAN = {"start": 0, "end": 2, "label": "PER"}  # noqa: RUF012 - never changed

    @pytest.mark.usefixtures("by_characters")
    @each("more", [{"start_char": 0, "end_char": 6}, {"token_start": 0, "token_end": 1}])
    def test_characters_next_to_tokens(self, more):
        for spans in ([[self.SPAN | more]], [[{"label": "PER"} | {"start": 0, "end": 6} | more]]):
            with refused(bc.FormatError, "characters"):
                bc.agreement(spans, spans, tokens=TOKENS)
        both = [[self.SPAN | {"start_char": 0, "end_char": 6}]]
        assert bc.corpus(both, both, texts=TEXTS).spans("0", "a") == [(0, 6, "PER")]

    def test_positions_that_are_not_those(self):
        with refused(bc.OptionError, "next"):
            bc.agreement(WORDS, WORDS, tokens=TOKENS, positions="characters")

    @pytest.mark.usefixtures("by_characters")
    def test_numbers_with_a_point(self):
        spans = [[{"start": 0.0, "end": 6.0, "label": "PER"}]]
        assert bc.corpus(spans, spans, texts=TEXTS).spans("0", "a") == [(0, 6, "PER")]


class TestStoredWords:
    LAST = [[{"start": 0, "end": 5, "label": "PER", "text": "Ada L."}]]  # noqa: RUF012

    @pytest.mark.usefixtures("by_characters")
    def test_show_inclusive_ends(self):
        corpus = bc.corpus(self.LAST, CHARACTERS, texts=TEXTS)
        assert corpus.spans("0", "a") == [(0, 6, "PER")]
        assert corpus.skipped == {"spans whose end was inclusive, made one longer": 1}
        assert corpus.options["ends"] == "inclusive"

    @pytest.mark.usefixtures("by_characters")
    def test_which_strict_reading_refuses(self):
        message = "data 1: … character"
        with refused(bc.SpanError, message):
            bc.corpus(self.LAST, CHARACTERS, texts=TEXTS, strict=True)
        corpus = bc.corpus(self.LAST, self.LAST, texts=TEXTS, strict=True, offsets="inclusive")
        assert corpus.spans("0", "a") == [(0, 6, "PER")]

    def test_are_elsewhere(self):
        spans = [[{"start": 3, "end": 8, "label": "PER", "text": "Ada L."}]]
        with refused(bc.SpanError, "covers … ' L. i' … 'Ada L.'"):
            bc.corpus(spans, CHARACTERS, texts=TEXTS)
        spans = [[{"start": 1, "end": 3, "label": "PER", "word": "Ada L."}]]
        with refused(bc.SpanError, "covers … 'L. in' … 'Ada L.'"):
            bc.corpus(spans, WORDS, tokens=TOKENS)

    def test_may_differ(self):
        spans = [[{"start": 0, "end": 2, "label": "PER", "word": "A. L."}]]
        skipped = {"spans whose stored words differ from the text": 1}
        assert bc.corpus(spans, WORDS, tokens=TOKENS).skipped == skipped

    @pytest.mark.usefixtures("by_characters")
    def test_ends_without_words(self):
        spans = [[(0, 5, "PER")]]
        for given in ({"texts": TEXTS}, {"lengths": [14]}):
            corpus = bc.corpus(spans, spans, offsets="inclusive", **given)
            assert corpus.spans("0", "a") == [(0, 6, "PER")]
        spans = [[(0, 1, "PER")]]
        corpus = bc.corpus(ROWS, spans, offsets="inclusive", positions="tokens")
        assert corpus.spans("1", "b") == [(0, 2, "PER")]


def test_empty_spans_are_left_out():
    for given in ({"lengths": [14]}, {"texts": TEXTS}, {"tokens": TOKENS}):
        with refused(bc.SpanError, "empty"):
            bc.corpus([[(1, 1, "X")]], [[]], **given)
        corpus = bc.corpus([[(1, 1, "X")]], [[]], zero_length="skip", **given)
        assert corpus.skipped == {"empty spans left out": 1}
    corpus = bc.corpus(ROWS, [[(1, 1, "X")]], positions="tokens", zero_length="skip")
    assert corpus.skipped == {"empty spans left out": 1}


@pytest.mark.usefixtures("by_characters")
def test_lengths_that_contradict_texts_are_refused():
    for given, counted in (({"texts": TEXTS}, "characters"), ({"tokens": TOKENS}, "tokens")):
        with refused(bc.MismatchError, f"numbers … {counted}"):
            bc.corpus([[]], [[]], lengths=[5], positions=counted, **given)
    assert bc.corpus([[]], [[]], lengths=[14], texts=TEXTS).text_length.tolist() == [14]


def test_documents_are_numbered_from_0():
    for given in ({"lengths": [14]}, {"texts": TEXTS}, {"tokens": TOKENS}):
        assert bc.corpus([[(0, 3, "X")]], [[]], **given).documents == ("0",)
    assert bc.corpus(TAGS, TAGS).documents == ("0",)
    assert bc.corpus(TAGS, WORDS, positions="tokens").documents == ("0",)
