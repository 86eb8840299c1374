"""One door: the same annotations as every kind of data give the same counts."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import spacy
from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value

import beyondchance as bc
from each import each
from refusals import assert_tells, refused

TOKENS = [["Ada", "L.", "met", "Bo"], ["Oslo", "slept"]]
TEXTS = [" ".join(words) for words in TOKENS]
ADA = [["B-PER", "I-PER", "O", "B-PER"], ["B-LOC", "O"]]
BEN = [["B-PER", "O", "O", "B-PER"], ["O", "O"]]
WORDS = {
    "ada": [[(0, 2, "PER"), (3, 4, "PER")], [(0, 1, "LOC")]],
    "ben": [[(0, 1, "PER"), (3, 4, "PER")], []],
}
SPANS = {
    "ada": [[(0, 6, "PER"), (11, 13, "PER")], [(0, 4, "LOC")]],
    "ben": [[(0, 3, "PER"), (11, 13, "PER")], []],
}
NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
NUMBERS = [[[NAMES.index(tag) for tag in tags] for tags in texts] for texts in (ADA, BEN)]
LEFT_OUT = "positions with the tag -100 left out"
KEYS = ("label", "entity_group", "entity", "type")


def numbers(result):
    return result.observed, result.chance, result.corrected, len(result.counts.documents)


VOCAB = spacy.vocab.Vocab()


def docs(name):
    made = []
    for words, spans in zip(TOKENS, WORDS[name], strict=True):
        doc = spacy.tokens.Doc(VOCAB, words=words, spaces=[True] * (len(words) - 1) + [False])
        doc.set_ents([spacy.tokens.Span(doc, *span[:2], label=span[2]) for span in spans])
        made.append(doc)
    return made


def conll(folder, name, tags):
    path = folder / f"{name}.conll"
    sentences = zip(TOKENS, tags, strict=True)
    path.write_text(
        "\n".join("".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in sentences)
    )
    return path


def data_set(tags):
    return Dataset.from_dict({"tokens": TOKENS, "ner_tags": tags})


def by_document(texts):
    return dict(zip(("d1", "d2"), texts, strict=True))


def classes(tags):
    """Return a data set whose features name the classes, and those of other tags too."""
    kinds = {"ner_tags": Sequence(ClassLabel(names=NAMES)), "pos": Sequence(ClassLabel(names="NV"))}
    columns = {"tokens": TOKENS, "ner_tags": tags, "pos": [[0] * len(text) for text in tags]}
    return Dataset.from_dict(columns, Features(tokens=Sequence(Value("string")), **kinds))


def frame(counted):
    rows = [
        (text, who, *span)
        for who, texts in counted.items()
        for text, spans in enumerate(texts, start=1)
        for span in spans
    ]
    return dict(
        zip(
            ("document", "annotator", "start", "end", "label"), zip(*rows, strict=True), strict=True
        )
    )


LENGTHS = {"document": [1, 2], "length": [4, 2]}
BY_WORDS = {
    "lists of tags": lambda: bc.agreement(ADA, BEN, unit="document"),
    "tuples": lambda: bc.agreement(tuple(map(tuple, ADA)), tuple(map(tuple, BEN)), unit="document"),
    "generators": lambda: bc.agreement((t for t in ADA), (t for t in BEN), unit="document"),
    "arrays": lambda: bc.agreement(
        [np.array(t) for t in ADA], [np.array(t) for t in BEN], unit="document"
    ),
    "pandas Series": lambda: bc.agreement(pd.Series(ADA), pd.Series(BEN), unit="document"),
    "polars Series": lambda: bc.agreement(pl.Series(ADA), pl.Series(BEN), unit="document"),
    "pyarrow arrays": lambda: bc.agreement(pa.array(ADA), pa.array(BEN), unit="document"),
    "numbers": lambda: bc.agreement(*NUMBERS, names=NAMES, unit="document"),
    "numbers by a mapping": lambda: bc.agreement(
        *NUMBERS, names=dict(enumerate(NAMES)), unit="document"
    ),
    "tags with tokens": lambda: bc.agreement(ADA, BEN, tokens=TOKENS, unit="document"),
    "names": lambda: bc.agreement({"ada": ADA, "ben": BEN}, unit="document"),
    "a list of annotators": lambda: bc.agreement([ADA, BEN], unit="document"),
    "tags by document": lambda: bc.agreement(
        by_document(ADA), dict(reversed(by_document(BEN).items())), unit="document"
    ),
    "tags by annotator and document": lambda: bc.agreement(
        {"ada": by_document(ADA), "ben": by_document(BEN)}, unit="document"
    ),
    "spans by document": lambda: bc.agreement(
        *map(by_document, WORDS.values()), tokens=by_document(TOKENS)
    ),
    "classes of a data set": lambda: bc.agreement(classes(NUMBERS[0]), NUMBERS[1], unit="document"),
    "a data set of classes last": lambda: bc.agreement(
        NUMBERS[0], classes(NUMBERS[1]), unit="document"
    ),
    "rows beside classes": lambda: bc.agreement(
        classes(NUMBERS[0]),
        [{"tokens": w, "ner_tags": t} for w, t in zip(TOKENS, NUMBERS[1], strict=True)],
        unit="document",
    ),
    "tuples of words": lambda: bc.agreement(*WORDS.values(), lengths=[4, 2], positions="tokens"),
    "tuples and tokens": lambda: bc.agreement(*WORDS.values(), tokens=TOKENS),
    "spaCy": lambda: bc.agreement(docs("ada"), docs("ben")),
    "Dataset": lambda: bc.agreement(data_set(ADA), data_set(BEN), unit="document"),
    "pandas": lambda: bc.agreement(
        pd.DataFrame(frame(WORDS)), documents=pd.DataFrame(LENGTHS), positions="tokens"
    ),
    "polars": lambda: bc.agreement(
        pl.DataFrame(frame(WORDS)), documents=pl.DataFrame(LENGTHS), positions="tokens"
    ),
    "pyarrow": lambda: bc.agreement(
        pa.table(frame(WORDS)), documents=pa.table(LENGTHS), positions="tokens"
    ),
}
BY_CHARACTERS = {
    **{
        f"dictionaries with {key}": lambda key=key: bc.agreement(
            *(
                [[{"start": s, "end": e, key: x} for s, e, x in spans] for spans in texts]
                for texts in SPANS.values()
            ),
            texts=TEXTS,
        )
        for key in KEYS
    },
    "tuples": lambda: bc.agreement(*SPANS.values(), texts=TEXTS),
    "spaCy spans": lambda: bc.agreement(
        *([list(d.ents) for d in docs(n)] for n in SPANS), texts=TEXTS
    ),
    "records": lambda: bc.agreement(
        *(
            [
                {"text": text, key: [{"start": s, "end": e, "label": x} for s, e, x in spans]}
                for text, spans in zip(TEXTS, texts, strict=True)
            ]
            for key, texts in zip(("entities", "spans"), SPANS.values(), strict=True)
        )
    ),
    "records and spans": lambda: bc.agreement(
        [
            {"text": text, "entities": [{"start": s, "end": e, "label": x} for s, e, x in spans]}
            for text, spans in zip(TEXTS, SPANS["ada"], strict=True)
        ],
        SPANS["ben"],
    ),
    "pandas with texts": lambda: bc.agreement(
        pd.DataFrame(frame(SPANS)), documents=pd.DataFrame({"document": [1, 2], "text": TEXTS})
    ),
}


@pytest.mark.slow
@each("kind", BY_WORDS)
def test_every_kind_of_data_by_tokens(kind):
    assert numbers(BY_WORDS[kind]()) == numbers(BY_WORDS["lists of tags"]())


@each("kind", BY_CHARACTERS)
def test_every_kind_of_data_by_characters(kind):
    assert numbers(BY_CHARACTERS[kind]()) == numbers(BY_CHARACTERS["tuples"]())


class TestFiles:
    def test_paths_and_lists_of_paths(self, tmp_path):
        ada, ben = conll(tmp_path, "ada", ADA), conll(tmp_path, "ben", BEN)
        expected = numbers(bc.agreement(ADA, BEN))
        for given in ((ada, ben), (str(ada), str(ben)), ([ada, ben],), ({"x": ada, "y": ben},)):
            assert numbers(bc.agreement(*given)) == expected
        assert bc.corpus({"x": ada, "y": ben}).annotators == ("x", "y")
        assert bc.corpus(ada, ben).annotators == ("ada", "ben")

    def test_more_than_two(self, tmp_path):
        team = {"ada": ADA, "ben": BEN, "cleo": ADA}
        paths = [conll(tmp_path, *item) for item in team.items()]
        expected = bc.agreement(paths)
        assert len(expected.by_pair) == 3
        assert bc.agreement(*paths) == expected
        assert bc.rank(*paths).to_dict() == bc.rank(paths, gold="ada").to_dict()
        assert numbers(bc.agreement(*team.values())) == numbers(expected)
        assert bc.corpus(*team.values()).annotators == ("a", "b", "c")
        assert len(set(bc.corpus(*[ADA] * 30).annotators)) == 30
        with refused(bc.DataError, "'c' … None"):
            bc.agreement(ADA, BEN, None)

    @each("swapped", [False, True])
    def test_a_file_and_tags(self, tmp_path, swapped):
        pair = (conll(tmp_path, "ada", ADA), BEN)
        corpus = bc.corpus(*(pair[::-1] if swapped else pair))
        assert corpus.texts == tuple(TEXTS)
        assert corpus.skipped == {}
        assert bc.agreement(corpus).observed == bc.agreement(ADA, BEN).observed
        message = "1 … here … 4 … ada.conll:1"
        with refused(bc.MismatchError, message):
            bc.agreement(pair[0], [["O"], ["O", "O"]])

    def test_a_gold_standard_by_name_or_file(self, tmp_path):
        ada, ben = conll(tmp_path, "ada", ADA), conll(tmp_path, "ben", BEN)
        assert bc.rank([ada, ben], gold="ada").gold == "ada"
        assert bc.rank(ben, gold=ada).gold == "ada"
        assert bc.agreement({"model": BEN, "gold": ada}, gold="gold").settings.pairs == "gold"


@pytest.mark.slow
def test_every_function_takes_data():
    named = {"gold": ADA, "system": BEN}
    assert bc.rank(named, gold="gold").ranks("observed") == {"system": 1}
    assert bc.difficulty(ADA, BEN).overall == bc.difficulty(bc.corpus(ADA, BEN)).overall
    assert bc.labelling(ADA, BEN).finding.observed > 0
    assert [row["kind"] for row in bc.disagreements(ADA, BEN, tokens=TOKENS).to_rows()].count(
        "missed"
    ) == 1
    assert "kappa" in str(bc.coefficients(named, which=["kappa"]))
    assert bc.null_distribution(ADA, BEN, resamples=99, seed=1).observed > 0
    assert "kappa" in str(bc.coefficients(ADA, BEN, which="kappa", unit="document"))
    numbered = bc.coefficients(*NUMBERS, which="kappa", names=NAMES).values["kappa"].value
    assert numbered == bc.coefficients(ADA, BEN, which="kappa").values["kappa"].value
    team = {"gold": ADA, "a": BEN, "b": BEN}
    assert bc.coefficients(team, which="kappa", gold="gold").values["kappa"].value == 1
    with refused(bc.OptionError, "unknown … 'measure'"):
        bc.coefficients(ADA, BEN, measure="exact")
    three = ADA, BEN, ADA
    team = bc.corpus(*three)
    assert bc.difficulty(*three) == bc.difficulty(team)
    assert bc.labelling(*three) == bc.labelling(team)
    assert bc.diagnose(*three) == bc.diagnose(team)
    assert bc.disagreements(*three).to_rows() == bc.disagreements(team).to_rows()
    assert bc.coefficients(*three, which="kappa") == bc.coefficients(team, which="kappa")
    assert bc.null_distribution(*three, seed=1) == bc.null_distribution(team, seed=1)
    assert bc.consensus(*three) == bc.consensus(team)
    assert bc.replacement(*three, model="c") == bc.replacement(team, model="c")
    assert bc.careless_work(*three) == bc.careless_work(team)
    few = {"resamples": 99, "coefficients": ["kappa"]}
    assert bc.report(*three, **few).html == bc.report(team, **few).html
    page = bc.report(bc.corpus(ADA, BEN, tokens=TOKENS)).html
    assert "Oslo" in page
    assert bc.report(ADA, BEN).html.startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_a_report_takes_what_a_corpus_takes():
    few = {"resamples": 99, "coefficients": ["kappa"]}
    page = bc.report(*SPANS.values(), texts=TEXTS, **few).html
    assert "Oslo" in page
    assert "Oslo" not in bc.report(*SPANS.values(), texts=TEXTS, show_texts=False, **few).html
    result = bc.agreement(*SPANS.values(), texts=TEXTS)
    named = {"a": SPANS["ada"], "b": SPANS["ben"]}
    assert "Oslo" in bc.report(result, named, texts=TEXTS, **few).html
    team = {"gold": ADA, "m": BEN}
    ranking = bc.rank(team, gold="gold")
    page = bc.report(ranking, bc.corpus(team, gold="gold"), **few).html
    assert bc.report(team, gold="gold", **few).html == page
    assert bc.report(bc.corpus(team), gold="gold", **few).html == page
    with refused(bc.OptionError, "annotations"):
        bc.report(result, texts=TEXTS)
    with refused(bc.OptionError, "unknown … 'shade'"):
        bc.report(ADA, BEN, shade=1)


def test_tags_by_document():
    ada, ben = {"d1": ["B-PER", "O"], "d2": ["O"]}, {"d3": ["O"], "d1": ["O", "O"]}
    corpus = bc.corpus(ada, ben)
    assert corpus.documents == ("d1", "d2", "d3")
    assert corpus.annotators_of("d2") == ("a",)
    assert corpus.annotators_of("d3") == ("b",)
    assert corpus.spans("d1", "a") == [(0, 1, "PER")]
    three = bc.corpus([ada, ben, ada])
    assert (three.annotators, three.documents) == (("a", "b", "c"), corpus.documents)
    assert bc.corpus({"ada": ada, "ben": ben}).annotators == ("ada", "ben")
    spans = {"d1": [(0, 3, "PER")], "d2": []}
    texts = {"d2": "Nobody", "d1": "Ada"}
    assert bc.corpus(spans, spans, texts=texts).texts == ("Ada", "Nobody")
    # One such mapping has annotators, as ever.
    assert bc.corpus({"ada": ["B-PER", "O"], "ben": ["O", "O"]}).annotators == ("ada", "ben")
    with refused(bc.MismatchError, "'d1' … 2 … 1"):
        bc.corpus(ada, {"d1": ["O"]})
    with refused(bc.DataError, "mapping"):
        bc.corpus(ada, [["O"]])


def test_lists_of_annotators():
    assert bc.corpus([ADA, BEN, ADA]).annotators == ("a", "b", "c")
    assert bc.corpus([*WORDS.values()], tokens=TOKENS).annotators == ("a", "b")
    assert bc.corpus(ADA).annotators == ("annotator 1",)
    assert bc.corpus(WORDS["ada"], lengths=[4, 2]).documents == ("0", "1")


def test_numbers_that_the_features_of_a_data_set_do_not_name():
    with refused(bc.TagError, "'b' … 9 … 'O', 'B-PER'"):
        bc.corpus(classes(NUMBERS[0]), [[9, 0, 0, 0], [0, 0]])
    corpus = bc.corpus(classes(NUMBERS[0]), NUMBERS[1], names=NAMES)
    assert corpus.labels == ("LOC", "PER")
    with refused(bc.TagError, "numbers", use="names"):
        bc.corpus(data_set(ADA), NUMBERS[1])


def test_splits_are_documents_and_never_annotators():
    one = DatasetDict(dev=data_set(ADA), test=data_set(ADA))
    other = DatasetDict(dev=data_set(BEN), test=data_set(BEN))
    corpus = bc.corpus(one, other)
    assert corpus.annotators == ("a", "b")
    assert corpus.documents == ("dev/1", "dev/2", "test/1", "test/2")
    with refused(bc.NothingSharedError, "annotator"):
        bc.agreement(one)


class TestIgnoredPositions:
    def test_are_left_out_for_all(self):
        labels = np.array([[1, 2, -100, 1], [-100, 3, 0, -100]])
        predictions = np.array([[1, 0, 3, 1], [3, 0, 0, 1]])
        corpus = bc.corpus(labels, predictions, names=NAMES)
        assert corpus.text_length.tolist() == [3, 2]
        assert corpus.skipped == {"positions with the tag -100 left out": 3}
        assert corpus.spans("0", "b") == [(0, 1, "PER"), (2, 3, "PER")]

    def test_with_their_tokens(self):
        corpus = bc.corpus(
            [[-100, 1, -100]], [[0, 1, 2]], names=NAMES, tokens=[["[CLS]", "Ada", "[SEP]"]]
        )
        assert corpus.texts == ("Ada",)

    def test_need_equally_many_tags(self):
        message = "0 … annotators … 2 … 1 … -100"
        with refused(bc.MismatchError, message):
            bc.agreement([[1, -100]], [[1]], names=NAMES)


REFUSED = {
    "annotator 'a': tags are numbers; expected strings: pass names=": lambda: bc.agreement(
        *NUMBERS
    ),
    "annotator 'a': tag 3 has no name": lambda: bc.agreement(*NUMBERS, names=NAMES[:3]),
    "the lengths of the texts are not known; pass texts=, tokens= or": lambda: bc.agreement(
        *WORDS.values()
    ),
    "got None; expected annotations": lambda: bc.agreement(None),
    "got a mapping and a second annotation": lambda: bc.agreement({"a": ADA}, BEN),
    "scheme does not go with a Corpus": lambda: bc.agreement(bc.example(), scheme="IO"),
    "unknown option 'colour'": lambda: bc.agreement(bc.example(), colour="red"),
    "unknown option 'shade'": lambda: bc.agreement(ADA, BEN, shade="red"),
    "annotator 'a': got an int; expected a path, lists of tags": lambda: bc.agreement(3, 4),
    "document '1', annotator 'b': 2 tags for 1 tokens; expected one tag": lambda: bc.agreement(
        [["O"], ["O"]], [["O"], ["O", "O"]], tokens=[["a"], ["b"]]
    ),
    "2 lists of tokens for 1 texts; expected a list of tokens for": lambda: bc.agreement(
        [["O"]], [["O"]], tokens=TOKENS
    ),
    "there are 1 texts and 2 lists of spans; expected as many": lambda: bc.agreement(
        *SPANS.values(), texts=TEXTS[:1]
    ),
    "no such file or folder": lambda: bc.agreement("nowhere.conll", ADA),
}


@each("message", REFUSED)
def test_what_is_refused(message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        REFUSED[message]()
    assert_tells(caught.value, message)


class TestOrder:
    """Lists have no names of documents: they are matched by their order."""

    ROWS = tuple(
        {"id": str(number), "tokens": words, "ner_tags": tags}
        for number, (words, tags) in enumerate(zip(TOKENS, ADA, strict=True))
    )

    def test_lists_next_to_named_documents(self):
        for given in (Dataset.from_list(list(self.ROWS)), list(self.ROWS)):
            corpus = bc.corpus(given, ADA)
            assert corpus.documents == ("0", "1")
            assert bc.agreement(corpus).observed == 1
        assert bc.rank({"gold": list(self.ROWS), "m": BEN}, gold="gold").gold == "gold"

    def test_rows_without_ids(self):
        bare = [{key: row[key] for key in ("tokens", "ner_tags")} for row in self.ROWS]
        assert bc.agreement(list(self.ROWS), bare).observed == 1

    def test_spans_next_to_records(self):
        records = [
            {
                "id": name,
                "text": text,
                "entities": [{"start": s, "end": e, "label": x} for s, e, x in spans],
            }
            for name, text, spans in zip("ba", TEXTS, SPANS["ada"], strict=True)
        ]
        assert bc.agreement(records, SPANS["ada"]).observed == 1

    def test_other_numbers_of_documents_are_refused(self):
        message = "1 … 2 … elsewhere"
        with refused(bc.MismatchError, message):
            bc.agreement(list(self.ROWS), ADA[:1])
        with refused(bc.MismatchError, "2 … 1 … lists"):
            bc.agreement(SPANS["ada"][:1], SPANS["ben"][:1], texts=TEXTS)


def test_token_spans_of_spacy_next_to_documents():
    options = {"positions": "tokens", "unit": "document"}
    assert (
        bc.agreement(docs("ada"), [list(doc.ents) for doc in docs("ada")], **options).observed == 1
    )


@pytest.mark.usefixtures("by_characters")
def test_the_text_of_the_gold_standard_stays():
    one = [{"text": "Ada  sat", "entities": []}]
    other = [{"text": "Ada sat", "entities": []}]
    spans = [[(5, 8, "V")]]
    for order in (("one", "other", "spans"), ("other", "one", "spans")):
        given = {name: {"one": one, "other": other, "spans": spans}[name] for name in order}
        assert bc.corpus(given, gold="one").spans("1", "spans") == [(5, 8, "V")]


def test_each_annotator_has_a_scheme_of_their_own():
    corpus = bc.corpus([["B-X", "I-X", "O", "B-Y"]], [["B-X", "E-X", "O", "S-Y"]])
    assert corpus.spans("0", "a") == corpus.spans("0", "b") == [(0, 2, "X"), (3, 4, "Y")]
    assert corpus.skipped == {}
    assert corpus.options == {"scheme": "BIOES+IOB2"}


class TestWhoDecidesWhatIsScored:
    GOLD, SYSTEM = (1, 2, 0, 3, -100), (1, 2, 0, -100, 1)
    WORDS = ("a", "b", "c", "d", "e")

    def kinds(self, tags):
        """The same tags as lists, rows and a data set."""
        rows = [{"tokens": list(self.WORDS), "ner_tags": list(tags)}]
        return [list(tags)], rows, Dataset.from_list(rows)

    def pairs(self):
        return product(self.kinds(self.GOLD), self.kinds(self.SYSTEM))

    def test_the_gold_standard(self):
        for gold, system in self.pairs():
            message = "-100 … position … 3 … scores"
            with refused(bc.MismatchError, message):
                bc.rank(gold, system, names=NAMES)
            with refused(bc.MismatchError, message):
                bc.rank({"gold": gold, "system": system}, gold="gold", names=NAMES)
            with refused(bc.MismatchError, message):
                bc.agreement({"x": gold, "y": system}, gold="x", names=NAMES)
        same = self.kinds((1, 2, 0, 0, 1))
        for gold, system in product(self.kinds(self.GOLD), same):
            ranking = bc.rank(gold, system, names=NAMES)
            assert ranking.systems["b"].skipped == {LEFT_OUT: 1}
            assert ranking.systems["b"].score.recall == 2 / 3

    def test_a_file(self, tmp_path):
        path = tmp_path / "gold.jsonl"
        path.write_text(json.dumps(self.kinds(self.GOLD)[1][0]))
        with refused(bc.MismatchError, "-100 … position … 3 … 'gold'"):
            bc.rank(path, self.kinds(self.SYSTEM)[0], names=NAMES)

    def test_any_of_equals(self):
        for one, other in self.pairs():
            corpus = bc.corpus(one, other, names=NAMES)
            assert corpus.skipped == {LEFT_OUT: 2}
            assert corpus.text_length.tolist() == [3]

    def test_what_is_left_out_is_no_part_of_a_span(self):
        # A system's tags at positions that are not scored neither begin nor end spans.
        for one, other in product(self.kinds((1, -100, 2, 0, 0)), self.kinds((1, 0, 2, 0, 0))):
            assert bc.agreement(one, other, names=NAMES).observed == 1

    def test_next_to_what_has_no_tags(self):
        _, rows, _ = self.kinds(self.GOLD)
        with refused(bc.MismatchError, "positions … 100"):
            bc.agreement(rows, [[(0, 2, "PER")]], names=NAMES, positions="tokens")


@each(
    ("call", "message"),
    [
        (lambda: bc.corpus(pd.Series([["B-PER"], np.nan]), ADA), 'nan'),
        (lambda: bc.agreement(ADA, BEN, tokens=3), 'tokens … 3'),
        (lambda: bc.agreement(ADA, BEN, tokens=[3, 4]), 'tokens'),
        (lambda: bc.agreement(*SPANS.values(), texts=[1, 2]), '1 … string'),
        (lambda: bc.agreement(*SPANS.values(), texts=TEXTS, documents=3), 'documents … 3'),
        (lambda: bc.agreement(*SPANS.values(), texts=TEXTS, documents=["a"]), '1 … documents'),
        (lambda: bc.agreement("", ADA), 'empty'),
        (lambda: bc.agreement(ADA, BEN, gold=["a"]), "gold … 'a'"),
        (lambda: bc.agreement(ADA, BEN, gold={}), 'gold'),
        (lambda: bc.agreement(bc.example(), gold=["ada"]), "gold … 'ada'"),
        (lambda: bc.agreement({"a": ADA, "b": None}), "'b' … None"),
        (lambda: bc.agreement(*NUMBERS, names=3), 'names … 3'),
        (lambda: bc.agreement(*NUMBERS, names=["O", "X", "X"]), "'X' … twice"),
        (lambda: bc.agreement(*NUMBERS, names=set(NAMES)), 'names'),
        (lambda: bc.agreement(*NUMBERS, names=NAMES, label_names=NAMES), 'label'),
        (lambda: bc.agreement([["B-X", None]], [["O", "O"]]),
         "'a' … 0 … 1 … tag"),
        (lambda: bc.agreement([set(ADA[0]), ADA[1]], BEN), "'a' … set"),
        (lambda: bc.agreement(SPANS["ada"], [{(0, 3, "X")}, []], texts=TEXTS),
         "'b' … set"),
        (lambda: bc.agreement(*SPANS.values(), texts=set(TEXTS)), 'texts: … set'),
        (lambda: bc.agreement([[("0", 3, "X")]], [[]], texts=["Ada"]),
         "data 1: … 0 … 0 … start … '0'"),
        (lambda: bc.agreement([[{"start": None, "end": 3, "label": "X"}]], [[]], texts=["Ada"]),
         "data 1: … 0 … 0 … 'start' … null"),
        (lambda: bc.agreement([[{"start": "0", "end": 3, "label": "X"}]], [[]], texts=["Ada"]),
         "data 1: … 0 … 0 … start … '0'"),
        (lambda: bc.read("x" * 300), 'cannot'),
        (lambda: bc.agreement(ADA, BEN, lengths=[4, 2]), 'lengths'),
        (lambda: bc.corpus({1: ADA, "1": BEN}), "called … '1'"),
    ],
)  # fmt: skip
def test_odd_arguments_get_a_sentence(call, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        call()
    assert_tells(caught.value, message)


class TestTextsOfOneDocument:
    def test_are_texts_of_their_own(self):
        corpus = bc.corpus(*SPANS.values(), texts=TEXTS, documents=["d", "d"])
        assert (corpus.documents, len(corpus.text_length)) == (("d",), 2)
        assert corpus.unit == "sentence"

    def test_are_joined_where_documents_are_the_unit(self, tmp_path):
        options = {"documents": ["d", "d"], "unit": "document"}
        paths = [conll(tmp_path, name, tags) for name, tags in (("ada", ADA), ("ben", BEN))]
        expected = numbers(bc.agreement(*paths, unit="document"))
        assert numbers(bc.agreement(ADA, BEN, **options)) == expected
        assert numbers(bc.agreement(*WORDS.values(), tokens=TOKENS, **options)) == expected
        assert (
            numbers(bc.agreement(*WORDS.values(), lengths=[4, 2], positions="tokens", **options))
            == expected
        )
        options |= {"positions": "whitespace"}
        by_texts = bc.agreement(*SPANS.values(), texts=TEXTS, **options)
        assert numbers(by_texts) == expected
        options = {"documents": ["d", "d"], "unit": "document"}
        whole = bc.corpus(*SPANS.values(), texts=TEXTS, **options)
        assert whole.texts == (" ".join(TEXTS),)

    @pytest.mark.usefixtures("by_characters")
    def test_are_trimmed_and_tokenised_as_others(self):
        spans = [[(0, 4, "X")], [(1, 4, "Y")]]
        for documents in (["d", "d"], ["d", "e"]):
            corpus = bc.corpus(spans, spans, texts=["Ada sat", "Bo saw"], documents=documents)
            assert corpus.skipped == {"spans trimmed of white space": 2}
            corpus = bc.corpus(
                spans, spans, texts=["Ada sat", "Bo saw"], documents=documents, positions="tokens"
            )
            assert corpus.text_length.tolist() == [2, 2]
            assert corpus.positions == "tokens"

    @each(
        ("given", "kind", "message"),
        [
            ([None, []], bc.DataError, "document 'd' … part"),
            ([[(0, 30, "X")], []], bc.SpanError, "13 … characters"),
        ],
    )
    def test_are_refused_in_part(self, given, kind, message):
        with refused(kind, message):
            bc.corpus(given, [[], []], texts=TEXTS, documents=["d", "d"])

    def test_follow_each_other(self):
        with refused(bc.DataError, "document 'd' … goes"):
            bc.corpus([[]] * 3, [[]] * 3, texts=["x"] * 3, documents=["d", "e", "d"])


def test_names_that_look_like_tags_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = [conll(tmp_path, name, tags).name for name, tags in (("S-ada", ADA), ("S-ben", BEN))]
    assert bc.corpus(paths).annotators == ("S-ada", "S-ben")


def test_lists_of_the_sentences_of_a_file_with_documents(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text("-DOCSTART- O\n\nAda B-PER\nsat O\n\nBo B-PER\n\n-DOCSTART- O\n\nOslo B-LOC\n")
    tags = [["B-PER", "O"], ["B-PER"], ["B-LOC"]]
    corpus = bc.corpus(path, tags)
    assert corpus.documents == ("1", "2")
    assert bc.agreement(corpus).observed == 1
    with refused(bc.DataError, "sentences … '1'"):
        bc.corpus(path, [["B-PER", "O"], None, ["B-LOC"]])


@each("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_records(frame):
    made = [frame({"tokens": TOKENS, "ner_tags": tags}) for tags in (ADA, BEN)]
    assert numbers(bc.agreement(*made)) == numbers(bc.agreement(ADA, BEN))


def test_columns_and_lazy_frames():
    rows = Dataset.from_dict({"id": ["0", "1"], "tokens": TOKENS, "ner_tags": ADA})
    assert bc.agreement(rows, rows["ner_tags"]).observed == 1
    lazy = pl.LazyFrame(frame(WORDS))
    assert bc.agreement(lazy, documents=LENGTHS, positions="tokens").observed > 0


@each(
    ("data", "message"),
    [
        (
            [[("PER", 0, 1)]],
            "str",
        ),
        (np.zeros((2, 3, 4)), "argmax"),
    ],
)
def test_what_was_given_is_described(data, message):
    with refused(bc.FormatError, message):
        bc.agreement(data, data)


@each("name", ["offsets", "match", "positions"])
def test_options_about_texts_are_refused_where_there_are_none(name):
    values = {"offsets": "utf16", "match": "text"}
    given = {name: values.get(name, "whitespace")}
    spans = [[(0, 2, "PER")]]
    with refused(bc.OptionError, f"'{name}' … needs"):
        bc.agreement(spans, spans, lengths=[9], **given)


def test_tags_without_tokens_are_not_matched_by_text():
    with refused(bc.OptionError, "'match' … needs"):
        bc.agreement([["B-P"]], [["B-P"]], match="text")


def test_a_list_that_is_part_of_itself():
    endless = []
    endless.append(endless)
    for data in (endless, [endless], {"a": endless, "b": endless}):
        with refused(bc.FormatError, "list"):
            bc.agreement(data)
    with refused(bc.FormatError, "dict"):
        bc.agreement([{"text": "a", "spans": [{"start": endless}]}])


class Scalar:
    """What a list of a tensor has: something that becomes a number."""

    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


@each("made", [np.int64, Scalar])
def test_numbers_of_other_types_in_later_texts_only(made):
    later = [[NUMBERS[0][0], [made(number) for number in NUMBERS[0][1]]], NUMBERS[1]]
    found = bc.agreement(*later, names=NAMES)
    assert numbers(found) == numbers(bc.agreement(*NUMBERS, names=NAMES))


class TestOddObjects:
    def test_missing_values_of_pandas(self):
        record = {"id": pd.NA, "text": "Mia", "spans": []}
        with refused(bc.FormatError, "'id' is <NA>"):
            bc.agreement([record], [record])
        with refused(bc.TagError, "document '0' … position 1: … <NA>"):
            bc.Corpus.from_tags({"a": [["O", pd.NA]], "b": [["O", "O"]]})

    @each("kind", [bc.agreement, bc.Corpus.from_tags, lambda x: bc.corpus([x], [x])])
    def test_a_mapping_that_contains_itself(self, kind):
        endless = {}
        endless["a"] = endless
        with refused(bc.DataError, "contains itself"):
            kind({"x": [endless], "y": [endless]})


@each("is_first", [True, False])
def test_lists_that_are_fewer_than_texts_are_named_with_these(is_first):
    rows = [{"tokens": ["a"], "ner_tags": ["O"]}, {"tokens": ["b"], "ner_tags": ["O"]}]
    data = {"ben": [["O"]], "ada": rows} if is_first else {"ada": rows, "ben": [["O"]]}
    with refused(bc.MismatchError, "'ben' has 1 lists, 'ada' has 2 texts"):
        bc.corpus(data)
