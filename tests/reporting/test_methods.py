"""The methods paragraph: grammatical and true for every choice, and safe to paste."""

import json
import re
from dataclasses import replace
from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from annotated_texts import corpus_of, texts
from beyondchance import (
    Corpus,
    CustomMeasure,
    NothingSharedError,
    OptionError,
    agreement,
    compare_systems,
    difficulty,
    example,
    labelling,
    null_distribution,
    rank,
)
from beyondchance.annotations.corpus import UNITS
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import AUTO, MODELS
from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.citations import PAPER, SOFTWARE
from beyondchance.reporting.commands.agree import agree_report
from beyondchance.reporting.methods import (
    methods_of_agreement,
    methods_of_difficulty,
    methods_of_ranking,
    rendered_methods,
)
from beyondchance.reporting.paragraphs import FORMS
from beyondchance.reporting.rendering import rendered
from beyondchance.results.resampling import METHODS, SCORES
from beyondchance.scoring.corpus_wide import BY_FUGACITIES
from beyondchance.scoring.options import SCOPES
from beyondchance.settings import Settings

HOSTILE = "a|b_c$d&e#f%g{h}~i^j\\k<l>[m](n)`o`*p*\x1b[31m\nq\u202er"
FEW = {"resamples": 99, "seed": 5}
ESTIMATED = {"iou": {"samples": 20, "seed": 5}}
"""Options of measures whose chance is estimated where there is no formula."""
MINUS = "\N{MINUS SIGN}"

# What looks wrong in any sentence: a missing value, or a comma, space or stop too many.
WRONG = re.compile(r"None|\bnan\b|\binf\b|  | [,;.:)]|\( |[,;:]{2}|,\.|\.\.|\(\)|--|\[\]|\{\}|@")
WRITTEN_OUT = re.compile(
    r"\\(text(bar|less|greater|quotedbl|backslash|asciicircum|asciitilde)|allowbreak)\{\}"
)
MATHS = re.compile(r"\$(\(\\mathit\{observed\}[^$]*|p [=<>] [\d.]+|-|\\leq)\$")


def numbers(text):
    """The numbers of a text outside of the signature, as they are written."""
    return set(re.findall(r"\d[\d.,]*\d|\d", text))


def assert_well_written(paragraph, *, is_plain=True):
    """A law of all paragraphs, in all forms."""
    text = str(paragraph)
    body, _, signature = text.rpartition('; their signature is "')
    assert signature.endswith('".')
    if is_plain:
        assert not WRONG.search(body), WRONG.search(body)
        assert Settings.parse(signature.removesuffix('".'))
    assert "\n" not in text
    assert 4 <= len(paragraph.sentences) <= 8
    for sentence in paragraph.sentences:
        assert sentence[0][0].isupper()
        assert sentence[-1].endswith(".")
    assert body.count("(") == body.count(")")
    assert paragraph.keys[-1] == SOFTWARE
    assert "(The beyondchance maintainers, 2026)" in text
    for form in ("markdown", "latex"):
        assert len(paragraph.written(form).splitlines()) == len(paragraph.sentences)
    assert_latex(paragraph.written("latex"))
    return text


def assert_latex(found):
    """Nothing has a meaning that was not meant."""
    found = MATHS.sub("", found)
    found = WRITTEN_OUT.sub("", found)
    found = re.sub(r"\\[{}$&#%_]", "", found)
    found = re.sub(r"\{[\[\]*]\}", "", found)
    found, n_citations = re.subn(r"\\citep\{[a-z0-9-]+\}", "", found)
    assert n_citations in {1, 2}
    found, n_code = re.subn(r"\\texttt\{[^{}\\]*\}", "", found)
    assert n_code == 1
    assert not re.search(r"[\\{}$&#%_^~<>|\"]", found), found


def shown(score, digits=4):
    """How the three numbers of a score are written."""
    values = (in_digits(getattr(score, name), digits) for name in SCORES)
    return {value.lstrip("<>-") for value in values if value != "-"}


@pytest.fixture(scope="module")
def corpora():
    """The example and what can be unusual of annotations, by name."""
    one, two = [(0, 3, "P"), (5, 6, "L")], [(1, 3, "P")]
    nested = [(0, 6, "P"), (1, 3, "P")]
    crossing = [(0, 4, "P"), (2, 6, "P")]
    texts = ["Ada met Bo there.", "Bo left."]
    spans = [[(0, 3, "P")], [(0, 2, "P")]]
    return {
        "example": example(),
        "two": example().select(annotators=["ada", "ben"]),
        "gold": example().with_gold("ada"),
        "one against gold": example().select(annotators=["ada", "ben"]).with_gold("ada"),
        "labels": example().select(labels=["PERSON", "PLACE"]),
        "one document": Corpus.from_spans({"a": [one], "b": [two]}, lengths=[9]),
        "nested": Corpus.from_spans({"a": [nested, one], "b": [two, two]}, lengths=[9, 8]),
        "crossing": Corpus.from_spans({"a": [crossing, one], "b": [two, two]}, lengths=[9, 8]),
        "nothing": Corpus.from_spans({"a": [[], []], "b": [[], []]}, lengths=[5, 6]),
        "no room": Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[(0, 2, "P")]]}, lengths=[2]),
        "no freedom": Corpus.from_spans(
            {"a": [[(0, 1, "P")], []], "b": [[(0, 1, "P")], [(0, 1, "P")]]}, lengths=[1, 1]
        ),
        "characters": Corpus.from_spans({"a": spans, "b": spans[::-1]}, texts=texts),
        "missing": Corpus.from_spans(
            {"a": [one, two, None], "b": [two, None, one], "c": [one, None, two]}, lengths=[9] * 3
        ),
        "repaired": Corpus.from_tags(
            {"a": [["O", "I-P", "O"], ["B-P", "O"]], "b": [["B-P", "O", "O"], ["B-P", "O"]]}
        ),
    }


EXAMPLES = ("example", "two", "gold", "one against gold", "labels")
SMALL = (
    *("one document", "nested", "crossing", "nothing", "no room", "no freedom", "characters"),
    *("missing", "repaired"),
)
CORPORA = (*EXAMPLES, *SMALL)


def scored(score, corpus, **options):
    """A result, or none where these options do not go together."""
    try:
        return score(corpus, **options)
    except (OptionError, ValueError):
        return None


class TestEveryCombination:
    """A paragraph is well written and has the numbers of its result, whatever was chosen."""

    @pytest.mark.parametrize("name", [pytest.param("example", marks=pytest.mark.slow), *SMALL])
    def test_choices_of_scoring(self, name, corpora):
        n_written = 0
        choices = product(MEASURES, (AUTO.name, *MODELS), SCOPES, UNITS)
        for measure, model, scope, unit in choices:
            corpus = replace(corpora[name], unit=unit)
            options = {"measure": measure, "model": model, "scope": scope}
            options |= ESTIMATED.get(measure, {})
            result = scored(agreement, corpus, **options)
            if result is None:
                continue
            n_written += 1
            for known in (corpus, None):
                text = assert_well_written(methods_of_agreement(result, corpus=known))
                assert shown(result.score) <= numbers(text)
                assert ("undefined" in text) == isnan(result.corrected)
                assert ("estimated from" in text) == bool(result.score.error)
            assert_well_written(methods_of_difficulty(difficulty(corpus, **options)))
        assert n_written > 10

    @pytest.mark.parametrize("name", CORPORA)
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("over", ["documents", "annotators", "both"])
    def test_intervals(self, name, method, over, corpora):
        corpus = corpora[name]
        for measure in ("token", "iou"):
            result = agreement(corpus, measure=measure, **ESTIMATED.get(measure, {}))
            intervals = result.intervals(method=method, over=over, confidence=0.9, **FEW)
            text = assert_well_written(
                methods_of_agreement(result, intervals, corpus=corpus, digits=3)
            )
            assert shown(result.score, 3) <= numbers(text)
            interval = intervals.overall["corrected"]
            assert ("90 % confidence interval from" in text) == (interval.reason is None)
            if interval.reason is None:
                assert {
                    in_digits(end, 3).lstrip("<>-") for end in (interval.low, interval.high)
                } <= numbers(text)
                assert ("99 resamples" in text) == (method != "expanded")
                assert ("(seed 5)" in text) == (method != "expanded" or result.score.error > 0)
                assert interval.over.partition(" ")[0].removesuffix("s") in text
            else:
                assert "No 90 % confidence interval could be computed." in text

    @pytest.mark.parametrize("name", [name for name in CORPORA if name != "missing"])
    @pytest.mark.parametrize("method", METHODS)
    def test_rankings(self, name, method, corpora):
        corpus = corpora[name]
        for gold in corpus.annotators[:2]:
            ranking = rank(corpus, gold=gold)
            standings = compare_systems(ranking, method=method, **FEW)
            for known, sure in product((corpus, None), (standings, None)):
                text = assert_well_written(methods_of_ranking(ranking, sure, corpus=known))
                for system in ranking.systems.values():
                    if len(ranking.systems) < 3 and not isnan(system.corrected):
                        assert shown(system.score) <= numbers(text)
                is_tested = sure is not None and len(standings.order) > 1
                assert ("permutation test" in text) == is_tested
            assert_well_written(methods_of_difficulty(difficulty(corpus, gold=gold), corpus=corpus))

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("name", CORPORA)
    def test_difficulties(self, name, method, corpora):
        result = difficulty(corpora[name], measure="exact")
        text = assert_well_written(
            methods_of_difficulty(
                result, result.intervals(method=method, **FEW), corpus=corpora[name], digits=2
            )
        )
        assert in_digits(result.overall, 2).strip("-<>") in text

    @given(texts(most_positions=8), st.sampled_from(list(SCOPES)), st.sampled_from(METHODS))
    @settings(max_examples=40)
    def test_random_annotations(self, found, scope, method):
        corpus = corpus_of(found)
        result = agreement(corpus, scope=scope)
        intervals = result.intervals(method=method, **FEW)
        text = assert_well_written(methods_of_agreement(result, intervals, corpus=corpus))
        assert shown(result.score) <= numbers(text)
        try:
            ranking = rank(corpus, gold="anna")
        except NothingSharedError:
            return
        assert_well_written(methods_of_ranking(ranking, corpus=corpus))
        assert_well_written(methods_of_ranking(ranking))


class TestSentences:
    """What is said of what was done."""

    def test_two_annotators(self):
        corpus = example().select(annotators=["ada", "ben"])
        text = str(methods_of_agreement(agreement(corpus), corpus=corpus))
        assert text.startswith(
            "Agreement was computed between two annotators, who marked 150 spans with 3 labels in "
            "the 46 sentences of 12 documents that both annotated; spans are sequences of tokens, "
            "as tokenised in the data. Agreement is the F1 score of tokens, where a match is a "
            "token that is marked with the same label in both annotations; counts are added over "
            "sentences and labels before the division (micro average). Chance agreement, computed "
            "exactly, is the F1 score expected of random annotators with the same number and "
            "lengths of spans in each sentence (Li et al., 2024): the spans of each label are "
            "placed separately, "
        )
        assert (
            "Observed agreement is 0.7748, chance agreement is 0.2422, and corrected agreement, "
            "(observed - chance) / (1 - chance), is 0.7028."
        ) in text.replace(MINUS, "-")

    def test_a_team(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["missing"]), corpus=corpora["missing"]))
        assert "among three annotators (3 pairs), who marked" in text
        assert "in the 2 documents that at least two of them annotated" in text
        assert "added over documents, labels and pairs of annotators before" in text
        assert "documents with one annotator only (1)" in text

    def test_who_shares_nothing_was_not_compared(self):
        one = [(0, 1, "P")]
        corpus = Corpus.from_spans(
            {"a": [one, None], "b": [one, None], "c": [None, one]}, lengths=[4, 4]
        )
        text = str(methods_of_agreement(agreement(corpus), corpus=corpus))
        assert text.startswith("Agreement was computed between two annotators, who marked 2 spans")
        assert "in the 1 document that both annotated" in text

    def test_against_a_gold_standard(self, corpora):
        text = str(methods_of_agreement(agreement(example(), gold="ada"), corpus=example()))
        assert text.startswith("Agreement with a gold standard was computed for two annotators; ")
        assert "added over sentences, labels and annotators before" in text
        corpus = corpora["one against gold"]
        text = str(methods_of_agreement(agreement(corpus), corpus=corpus))
        assert text.startswith("Agreement with a gold standard was computed for one annotator; ")
        corpus = corpora["gold"]
        text = str(methods_of_agreement(agreement(corpus), corpus=corpus))
        assert "between two annotators" in text
        assert "; a gold standard was not compared; " in text

    def test_what_spans_are_made_of(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["characters"])))
        assert "; spans are sequences of characters. " in text
        assert "F1 score of characters, where a match is a character that" in text
        corpus = replace(example(), positions="frames", options={"grid": "10ms"})
        text = str(methods_of_agreement(agreement(corpus), corpus=corpus))
        assert "; spans are sequences of time frames of 10ms. " in text

    def test_labels_that_were_kept(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["labels"])))
        assert "; only the labels PERSON and PLACE were considered; " in text
        corpus = example().select(labels=["PLACE"])
        assert "; only the label PLACE was considered; " in str(
            methods_of_agreement(agreement(corpus))
        )

    def test_labels_that_do_not_count(self):
        text = str(methods_of_agreement(agreement(example(), scope="unlabelled", measure="exact")))
        assert "who marked 214 spans in the" in text
        assert "has the same start and end in both annotations; labels are ignored; " in text
        assert "added over sentences and pairs" in text

    @pytest.mark.parametrize(
        ("corpus", "why"),
        [
            ("no room", "is undefined, because chance agreement is 1."),
            ("no freedom", "is undefined, because all random arrangements match as much."),
            ("nothing", "Nothing was marked, so that observed, chance and corrected agreement, "),
        ],
    )
    def test_why_it_is_undefined(self, corpus, why, corpora):
        assert why in str(methods_of_agreement(agreement(corpora[corpus])))

    def test_chance_that_was_estimated(self):
        options = {"measure": "iou", "theta": 0.3, "samples": 50, "seed": 7}
        result = agreement(example(), **options)
        text = str(methods_of_agreement(result))
        assert "if they share more than 0.3 of the tokens that they cover together" in text
        assert (
            ", estimated from 50 random arrangements of each sentence (seed 7), where no formula "
            "gives it,"
        ) in text
        assert f"(standard error {in_digits(result.score.chance_error)})" in text
        text = str(methods_of_ranking(rank(example(), gold="ada", **options)))
        assert "with standard error 0.0" in text

    def test_the_corpus_as_unit(self):
        corpus = replace(example(), unit="corpus")
        result = agreement(corpus)
        assert BY_FUGACITIES in result.notes
        text = str(methods_of_agreement(result, corpus=corpus))
        assert ", computed by an approximation with fugacities (with a relative error of" in text
        assert "spans anywhere in the texts that are compared (Li et al., 2024): " in text
        assert "46 texts of 12 documents" in text
        assert "exactly" not in text
        small = Corpus.from_spans(
            {"a": [[(0, 1, "P")], []], "b": [[], [(0, 1, "P")]]}, lengths=[3, 4], unit="corpus"
        )
        assert ", computed exactly," in str(methods_of_agreement(agreement(small)))
        # A system by itself has no notes: nothing is known, and nothing claimed.
        system = rank(corpus, gold="ada").systems["ben"]
        text = str(methods_of_agreement(system))
        assert "Chance agreement is the F1 score" in text

    def test_a_measure_of_ones_own(self):
        custom = CustomMeasure(
            name=HOSTILE,
            phi=lambda start, *_: np.ones(len(start)),
            size=lambda length: np.ones(len(length)),
        )
        paragraph = methods_of_agreement(agreement([["B-P", "O"]], [["O", "B-P"]], measure=custom))
        text = assert_well_written(paragraph, is_plain=False)
        assert "by the custom measure 'a|b_c" in text
        assert "\x1b" not in text

    def test_the_labels_of_what_both_found(self):
        places = {"token": "at a token that both marked", "exact": "at a span of both"}
        for measure, place in places.items():
            split = labelling(example(), measure=measure)
            text = str(methods_of_agreement(split.labelling))
            assert place in text
            assert "permuted over all places that both annotators of a pair marked" in text
            assert PAPER not in methods_of_agreement(split.labelling).keys
            assert_well_written(methods_of_agreement(split.finding))

    def test_the_test_against_chance(self):
        corpus = example()
        null = null_distribution(corpus, resamples=99, seed=4)
        paragraph = methods_of_agreement(agreement(corpus), null=null, settings=null.settings)
        text = assert_well_written(paragraph)
        assert "as high as observed has p = 0.0100, from 99 random annotations (seed 4)." in text
        assert str(null.settings) in text

    def test_tests_of_systems(self, corpora):
        ranking = rank(corpora["gold"])
        text = str(methods_of_ranking(ranking, compare_systems(ranking, **FEW)))
        assert (
            "The two systems were compared in corrected agreement on the 12 documents that both "
            "have, by a paired permutation test with 99 random exchanges of two systems within "
            "documents (seed 5); they do not differ significantly at the level of 0.05 (p = "
        ) in text
        standings = compare_systems(ranking, test="bootstrap", score="observed", **FEW)
        text = str(methods_of_ranking(ranking, standings))
        assert "compared in observed agreement" in text
        assert "paired bootstrap test with 99 resamples of documents (seed 5)" in text

    def test_many_systems(self):
        marks = [(0, 2, "P"), (5, 6, "P")]
        right, wrong = [marks] * 9, [[(1, 3, "P")]] * 9
        spans = {"gold": right, "a": right, "b": right, "c": wrong, "d@x.org": wrong}
        corpus = Corpus.from_spans(spans, lengths=[9] * 9)
        ranking = rank(corpus, gold="gold")
        standings = compare_systems(ranking, resamples=999, seed=1)
        text = assert_well_written(methods_of_ranking(ranking, standings, corpus=corpus))
        assert "All 6 pairs of systems were compared" in text
        assert "with all exchanges of two systems within documents; " in text
        n_pairs = sum(not isnan(p) for p in standings.adjusted.values())
        assert f"p-values are adjusted by Holm's method for {n_pairs} pairs; " in text
        n_apart = sum(p <= 0.05 for p in standings.adjusted.values())
        assert n_apart == 4
        assert "four pairs differ significantly at the level of 0.05" in text

    def test_systems_that_are_alike(self):
        right = [[(0, 2, "P"), (5, 6, "P")]] * 3
        corpus = Corpus.from_spans({"gold": right, "a": right, "b": right}, lengths=[9] * 3)
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold")))
        assert "is 1.0000 for all systems (observed 1.0000; chance " in text

    def test_systems_without_a_score(self):
        one, no = [(0, 1, "P")], []
        spans = {"gold": [one, one], "a": [one, one], "b": [no, no], "c": [one, one]}
        corpus = Corpus.from_spans(spans, lengths=[1, 1])
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold")))
        assert "and is undefined for two systems" in text

    def test_systems_of_fewer_documents(self, corpora):
        corpus = corpora["missing"]
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="a"), corpus=corpus))
        assert "in 1 document; spans are" in text
        assert "documents of the gold standard only (1); documents without the gold stand" in text
        one = [(0, 1, "P")]
        spans = {"gold": [one, one], "a": [one, one], "b": [one, None]}
        corpus = Corpus.from_spans(spans, lengths=[4, 4])
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold"), corpus=corpus))
        assert "in 2 documents; one system has only some of them; " in text

    def test_what_was_mended(self, corpora):
        corpus = corpora["repaired"]
        text = str(methods_of_agreement(agreement(corpus)))
        assert "the following were changed or left out: tags repaired by conlleval (1)." in text
        text = str(methods_of_ranking(rank(corpus, gold="a")))
        assert "the following were changed or left out: tags repaired by conlleval (1)." in text

    def test_sentences_as_documents(self):
        tags = [["B-P", "O"], ["O", "B-P", "O"], ["B-P", "O", "O"]]
        result = agreement(tags, [tags[0], ["O", "O", "B-P"], tags[2]])
        text = assert_well_written(methods_of_agreement(result, result.intervals()))
        assert "in the 3 sentences that both annotated" in text
        assert "standard error over 3 sentences (each taken as a document) and" in text

    def test_negative_numbers(self):
        spans = {"a": [[(0, 2, "P")]], "b": [[(1, 3, "P")]]}
        paragraph = methods_of_agreement(agreement(Corpus.from_spans(spans, lengths=[4])))
        assert f"is {MINUS}0.1250." in str(paragraph)
        assert "is $-$0.1250." in paragraph.written("latex")

    def test_numbers_that_are_not_quite_0_or_1(self):
        spans = {"a": [[(0, 99999, "P")]], "b": [[(0, 99998, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[400_000])
        text = assert_well_written(methods_of_agreement(agreement(corpus)))
        assert "Observed agreement is more than 0.9999" in text


class TestNames:
    """Nothing gets into a paper that should not, and what gets there is text."""

    def test_no_addresses(self):
        spans = [[(0, 1, "P")], [(0, 2, "P")]]
        corpus = Corpus.from_spans(
            {"ada@x.org": spans, "ben@x.org": spans, "cleo@x.org": spans[::-1]}, lengths=[4, 5]
        ).select(annotators=["ada@x.org", "ben@x.org"])
        paragraphs = [
            methods_of_agreement(agreement(corpus, gold="ada@x.org"), corpus=corpus),
            methods_of_ranking(rank(corpus, gold="ada@x.org"), corpus=corpus),
            methods_of_difficulty(difficulty(corpus, gold="ada@x.org"), corpus=corpus),
        ]
        for paragraph in paragraphs:
            text = assert_well_written(paragraph)
            assert "@" not in text
            assert "gold:gold" in text
            assert "annotators:annotator 1,annotator 2" in text

    def test_no_paths(self):
        right, wrong = [[(0, 1, "P")]], [[(1, 2, "P")]]
        corpus = Corpus.from_spans({"gold": right, "/home/a": right, "b": wrong}, lengths=[5])
        text = str(methods_of_ranking(rank(corpus, gold="gold")))
        assert "/home" not in text
        assert "(b; observed 0.0000; " in text

    def test_hostile_names(self):
        right, wrong = [[(0, 1, HOSTILE)]], [[(1, 2, HOSTILE)]]
        name = "$x_1%&#{}~^*[]`|<>"
        corpus = Corpus.from_spans({HOSTILE: right, name: right, "b": wrong}, lengths=[5])
        corpus = corpus.select(labels=[HOSTILE])
        paragraph = methods_of_ranking(rank(corpus, gold=HOSTILE), corpus=corpus)
        text = assert_well_written(paragraph, is_plain=False)
        assert "\x1b" not in text
        assert name in text
        assert r"\$x\_1\%\&\#\{\}" in paragraph.written("latex")
        assert r"\$x\_1%&\#\{\}\~^\*\[\]\`\|\<\>" in paragraph.written("markdown")

    def test_code_in_markdown(self):
        spans = [[(0, 1, "P")]]
        corpus = Corpus.from_spans({"a`b``c": spans, "b": spans}, lengths=[5])
        found = methods_of_ranking(rank(corpus, gold="a`b``c")).written("markdown")
        assert re.search(r"signature is ``` beyondchance\|.*gold:a`b``c.* ```\.$", found)


class TestOutputs:
    """What is printed for it."""

    @pytest.fixture
    def report(self):
        corpus = example()
        results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
        return agree_report(results, corpus)

    @pytest.mark.parametrize("form", FORMS)
    def test_the_paragraph_and_the_keys(self, report, form):
        paragraph, keys = rendered_methods(report, form).split("\n\n")
        assert paragraph == report.make_methods().written(form)
        assert f"BibTeX keys: {PAPER}, {SOFTWARE} (" in keys
        assert "beyondchance --cite" in keys
        assert keys.startswith("%") == (form == "latex")
        assert keys.endswith("\n")
        assert keys.count("\n") == 1

    def test_json_has_both(self, report):
        found = json.loads(rendered_methods(report, "json"))
        assert found["methods"] == str(report.make_methods())
        assert found["corrected"] == agreement(example()).corrected

    def test_no_room_in_csv(self, report):
        with pytest.raises(OptionError, match="unknown output 'csv'; choose one of: text"):
            rendered_methods(report, "csv")

    def test_a_report_without_one(self):
        assert Report(command="formats").make_methods().sentences == ()

    def test_the_table(self, report):
        found = rendered(report, "latex", digits=3)
        assert found.count(r"\begin{tabular}") == 1
        assert "token & $0.788$ & $0.247$ & $0.718$" in found
        assert found.endswith(f"% {report.signature}\n")
