"""A law: whatever the same annotations are given as, the counts are the same."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import spacy
from datasets import ClassLabel, Dataset, Features, Sequence, Value
from hypothesis import given, strategies as st

import beyondchance as bc
from examples import examples

LABELS = ("LOC", "PER")
NAMES = ["O", *(f"{prefix}-{label}" for label in LABELS for prefix in "BI")]
VOCAB = spacy.blank("en").vocab
ANNOTATORS = ("ada", "ben")


@st.composite
def annotations(draw):
    """The words of texts, and spans of words of two annotators, which do not overlap."""
    words = st.lists(st.sampled_from("ab"), min_size=1, max_size=6)
    texts = draw(st.lists(words, min_size=1, max_size=3))
    return texts, {name: [draw(marks(len(words))) for words in texts] for name in ANNOTATORS}


@st.composite
def marks(draw, length):
    bounds = draw(st.lists(st.integers(0, length), unique=True).map(sorted))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return [(start, end, draw(st.sampled_from(LABELS))) for start, end in pairs]


SPAN = {"start": Value("int32"), "end": Value("int32"), "label": Value("string")}
OF_RECORDS = Features({"text": Value("string"), "entities": [SPAN]})


class Given:
    """The annotations of one annotator as every kind of data."""

    def __init__(self, texts, spans):
        self.words = texts
        self.spans = spans

    @property
    def tags(self):
        found = []
        for words, spans in zip(self.words, self.spans, strict=True):
            tags = ["O"] * len(words)
            for start, end, label in spans:
                tags[start:end] = [f"B-{label}", *([f"I-{label}"] * (end - start - 1))]
            found.append(tags)
        return found

    @property
    def numbers(self):
        return [[NAMES.index(tag) for tag in tags] for tags in self.tags]

    @property
    def characters(self):
        # Words have one character, and stand one space apart.
        return [[(2 * s, 2 * e - 1, x) for s, e, x in spans] for spans in self.spans]

    @property
    def dictionaries(self):
        return [
            [{"start": s, "end": e, "entity_group": x} for s, e, x in spans] for spans in self.spans
        ]

    @property
    def rows(self):
        pairs = zip(self.words, self.tags, strict=True)
        return [{"tokens": words, "ner_tags": tags} for words, tags in pairs]

    @property
    def records(self):
        keys = ("start", "end", "label")
        return [
            {
                "text": " ".join(words),
                "entities": [dict(zip(keys, span, strict=True)) for span in spans],
            }
            for words, spans in zip(self.words, self.characters, strict=True)
        ]

    @property
    def docs(self):
        made = []
        for words, spans in zip(self.words, self.spans, strict=True):
            spaces = [True] * (len(words) - 1) + [False]
            doc = spacy.tokens.Doc(VOCAB, words=words, spaces=spaces)
            doc.set_ents([spacy.tokens.Span(doc, s, e, label=x) for s, e, x in spans])
            made.append(doc)
        return made

    @property
    def data_set(self):
        kinds = {
            "tokens": Sequence(Value("string")),
            "ner_tags": Sequence(ClassLabel(names=NAMES)),
        }
        rows = {"tokens": self.words, "ner_tags": self.numbers}
        return Dataset.from_dict(rows, features=Features(kinds))

    def frame(self, name):
        rows = [
            (str(text), name, *span) for text, spans in enumerate(self.spans) for span in spans
        ] or [("0", name, None, None, None)]
        missing = [(str(text), name, None, None, None) for text in range(len(self.words))]
        columns = ("document", "annotator", "start", "end", "label")
        return dict(zip(columns, zip(*missing, *rows, strict=True), strict=True))

    def conll(self, path):
        pairs = zip(self.words, self.tags, strict=True)
        sentences = ["".join(f"{w}\t{t}\n" for w, t in zip(*p, strict=True)) for p in pairs]
        path.write_text("\n".join(sentences))
        return path

    def jsonl(self, path):
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        return path


TAGS = {
    "lists": lambda one: one.tags,
    "tuples": lambda one: tuple(map(tuple, one.tags)),
    "iterators": lambda one: [iter(tags) for tags in one.tags],
    "generators of generators": lambda one: ((tag for tag in tags) for tags in one.tags),
    "a map": lambda one: map(iter, one.tags),
    "arrays": lambda one: [np.array(tags) for tags in one.tags],
    "an array of objects": lambda one: np.array([*one.tags, None], dtype=object)[:-1],
    "pandas Series": lambda one: pd.Series(one.tags),
    "polars Series": lambda one: pl.Series(one.tags),
    "pyarrow array": lambda one: pa.array(one.tags),
    "pyarrow chunks": lambda one: pa.chunked_array(
        [one.tags[:1], one.tags[1:]], pa.list_(pa.string())
    ),
    "numbers": lambda one: one.numbers,
    "rows": lambda one: one.rows,
    "a frame of rows": lambda one: pd.DataFrame(one.rows),
    "Dataset": lambda one: one.data_set,
    "Dataset as pandas": lambda one: Dataset.from_list(one.rows).to_pandas(),
    "a column of a Dataset": lambda one: Dataset.from_list(one.rows)["ner_tags"],
}
SPANS = {
    "tuples": lambda one: one.spans,
    "dictionaries": lambda one: one.dictionaries,
    "iterators": lambda one: (iter(spans) for spans in one.spans),
    "pandas Series": lambda one: pd.Series(one.spans),
    "an array of objects": lambda one: np.array([*one.dictionaries, None], dtype=object)[:-1],
    "spaCy spans": lambda one: [list(doc.ents) for doc in one.docs],
}
TEXTS = {
    "records": lambda one: one.records,
    "a generator of records": lambda one: (record for record in one.records),
    "a Series of records": lambda one: pd.Series(one.records),
    "a frame of records": lambda one: pd.DataFrame(one.records),
    "a Dataset of records": lambda one: Dataset.from_list(one.records, features=OF_RECORDS),
    "a Dataset of records as pandas": lambda one: Dataset.from_list(one.records).to_pandas(),
    "spaCy": lambda one: one.docs,
}
CHARACTERS = {
    "tuples of characters": lambda one: one.characters,
    "spaCy spans": lambda one: ([*doc.ents] for doc in one.docs),
}


def counted(given, **options):
    """What is observed and expected, by label and over all texts."""
    result = bc.agreement(given, **options)
    scores = [result, *(result.by_label[label] for label in sorted(result.by_label))]
    numbers = [(one.observed, one.chance, one.corrected) for one in scores]
    return np.nan_to_num(np.array(numbers), nan=-9).tolist(), len(result.counts.documents)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kinds")


@pytest.mark.slow
@examples(15)
@given(found=annotations())
def test_every_kind_of_data_gives_the_same_counts(found, folder):
    words, spans = found
    ada, ben = (Given(words, spans[name]) for name in ANNOTATORS)
    texts = list(map(" ".join, words))
    sizes = list(map(len, words))
    numbered = {"names": NAMES}
    tokens = {"unit": "document", "positions": "tokens"}
    expected = counted({"ada": ada.tags, "ben": ben.tags})

    for kind, make in TAGS.items():
        both = {"ada": make(ada), "ben": make(ben)}
        assert counted(both, **numbered) == expected, kind
    for kind, make in SPANS.items():
        for beside in ({"tokens": words}, {"lengths": iter(sizes), "positions": "tokens"}):
            both = {"ada": make(ada), "ben": make(ben)}
            assert counted(both, **beside) == expected, kind
    for kind, make in TEXTS.items():
        assert counted({"ada": make(ada), "ben": make(ben)}, **tokens) == expected, kind
    for kind, make in CHARACTERS.items():
        both = {"ada": make(ada), "ben": make(ben)}
        assert counted(both, texts=(text for text in texts), **tokens) == expected, kind

    files = (ada.conll(folder / "ada.conll"), ben.jsonl(folder / "ben.jsonl"))
    assert counted({"ada": files[0], "ben": files[1]}) == expected
    for make in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        columns = [one.frame(name) for name, one in zip(ANNOTATORS, (ada, ben), strict=True)]
        both = {name: [*columns[0][name], *columns[1][name]] for name in columns[0]}
        listing = make({"document": list(map(str, range(len(words)))), "length": sizes})
        assert counted(make(both), documents=listing, positions="tokens") == expected, make

    # One annotator's data next to those of another kind.
    for one, other in product(("lists", "rows", "Dataset", "iterators"), repeat=2):
        both = {"ada": TAGS[one](ada), "ben": TAGS[other](ben)}
        assert counted(both, **numbered) == expected, (one, other)
    for kind, make in {
        "rows": TAGS["rows"],
        "Dataset": TAGS["Dataset"],
        "spaCy": TEXTS["spaCy"],
    }.items():
        for beside in ({"tokens": words}, {}):
            both = {"ada": make(ada), "ben": SPANS["iterators"](ben)}
            assert counted(both, **beside, **tokens) == expected, kind
    both = {"ada": ada.records, "ben": ben.characters}
    assert counted(both, texts=texts, **tokens) == expected
    both = {"ada": files[0], "ben": ben.tags}
    assert counted(both) == expected
