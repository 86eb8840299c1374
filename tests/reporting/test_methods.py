"""The methods paragraph: grammatical and true for every choice, and safe to paste."""

import json
import re
from dataclasses import replace
from itertools import cycle, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st

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
from beyondchance.reporting.citations import IN_WORDS, PAPER, SOFTWARE
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
from examples import examples
from refusals import assert_tells, refused

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
    assert f"({IN_WORDS[SOFTWARE]})" in text
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


def shown(score, digits=3):
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


CHOICES = list(product(MEASURES, (AUTO.name, *MODELS), SCOPES, UNITS))
"""Of scoring: all that there are."""


class TestEveryChoice:
    """A paragraph is well written and has the numbers of its result, whatever was chosen."""

    def test_choices_of_scoring(self, corpora):
        models, units = cycle((AUTO.name, *MODELS)), cycle(UNITS)
        chosen = zip(cycle(MEASURES), models, cycle(SCOPES), units, strict=False)
        n = self.n_written(zip(SMALL * 2, chosen, strict=False), corpora)
        assert n > len(SMALL)

    @pytest.mark.slow
    def test_every_choice_of_scoring_on_some_corpus(self, corpora):
        cases = list(zip(cycle(SMALL), CHOICES, strict=False))
        assert self.n_written(cases, corpora) > len(cases) / 3

    @pytest.mark.long
    def test_every_choice_of_scoring_on_every_corpus(self, corpora):
        for name in ("example", *SMALL):
            assert self.n_written(product([name], CHOICES), corpora) > 10, name

    def n_written(self, cases, corpora):
        """How many of these corpora and choices go together."""
        n_written = 0
        for name, (measure, model, scope, unit) in cases:
            corpus = replace(corpora[name], unit=unit)
            options = {"measure": measure, "model": model, "scope": scope}
            options |= ESTIMATED.get(measure, {})
            result = scored(agreement, corpus, **options)
            if result is None:
                continue
            n_written += 1
            text = assert_well_written(methods_of_agreement(result))
            assert shown(result.score) <= numbers(text), (name, options, unit)
            assert ("undefined" in text) == isnan(result.corrected), (name, options, unit)
            is_estimated = bool(result.score.error)
            assert ("estimated from" in text) == is_estimated, (name, options, unit)
            assert_well_written(methods_of_difficulty(difficulty(corpus, **options)))
        return n_written

    def test_intervals(self, corpora):
        ways = cycle(product(METHODS, ("documents", "annotators", "both")))
        for name, (method, over), measure in zip(
            CORPORA, ways, cycle(("token", "iou")), strict=False
        ):
            self.assert_interval(name, corpora[name], measure, method=method, over=over)

    @pytest.mark.slow
    def test_every_way_to_intervals(self, corpora):
        ways = product(METHODS, ("documents", "annotators", "both"), ("iou", "token"))
        for (method, over, measure), name in zip(ways, reversed(2 * CORPORA), strict=False):
            self.assert_interval(name, corpora[name], measure, method=method, over=over)

    def assert_interval(self, name, corpus, measure, *, method, over):
        about = (name, measure, method, over)
        result = agreement(corpus, measure=measure, **ESTIMATED.get(measure, {}))
        intervals = result.intervals(method=method, over=over, confidence=0.9, **FEW)
        text = assert_well_written(methods_of_agreement(result, intervals=[intervals], digits=3))
        assert shown(result.score, 3) <= numbers(text), about
        interval = intervals.overall["corrected"]
        assert ("; confidence interval from" in text) == (interval.reason is None), about
        if interval.reason is None:
            ends = {in_digits(end, 3).lstrip("<>-") for end in (interval.low, interval.high)}
            assert ends <= numbers(text), about
            assert ("99 resamples" in text) == (method != "expanded"), about
            is_drawn = method != "expanded" or result.score.error > 0
            assert ("(seed 5)" in text) == is_drawn, about
            assert interval.over.partition(" ")[0].removesuffix("s") in text, about
        else:
            assert "No 90% confidence interval" in text, about

    def test_rankings(self, corpora):
        names = [name for name in CORPORA if name != "missing"]
        for name, method, place in zip(names, cycle(METHODS), cycle((0, 1)), strict=False):
            corpus = corpora[name]
            gold = corpus.annotators[place]
            ranking = rank(corpus, gold=gold)
            standings = compare_systems(ranking, method=method, **FEW)
            for sure in ([standings], []):
                text = assert_well_written(methods_of_ranking(ranking, standings=sure))
                for system in ranking.systems.values():
                    if len(ranking.systems) < 3 and not isnan(system.corrected):
                        assert shown(system.score) <= numbers(text), (name, method)
                is_tested = bool(sure) and len(standings.order) > 1
                assert ("permutation test" in text) == is_tested, (name, method)
            assert_well_written(methods_of_difficulty(difficulty(corpus, gold=gold)))

    def test_difficulties(self, corpora):
        for name, method in zip(CORPORA, cycle(METHODS), strict=False):
            result = difficulty(corpora[name], measure="exact")
            text = assert_well_written(
                methods_of_difficulty(result, result.intervals(method=method, **FEW), digits=2)
            )
            assert in_digits(result.overall, 2).strip("-<>") in text, (name, method)

    @given(texts(most_positions=8), st.sampled_from(list(SCOPES)), st.sampled_from(METHODS))
    @examples(40)
    def test_random_annotations(self, found, scope, method):
        corpus = corpus_of(found)
        result = agreement(corpus, scope=scope)
        intervals = result.intervals(method=method, **FEW)
        text = assert_well_written(methods_of_agreement(result, intervals=[intervals]))
        assert shown(result.score) <= numbers(text)
        try:
            ranking = rank(corpus, gold="anna")
        except NothingSharedError:
            return
        assert_well_written(methods_of_ranking(ranking))
        assert_well_written(methods_of_ranking(ranking))


class TestSentences:
    """What is said of what was done."""

    def test_two_annotators(self):
        corpus = example().select(annotators=["ada", "ben"])
        text = str(methods_of_agreement(agreement(corpus), digits=4)).replace(MINUS, "-")
        assert_tells(text, "2 annotators … 150 spans … 3 labels … 46 sentences")
        assert_tells(text, "12 documents … tokens … micro … exactly … Li et al., 2024")
        assert_tells(text, "each label are placed separately … 0.7028 … 0.7748 … 0.2422")
        assert "(observed - chance) / (1 - chance)" in text

    def test_a_team(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["missing"])))
        assert_tells(text, "3 annotators (3 pairs) … 2 documents … at least two")
        assert_tells(text, "documents, labels and pairs of annotators … one annotator only (1)")

    def test_who_shares_nothing_was_not_compared(self):
        one = [(0, 1, "P")]
        corpus = Corpus.from_spans(
            {"a": [one, None], "b": [one, None], "c": [None, one]}, lengths=[4, 4]
        )
        text = str(methods_of_agreement(agreement(corpus)))
        assert_tells(text, "between 2 annotators … 2 spans … 1 document that both")

    def test_against_a_gold_standard(self, corpora):
        text = str(methods_of_agreement(agreement(example(), gold="ada")))
        assert_tells(text, "gold standard of 76 spans with 3 labels … with 2 annotators")
        assert_tells(text, "over sentences, labels and annotators")
        corpus = corpora["one against gold"]
        text = str(methods_of_agreement(agreement(corpus)))
        assert_tells(text, "gold standard of 76 spans … with 1 annotator")
        corpus = corpora["gold"]
        text = str(methods_of_agreement(agreement(corpus)))
        assert "between 2 annotators" in text
        assert "a gold standard was not compared" in text

    def test_what_spans_are_made_of(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["characters"])))
        assert_tells(text, "sequences of characters … F1 score … a character … (characters)")
        corpus = replace(example(), positions="frames", options={"grid": "10ms"})
        text = str(methods_of_agreement(agreement(corpus)))
        assert "time frames of 10ms" in text

    def test_nesting_only_where_there_is_any(self, corpora):
        inside, crossing = "spans inside another stay inside it", "spans that cross move together"
        told = {"example": set(), "nested": {inside}, "crossing": {crossing}}
        for name, rules in told.items():
            for text in (
                str(methods_of_agreement(agreement(corpora[name]))),
                str(methods_of_ranking(rank(corpora[name], gold=corpora[name].annotators[0]))),
                str(methods_of_difficulty(difficulty(corpora[name]))),
            ):
                assert {rule for rule in (inside, crossing) if rule in text} == rules, name
        text = str(methods_of_agreement(agreement(corpora["nested"], model="nested")))
        assert_tells(text, f"{inside} … others do not overlap")

    def test_every_measure_is_defined(self, corpora):
        results = agreement(corpora["two"]).measures
        text = str(methods_of_agreement(*results.values()))
        assert_tells(text, "a token that both marked (token) … same start and end … (exact)")
        assert_tells(text, "0.703 … by token … 0.400 … by exact")

    def test_labels_that_were_kept(self, corpora):
        text = str(methods_of_agreement(agreement(corpora["labels"])))
        assert "only the labels PERSON and PLACE" in text
        corpus = example().select(labels=["PLACE"])
        assert "only the labels PLACE counted" in str(methods_of_agreement(agreement(corpus)))

    def test_labels_that_do_not_count(self):
        text = str(methods_of_agreement(agreement(example(), scope="unlabelled", measure="exact")))
        assert_tells(text, "214 spans in … same start and end … labels are ignored")
        assert "over sentences and pairs" in text

    def test_why_it_is_undefined(self, corpora):
        reasons = {
            "no room": "undefined … chance agreement is 1",
            "no freedom": "undefined … every random placement scores the same (",
            "nothing": "undefined … nothing was marked",
        }
        for name, told in reasons.items():
            assert_tells(str(methods_of_agreement(agreement(corpora[name]))), told)

    def test_chance_that_was_estimated(self):
        options = {"measure": "iou", "theta": 0.3, "samples": 50, "seed": 7}
        result = agreement(example(), **options)
        text = str(methods_of_agreement(result))
        assert_tells(text, "more than 0.3 of the tokens … 50 random arrangements … (seed 7)")
        assert f" with standard error {in_digits(result.score.chance_error, 3)})" in text
        text = str(methods_of_ranking(rank(example(), gold="ada", **options)))
        assert "with standard error 0.0" in text

    @pytest.mark.slow
    def test_the_corpus_as_unit(self):
        corpus = replace(example(), unit="corpus")
        result = agreement(corpus)
        assert BY_FUGACITIES in result.notes
        text = str(methods_of_agreement(result))
        assert_tells(text, "approximation with fugacities … relative error … anywhere")
        assert "46 texts of 12 documents" in text
        assert "exactly" not in text
        small = Corpus.from_spans(
            {"a": [[(0, 1, "P")], []], "b": [[], [(0, 1, "P")]]}, lengths=[3, 4], unit="corpus"
        )
        assert ", computed exactly," in str(methods_of_agreement(agreement(small)))
        system = rank(corpus, gold="ada").systems["ben"]
        assert_tells(methods_of_agreement(system), "approximation with fugacities")

    def test_a_measure_of_ones_own(self):
        custom = CustomMeasure(
            name=HOSTILE,
            phi=lambda start, *_: np.ones(len(start)),
            size=lambda length: np.ones(len(length)),
        )
        paragraph = methods_of_agreement(agreement([["B-P", "O"]], [["O", "B-P"]], measure=custom))
        text = assert_well_written(paragraph, is_plain=False)
        assert "the custom measure 'a|b_c" in text
        assert "\x1b" not in text

    def test_the_labels_of_what_both_found(self):
        places = {"token": "at a token that both marked", "exact": "at a span with the same"}
        for measure, place in places.items():
            split = labelling(example(), measure=measure)
            text = str(methods_of_agreement(split.labelling))
            assert place in text
            assert "permuted over all places" in text
            assert PAPER not in methods_of_agreement(split.labelling).keys
            assert_well_written(methods_of_agreement(split.finding))

    def test_the_test_against_chance(self):
        corpus = example()
        null = null_distribution(corpus, resamples=99, seed=4)
        paragraph = methods_of_agreement(agreement(corpus), null=null, settings=null.settings)
        text = assert_well_written(paragraph)
        assert_tells(text, "p = 0.010 … 99 random annotations … (seed 4)")
        assert str(null.settings) in text

    def test_tests_of_systems(self, corpora):
        ranking = rank(corpora["gold"])
        text = str(methods_of_ranking(ranking, standings=[compare_systems(ranking, **FEW)]))
        assert_tells(text, "2 annotation sets … corrected agreement by token")
        assert_tells(text, "paired permutation test … 12 documents … 99 random ways (seed 5)")
        assert_tells(text, "do not differ significantly … 0.05 … (p =")
        standings = compare_systems(ranking, test="bootstrap", score="observed", **FEW)
        text = str(methods_of_ranking(ranking, standings=[standings]))
        assert_tells(text, "in observed agreement … paired bootstrap test … 99 resamples")

    def test_many_systems(self):
        marks = [(0, 2, "P"), (5, 6, "P")]
        right, wrong = [marks] * 9, [[(1, 3, "P")]] * 9
        spans = {"gold": right, "a": right, "b": right, "c": wrong, "d@x.org": wrong}
        corpus = Corpus.from_spans(spans, lengths=[9] * 9)
        ranking = rank(corpus, gold="gold")
        standings = compare_systems(ranking, resamples=999, seed=1)
        text = assert_well_written(methods_of_ranking(ranking, standings=[standings]))
        assert_tells(text, "4 annotation sets … all ways")
        n_pairs = sum(not isnan(p) for p in standings.adjusted.values())
        assert f"Holm's method for {n_pairs} pairs" in text
        n_apart = sum(p <= 0.05 for p in standings.adjusted.values())
        assert n_apart == 4
        assert_tells(text, "4 of 6 differ significantly … 0.05")

    def test_systems_that_are_alike(self):
        right = [[(0, 2, "P"), (5, 6, "P")]] * 3
        corpus = Corpus.from_spans({"gold": right, "a": right, "b": right}, lengths=[9] * 3)
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold")))
        assert_tells(text, "1.000 (a; … to 1.000 (b; …")

    def test_systems_without_a_score(self):
        one, no = [(0, 1, "P")], []
        spans = {"gold": [one, one], "a": [one, one], "b": [no, no], "c": [one, one]}
        corpus = Corpus.from_spans(spans, lengths=[1, 1])
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold")))
        assert "undefined for 2 annotation sets" in text

    def test_systems_of_fewer_documents(self, corpora):
        corpus = corpora["missing"]
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="a")))
        assert_tells(text, "in 1 document … spans are")
        assert_tells(text, "the gold standard only (1) … without the gold standard (1)")
        one = [(0, 1, "P")]
        spans = {"gold": [one, one], "a": [one, one], "b": [one, None]}
        corpus = Corpus.from_spans(spans, lengths=[4, 4])
        text = assert_well_written(methods_of_ranking(rank(corpus, gold="gold")))
        assert_tells(text, "in 2 documents … 2 annotation sets (1 of them with fewer")

    def test_what_was_mended(self, corpora):
        corpus = corpora["repaired"]
        text = str(methods_of_agreement(agreement(corpus)))
        assert "tags repaired as conlleval does (1)" in text
        text = str(methods_of_ranking(rank(corpus, gold="a")))
        assert "tags repaired as conlleval does (1)" in text

    def test_sentences_as_documents(self):
        tags = [["B-P", "O"], ["O", "B-P", "O"], ["B-P", "O", "O"]]
        result = agreement(tags, [tags[0], ["O", "O", "B-P"], tags[2]])
        text = assert_well_written(methods_of_agreement(result, intervals=[result.intervals()]))
        assert "in the 3 sentences that both annotated" in text
        assert_tells(text, "over 3 sentences … taken as a document")

    def test_negative_numbers(self):
        spans = {"a": [[(0, 2, "P")]], "b": [[(1, 3, "P")]]}
        paragraph = methods_of_agreement(agreement(Corpus.from_spans(spans, lengths=[4])), digits=4)
        assert f"is {MINUS}0.1250 (" in str(paragraph)
        assert "is $-$0.1250 (" in paragraph.written("latex")

    def test_numbers_that_are_not_quite_0_or_1(self):
        spans = {"a": [[(0, 99999, "P")]], "b": [[(0, 99998, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[400_000])
        text = assert_well_written(methods_of_agreement(agreement(corpus), digits=4))
        assert "observed >0.9999" in text


class TestNames:
    """Nothing gets into a paper that should not, and what gets there is text."""

    def test_no_addresses(self):
        spans = [[(0, 1, "P")], [(0, 2, "P")]]
        corpus = Corpus.from_spans(
            {"ada@x.org": spans, "ben@x.org": spans, "cleo@x.org": spans[::-1]}, lengths=[4, 5]
        ).select(annotators=["ada@x.org", "ben@x.org"])
        paragraphs = [
            methods_of_agreement(agreement(corpus, gold="ada@x.org")),
            methods_of_ranking(rank(corpus, gold="ada@x.org")),
            methods_of_difficulty(difficulty(corpus, gold="ada@x.org")),
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
        assert "(b; observed 0.000; " in text

    def test_hostile_names(self):
        right, wrong = [[(0, 1, HOSTILE)]], [[(1, 2, HOSTILE)]]
        name = "$x_1%&#{}~^*[]`|<>"
        corpus = Corpus.from_spans({HOSTILE: right, name: right, "b": wrong}, lengths=[5])
        corpus = corpus.select(labels=[HOSTILE])
        paragraph = methods_of_ranking(rank(corpus, gold=HOSTILE))
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


@pytest.fixture(scope="module")
def report():
    corpus = example()
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    return agree_report(results, corpus)


class TestOutputs:
    """What is printed for it."""

    def test_the_paragraph_and_what_is_below_it(self, report):
        for form in FORMS:
            paragraph, below = rendered_methods(report, form).split("\n\n")
            assert paragraph == report.make_methods().written(form), form
            keys, limits, end = below.split("\n")
            assert f"{PAPER}, {SOFTWARE}" in keys, form
            assert "beyondchance --cite" in keys, form
            assert "Limitations" in limits, form
            assert {line[0] == "%" for line in (keys, limits)} == {form == "latex"}, form
            assert end == "", form

    def test_json_has_both(self, report):
        found = json.loads(rendered_methods(report, "json"))
        assert found["methods"] == str(report.make_methods())
        assert found["corrected"] == agreement(example()).corrected

    def test_no_room_in_csv(self, report):
        with refused(OptionError, "output 'csv' … text"):
            rendered_methods(report, "csv")

    def test_a_report_without_one(self):
        assert Report(command="formats").make_methods().sentences == ()

    def test_the_table(self, report):
        found = rendered(report, "latex", digits=3)
        assert found.count(r"\begin{tabular}") == 1
        assert "token & $0.788$ & $0.247$ & $0.718$" in found
        assert found.endswith(f"% {report.signature}\n")
