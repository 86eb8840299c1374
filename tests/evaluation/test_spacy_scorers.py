"""Scorers of spaCy, in pipelines that spaCy makes and trains from a config."""

import io
import json
import random

import pytest
import spacy
from spacy.pipeline.spancat import spancat_score
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_evaluation_callback, train
from spacy.util import load_config_from_str

import beyondchance as bc
from beyondchance.evaluation.spacy_scorers import ner_scorer, spancat_scorer

VOCAB = spacy.blank("en").vocab
CONFIG = """
[paths]
train = "{folder}/train.spacy"
dev = "{folder}/dev.spacy"

[nlp]
lang = "en"
pipeline = ["{component}"]

[components]

[components.{component}]
factory = "{component}"

[components.{component}.scorer]
@scorers = "beyondchance.{component}_scorer.v1"

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${{paths.train}}

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${{paths.dev}}

[training]
max_steps = {steps}
eval_frequency = 10
seed = 1

[training.score_weights]
{weights}
"""


def document(words, marks, *, key=None, unknown=()):
    """A document whose entities, or group of spans, are (start, end, label)."""
    doc = Doc(VOCAB, words=words)
    spans = [Span(doc, *mark) for mark in marks]
    if key is not None:
        doc.spans[key] = spans
    else:
        missing = [Span(doc, i, i + 1) for i in unknown]
        doc.set_ents(spans, missing=missing, default="missing" if unknown == "all" else "outside")
    return doc


def example(words, true, found, **options):
    return Example(document(words, found, **options), document(words, true, **options))


def random_marks(rng, n):
    marks, place = [], 0
    while place < n:
        if rng.random() < 0.4:
            end = min(n, place + rng.randint(1, 3))
            marks.append((place, end, rng.choice(["PER", "LOC"])))
            place = end
        place += 1
    return marks


def random_examples(seed, **options):
    rng = random.Random(seed)  # noqa: S311 - the same on every run
    for _ in range(6):
        n = rng.randint(1, 12)
        yield example(
            [f"w{i}" for i in range(n)], random_marks(rng, n), random_marks(rng, n), **options
        )


def test_an_example_by_hand():
    words = ["Ada", "went", "to", "Oslo"]
    given = [example(words, [(0, 1, "PER"), (3, 4, "LOC")], [(0, 1, "PER"), (1, 3, "LOC")])]
    scores = ner_scorer()(given)
    assert scores["ents_p"] == scores["ents_r"] == scores["ents_f"] == 0.5
    # One of four tokens for the person: 1/4. Two lengths of places never match: 0.
    assert scores["ents_chance"] == 0.125
    assert scores["ents_corrected"] == pytest.approx((0.5 - 0.125) / (1 - 0.125))
    assert scores["ents_per_type"]["PER"] == {
        "p": 1,
        "r": 1,
        "f": 1,
        "chance": 0.25,
        "corrected": 1,
    }
    assert scores["ents_token_f"] == 2 * 1 / (2 + 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_spacy_and_of_agreement(seed):
    examples = list(random_examples(seed))
    scores, theirs = ner_scorer()(iter(examples)), get_ner_prf(examples)
    for name in ("ents_p", "ents_r", "ents_f"):
        assert scores[name] == theirs[name]
    for label, values in theirs["ents_per_type"].items():
        assert {key: scores["ents_per_type"][label][key] for key in values} == values
    sides = [[getattr(e, side) for e in examples] for side in ("reference", "predicted")]
    exact, token = (bc.agreement(*sides, measure=measure) for measure in ("exact", "token"))
    assert scores["ents_chance"] == exact.chance
    assert scores["ents_corrected"] == exact.corrected
    assert scores["ents_per_type"]["PER"]["corrected"] == exact.by_label["PER"].corrected
    assert scores["ents_token_f"] == token.observed
    assert scores["ents_token_chance"] == token.chance
    assert scores["ents_token_corrected"] == token.corrected


def test_tokens_that_are_not_annotated_do_not_count():
    words = ["Ada", "left", "x", "y", "z"]
    given = [example(words, [(0, 1, "PER")], [(0, 1, "PER")])]
    # Two tokens of five are unknown, and what was found there is neither right nor wrong.
    reference = document(words, [(0, 1, "PER")], unknown=(3, 4))
    unknown = [Example(document(words, [(0, 1, "PER"), (3, 4, "PER")]), reference)]
    assert ner_scorer()(given)["ents_chance"] == pytest.approx(1 / 5)
    scores = ner_scorer()(unknown)
    assert scores["ents_f"] == get_ner_prf(unknown)["ents_f"] == 1
    assert scores["ents_chance"] == pytest.approx(1 / 3)


def test_other_tokens():
    # Two tokens of the prediction are one of the reference.
    true = Doc(VOCAB, words=["New-York", "is", "big"])
    true.ents = [Span(true, 0, 1, "LOC")]
    found = Doc(VOCAB, words=["New-", "York", "is", "big"], spaces=[False, True, True, True])
    found.ents = [Span(found, 0, 2, "LOC")]
    given = [Example(found, true)]
    scores = ner_scorer()(given)
    assert scores["ents_f"] == get_ner_prf(given)["ents_f"] == 1
    assert scores["ents_chance"] == pytest.approx(1 / 3)


def test_nothing_is_none_in_what_spacy_scores_and_zero_in_ours():
    blank = Doc(VOCAB, words=["a", "b"])
    without = [Example(document(["a", "b"], []), blank)]
    for given in ([], [example(["a", "b"], [], [])], without):
        scores = ner_scorer()(given)
        theirs = get_ner_prf(given)
        assert scores == {**dict.fromkeys(scores, 0.0), **theirs}
        assert scores.keys() >= {"ents_f", "ents_per_type", "ents_chance", "ents_token_corrected"}
    # Nothing found is a score of 0, from which a training can begin.
    scores = ner_scorer()([example(["a", "b"], [(0, 1, "PER")], [])])
    assert scores["ents_f"] == scores["ents_corrected"] == 0


def test_groups_of_spans():
    examples = list(random_examples(0, key="sc"))
    scores, theirs = (f(examples, spans_key="sc") for f in (spancat_scorer(), spancat_score))
    for name in ("spans_sc_p", "spans_sc_r", "spans_sc_f"):
        assert scores[name] == theirs[name]
    sides = [[getattr(e, side) for e in examples] for side in ("reference", "predicted")]
    exact = bc.agreement(*sides, measure="exact", layer="sc")
    assert scores["spans_sc_chance"] == exact.chance
    assert scores["spans_sc_corrected"] == exact.corrected
    assert scores["spans_sc_per_type"]["LOC"]["chance"] == exact.by_label["LOC"].chance


def test_groups_of_spans_that_overlap():
    words, spans = ["a", "b", "c", "d"], [(0, 3, "X"), (1, 2, "X"), (2, 4, "Y")]
    scores = spancat_scorer()([example(words, spans, spans, key="k")], spans_key="k")
    assert scores["spans_k_f"] == scores["spans_k_corrected"] == 1


# --- From a config ------------------------------------------------------------


@pytest.mark.slow
def test_a_weight_lasts_beyond_an_evaluation_without_a_score():
    # SpaCy drops the weight of a score that is None once, for the rest of a run.
    nlp = spacy.blank("en")
    nlp.add_pipe("ner", config={"scorer": {"@scorers": "beyondchance.ner_scorer.v1"}})
    nlp.initialize(lambda: [Example(document(["a"], []), document(["Ada"], [(0, 1, "PER")]))])
    nlp.evaluate = lambda given: nlp.get_pipe("ner").score(given)
    nothing = [example(["a", "b"], [], [])]
    perfect = [example(["a", "b", "c"], [(0, 1, "PER")], [(0, 1, "PER")])]
    given = iter([nothing, perfect])
    evaluate = create_evaluation_callback(nlp, lambda _: next(given), {"ents_corrected": 1.0})
    assert [evaluate()[0] for _ in range(2)] == [0.0, 1.0]


def texts(number, *, key=None):
    rng = random.Random(number)  # noqa: S311 - the same on every run
    names, places = ["Ada", "Ben", "Rome", "Lima"], ["Oslo", "Rome", "Lima", "Ben"]
    for _ in range(number):
        words = [rng.choice(names), "went", "to", rng.choice(places), "again"][: rng.randint(4, 5)]
        yield document(words, [(0, 1, "PER"), (3, 4, "LOC")], key=key)


def trained(tmp_path, component, weights, *, steps, key=None):
    for name, number in (("train", 40), ("dev", 15)):
        DocBin(docs=texts(number, key=key)).to_disk(tmp_path / f"{name}.spacy")
    text = CONFIG.format(
        folder=tmp_path.as_posix(), component=component, weights=weights, steps=steps
    )
    config = spacy.blank("en").config.merge(load_config_from_str(text, interpolate=False))
    nlp = init_nlp(config)
    silent = io.StringIO()
    (tmp_path / "model").mkdir()
    train(nlp, tmp_path / "model", stdout=silent, stderr=silent)
    saved = json.loads((tmp_path / "model" / "model-best" / "meta.json").read_text("utf-8"))
    return spacy.load(tmp_path / "model" / "model-best"), saved["performance"]


@pytest.mark.slow
def test_a_pipeline_is_trained_by_what_is_beyond_chance(tmp_path):
    nlp, performance = trained(tmp_path, "ner", "ents_corrected = 1.0\nents_f = null", steps=30)
    weights = nlp.config["training"]["score_weights"]
    assert weights["ents_corrected"] == 1.0
    assert weights["ents_f"] is None
    assert performance["ents_corrected"] > 0.5
    examples = [Example(nlp(doc.text), doc) for doc in texts(15)]
    scores = nlp.evaluate(examples)
    assert performance["ents_corrected"] == pytest.approx(scores["ents_corrected"])
    theirs = get_ner_prf(examples)
    for name in ("ents_p", "ents_r", "ents_f"):
        assert scores[name] == theirs[name]
    assert scores["ents_chance"] < scores["ents_f"]


@pytest.mark.slow
def test_spans_are_scored_from_a_config(tmp_path):
    nlp, performance = trained(tmp_path, "spancat", "spans_sc_corrected = 1.0", steps=10, key="sc")
    assert "spans_sc_corrected" in performance
    examples = [Example(nlp(doc.text), doc) for doc in texts(15, key="sc")]
    scores = nlp.evaluate(examples)
    assert scores["spans_sc_f"] == spancat_score(examples, spans_key="sc")["spans_sc_f"]
