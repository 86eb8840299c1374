"""The road of all formats with texts: offsets, surfaces, tokens, sentences, matching."""

from hypothesis import given, strategies as st

from beyondchance import DataError, FormatError, MismatchError, SpanError
from beyondchance.io.assembling import assembled
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_words
from beyondchance.io.offsets import tokenized
from beyondchance.io.options import Reading
from beyondchance.options import ReadOptions
from each import each
from refusals import assert_notes, refused

#       0    5   9     15
TEXT = "Anna met Ben in Rome."


def draft(*spans, text=TEXT, annotator="anna", document="d", **values):
    return Draft(
        where=f"{annotator}.x:1",
        document=document,
        annotator=annotator,
        text=text,
        spans=[DraftSpan(*span) for span in spans],
        **values,
    )


def read(*drafts, unit="document", **options):
    reading = Reading(ReadOptions(**options))
    return assembled(drafts, reading, unit=unit, positions="characters"), reading


class TestOffsets:
    #        0 1   5
    EMOJI = "🙂 Anna smiled"

    def test_utf16_units_become_code_points(self):
        corpus, _ = read(draft((3, 7, "P", "Anna"), text=self.EMOJI, offsets="utf16"))
        assert corpus.spans("d", "anna") == [(2, 6, "P")]

    def test_the_option_overrides_the_format(self):
        corpus, _ = read(
            draft((2, 6, "P", "Anna"), text=self.EMOJI, offsets="utf16"), offsets="codepoints"
        )
        assert corpus.spans("d", "anna") == [(2, 6, "P")]

    def test_the_message_names_the_other_unit(self):
        message = "anna.x:1: … [3, 7) … 'P' … 'nna ' … stores … 'Anna' … UTF-16 … offsets='utf16'"
        with refused(SpanError, message):
            read(draft((3, 7, "P", "Anna"), text=self.EMOJI))
        message = "points … offsets='codepoints'"
        with refused(SpanError, message):
            read(draft((2, 6, "P", "Anna"), text=self.EMOJI, offsets="utf16"))

    def test_bytes_become_code_points(self):
        corpus, _ = read(draft((5, 9, "P", "Anna"), text=self.EMOJI, offsets="bytes"))
        assert corpus.spans("d", "anna") == [(2, 6, "P")]
        message = "offsets … UTF-8 … offsets='bytes'"
        with refused(SpanError, message):
            read(draft((5, 9, "P", "Anna"), text=self.EMOJI))
        with refused(SpanError, "2 … several"):
            read(draft((2, 9, "P"), text=self.EMOJI, offsets="bytes"))

    def test_inside_a_character(self):
        with refused(SpanError, "1 … UTF-16 … units"):
            read(draft((1, 7, "P"), text=self.EMOJI, offsets="utf16"))

    def test_surfaces_that_fit_neither(self):
        message = "'Anna' … stores … 'Bob'"
        with refused(SpanError, message):
            read(draft((0, 4, "P", "Bob")))

    def test_white_space_in_surfaces_may_differ(self):
        corpus, _ = read(draft((0, 8, "P", "Anna\n met")))
        assert len(corpus.span_start) == 1

    @each("span", [(-1, 3, "P"), (5, 3, "P"), (0, 22, "P")])
    def test_outside_the_text(self, span):
        message = "anna.x:1: … span … 'P' … 21 … characters"
        with refused(SpanError, message):
            read(draft(span))

    def test_no_label(self):
        with refused(FormatError, "[0, 4) … '' … label"):
            read(draft((0, 4, "")))

    def test_half_a_character(self):
        with refused(FormatError, "half"):
            read(draft(text="a\ud83d"))


class TestWhiteSpace:
    def test_is_trimmed_and_counted(self):
        corpus, reading = read(draft((0, 5, "P"), (8, 13, "P")))
        assert corpus.spans("d", "anna") == [(0, 4, "P"), (9, 12, "P")]
        assert reading.skipped == {"spans trimmed of white space": 2}

    @each("span", [(4, 5, "P"), (3, 3, "P")])
    def test_nothing_left(self, span):
        with refused(SpanError, "empty"):
            read(draft(span))
        corpus, reading = read(draft(span), zero_length="skip")
        assert corpus.spans("d", "anna") == []
        assert reading.skipped["empty spans left out"] == 1


class TestTokens:
    def test_by_rule(self):
        assert [TEXT[s:e] for s, e in tokenized(TEXT)] == ["Anna", "met", "Ben", "in", "Rome", "."]
        corpus, reading = read(draft((9, 20, "X")), positions="tokens")
        assert corpus.spans("d", "anna") == [(2, 5, "X")]
        assert corpus.text_length.tolist() == [6]
        assert reading.signed == {"tokens": "rule"}

    def test_of_the_file(self):
        halves = [(0, 4), (5, 21)]
        corpus, reading = read(draft((5, 21, "X"), tokens=halves), positions="tokens")
        assert corpus.spans("d", "anna") == [(1, 2, "X")]
        assert reading.signed == {"tokens": "file"}

    def test_what_white_space_separates(self):
        found = [TEXT[s:e] for s, e in tokenized(TEXT, "whitespace")]
        assert found == ["Anna", "met", "Ben", "in", "Rome."]
        spans = draft((9, 20, "X"))
        corpus, reading = read(spans, positions="whitespace")
        assert corpus.spans("d", "anna") == [(2, 5, "X")]
        assert corpus.text_length.tolist() == [5]
        assert corpus.token_end.tolist() == [4, 8, 12, 15, 21]
        assert reading.signed == {"tokens": "whitespace"}
        assert reading.skipped == {"spans widened to whole tokens": 1}

    @given(text=st.text(st.sampled_from("ab1_.,'é漢 \t\n\x1c\x85\xa0\u2003\u200b")))
    def test_tokens_by_white_space_are_the_words_of_split(self, text):
        found = tokenized(text, "whitespace")
        assert [text[s:e] for s, e in found] == text.split()
        # Tokens by rule divide them further, and leave nothing visible out.
        pieces = ["".join(part[s:e] for s, e in tokenized(part)) for part in text.split()]
        assert pieces == text.split()

    def test_tokens_of_a_million_characters(self):
        for text in ("a" * 10**6, " " * 10**6, "a " * 10**5, "." * 10**5):
            assert len(tokenized(text, "whitespace")) == len(text.split())

    def test_tokens_of_the_file_come_first(self):
        halves = [(0, 4), (5, 21)]
        spans = draft((5, 21, "X"), tokens=halves)
        corpus, reading = read(spans, positions="whitespace")
        assert corpus.spans("d", "anna") == [(1, 2, "X")]
        assert reading.signed == {"tokens": "file"}
        assert_notes(reading.notes, "positions='whitespace' … tokens")

    def test_the_origins_of_all_tokens_are_signed(self):
        whole = draft((5, 21, "X"), tokens=[(0, 4), (5, 21)])
        for documents in ([whole, draft(document="e")], [draft(document="e"), whole]):
            _, reading = read(*documents, positions="tokens")
            assert reading.signed == {"tokens": "file+rule"}
            _, reading = read(*documents, positions="whitespace")
            assert reading.signed == {"tokens": "file+whitespace"}
            assert not reading.notes

    def test_a_span_that_cuts_a_token_is_widened_and_counted(self):
        corpus, reading = read(draft((2, 7, "X")), positions="tokens")
        assert corpus.spans("d", "anna") == [(0, 2, "X")]
        assert reading.skipped == {"spans widened to whole tokens": 1}

    def test_or_refused(self):
        with refused(SpanError, "[2, 7) … 'X' … cuts … 'Anna met'"):
            read(draft((2, 7, "X")), positions="tokens", strict="cut_tokens")

    def test_no_token(self):
        with refused(SpanError, "token"):
            read(draft((9, 12, "X"), tokens=[(0, 4)]), positions="tokens")

    @each("tokens", [[(5, 8), (0, 4)], [(0, 99)], [(0, 4), (3, 8)], [(4, 4)]])
    def test_tokens_out_of_order(self, tokens):
        with refused(FormatError, "follow"):
            read(draft(tokens=tokens), positions="tokens")

    def test_tokens_that_differ_between_annotators(self):
        with refused(MismatchError, "ben.x:1: … document 'd' … tokens"):
            read(
                draft(tokens=[(0, 4)]),
                draft(tokens=[(0, 8)], annotator="ben"),
                positions="tokens",
                strict="mismatch",
            )


class TestSentences:
    BOUNDS = ((0, 8), (9, 21))

    def test_each_is_a_text(self):
        corpus, _ = read(draft((9, 12, "P"), sentences=self.BOUNDS), unit="sentence")
        assert corpus.text_length.tolist() == [8, 12]
        assert corpus.span_text.tolist() == [1]
        assert corpus.spans("d", "anna") == [(0, 3, "P")]
        assert corpus.texts == ("Anna met", "Ben in Rome.")

    def test_with_tokens(self):
        spans = draft((9, 12, "P"), sentences=self.BOUNDS)
        corpus, _ = read(spans, unit="sentence", positions="tokens")
        assert corpus.text_length.tolist() == [2, 4]
        assert corpus.spans("d", "anna") == [(0, 1, "P")]
        assert corpus.token_start.tolist() == [0, 5, 0, 4, 7, 11]

    def test_a_span_across_them(self):
        with refused(SpanError, "sentence … unit='document'"):
            read(draft((5, 12, "P"), sentences=self.BOUNDS), unit="sentence")

    def test_none(self):
        with refused(DataError, "document 'd' … sentences … unit='document'"):
            read(draft(), unit="sentence")


class TestMatching:
    def test_by_name(self):
        corpus, _ = read(draft(), draft(annotator="ben"), draft(document="e"))
        assert corpus.annotators_of("d") == ("anna", "ben")
        assert corpus.annotators_of("e") == ("anna",)

    def test_by_text(self):
        corpus, _ = read(draft(), draft(annotator="ben", document="9"), match="text")
        assert corpus.documents == ("d",)
        assert corpus.annotators_of("d") == ("anna", "ben")

    def test_by_order(self):
        corpus, _ = read(
            draft(document="1"),
            draft(document="2"),
            draft(annotator="ben", document="7"),
            draft(annotator="ben", document="8"),
            match="order",
        )
        assert corpus.documents == ("1", "2")
        assert corpus.annotators_of("2") == ("anna", "ben")

    def test_documents_of_one_name_stay_apart_if_their_texts_differ(self):
        corpus, _ = read(draft(), draft(annotator="ben", text="Another text"), match="text")
        assert corpus.documents == ("d", "ben/d")
        assert corpus.annotators_of("ben/d") == ("ben",)

    def test_texts_that_differ(self):
        message = "ben.x:1: … 'd' … differs … 1 … 9 … 'Anna met Tom' … 'Anna met Ben in Rom'"
        with refused(MismatchError, message):
            read(draft(), draft(annotator="ben", text="Anna met Tom"))

    def test_twice(self):
        with refused(FormatError, "annotated … 'anna' … 1"):
            read(draft(), draft(), repeated="error")
        corpus, reading = read(draft((0, 4, "P")), draft((9, 12, "P")), repeated="last")
        assert corpus.spans("d", "anna") == [(9, 12, "P")]
        assert reading.skipped == {"annotations replaced by a later one": 1}

    def test_nothing(self):
        with refused(FormatError, "annotated"):
            read()

    def test_names_with_white_space(self):
        with refused(FormatError, "annotator … ' anna'"):
            read(draft(annotator=" anna"))

    def test_fields(self):
        corpus, _ = read(draft(fields={"round": "1"}), draft(document="e"))
        assert corpus.fields == {"round": ("1", "")}

    def test_gold(self):
        corpus, _ = read(draft(), draft(annotator="gold", is_gold=True))
        assert corpus.gold == "gold"


class TestDuplicates:
    def test_are_refused(self):
        with refused(SpanError, "[0, 4) … 'P' … marked … 'anna'"):
            read(draft((0, 4, "P"), (0, 4, "P")), strict=True)

    def test_or_left_out_and_counted(self):
        corpus, reading = read(draft((0, 4, "P"), (0, 4, "P"), (0, 4, "Q")))
        assert len(corpus.span_start) == 2
        assert reading.skipped == {"spans marked twice, second left out": 1}


def test_words_of_white_space_are_words():
    words = draft_of_words(["a", "\u00a0"], [(0, 2, "X")], where="w", document="d", annotator="a")
    corpus, reading = read(words, positions="tokens")
    assert corpus.spans("d", "a") == [(0, 2, "X")]
    assert not reading.skipped


def test_words():
    found = draft_of_words(
        ["A", "", "long", "way"],
        [(0, 2, "X"), (2, 4, "Y")],
        where="w",
        document="d",
        annotator="a",
        sentences=[(0, 2), (2, 2), (2, 4)],
    )
    assert found.text == "A  long way"
    assert [(s.start, s.end) for s in found.spans] == [(0, 2), (3, 11)]
    assert found.sentences == [(0, 2), (3, 11)]
