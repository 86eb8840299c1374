"""What to fix first, on the page: what stands there, and what does not."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from beyondchance import Corpus, CustomMeasure, agreement, diagnose, example, rank, report
from beyondchance.diagnosis.loss import LOST
from refusals import assert_tells

pytestmark = pytest.mark.slow

FEW = {"resamples": 99, "coefficients": []}


def section(page):
    """The section as text; nothing where there is none."""
    found = re.search(r'<section id="fix".*?</section>', page.html, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", found[0])) if found else ""


def test_it_comes_first_with_the_five_costliest_patterns():
    page = report(agreement(example()), example(), **FEW)
    sections = re.findall(r'<section id="([^"]+)"', page.html)
    assert sections[0] == "fix"
    text = section(page)
    found = diagnose(example())
    for pattern in found.patterns[:5]:
        assert pattern.sentence.partition(":")[0] in text
        shown = str(pattern.examples[0])
        assert re.sub(r"[\[\]{}]", "", shown) in text
        assert shown not in text
    for name, share in found.loss.items():
        assert (f"{LOST[name]} {100 * share:.0f} %" in text) == (share > 0)
    assert_tells(text, "more of some labels within a text … amounts … at places both found … same")
    assert "price" not in text
    order = ("ada's PERSON starts earlier", "Where the loss comes", "reached", "by label and kind")
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_examples_are_highlighted():
    page = report(agreement(example()), example(), **FEW)
    shown = re.search(r'<section id="fix".*?</section>', page.html, re.DOTALL)[0]
    # [Young {Mr. Abel}]
    assert '<mark class="own">Young </mark><mark class="own theirs">Mr. Abel</mark> found' in shown
    assert_tells(section(page), "In examples: marked by the one who differs marked by others")


def test_spans_that_cover_several_are_counted_once():
    covered = [[(0, 2, "Q"), (2, 4, "P")]] * 6
    marked = {"ada": [[(0, 4, "P")]] * 6, "ben": covered, "cleo": covered}
    corpus = Corpus.from_spans(marked, lengths=[9] * 6)
    pattern = diagnose(corpus).patterns[0]
    assert pattern.count > pattern.n_places == 6
    assert_tells(
        section(report(corpus, **FEW)),
        f"{pattern.count} disagreements in 6 spans. … ada {pattern.count} times",
    )


def test_systems_have_the_errors_of_the_best_one():
    corpus = example().with_gold("ada")
    page = report(rank(corpus), corpus, **FEW)
    text = section(page)
    assert "What to fix first in cleo" in text
    assert "cleo marks nothing where ada marks" in text
    assert "ben's" not in text


def test_examples_of_several_lead_to_the_annotator_of_each():
    # Each overlooks one of three places in every third document.
    names = ("ada", "ben", "cleo")
    marked = {
        name: [
            [(3 * i, 3 * i + 1, "P") for i in range(3) if i != who or d % 3 != who]
            for d in range(9)
        ]
        for who, name in enumerate(names)
    }
    corpus = Corpus.from_spans(marked, tokens=[list("xabxcdxefg")] * 9)
    (pattern,) = diagnose(corpus).patterns
    page = report(agreement(corpus), corpus, **FEW)
    links = re.findall(r'href="#document-\d+-\d+-\d+-(\d)"', page.html)
    assert [names[int(number)] for number in links] == [case.who for case in pattern.examples]


def test_no_word_of_a_text_without_texts():
    page = report(agreement(example()), example(), show_texts=False, **FEW)
    text = section(page)
    assert "starts earlier than the others'" in text
    assert "'the'" not in text
    assert "Abel" not in page.html


def test_names_and_labels_are_text():
    evil = "<img src=x onerror=alert(1)>"
    spans = {evil: [[(0, 2, evil)]] * 3, "b": [[(0, 3, evil)]] * 3}
    corpus = Corpus.from_spans(spans, texts=[evil] * 3)
    page = report(agreement(corpus), corpus, **FEW)
    assert evil not in page.html
    assert evil in section(page)


def test_nothing_to_fix():
    tags = [["B-P", "O", "O"], ["O", "B-P", "O"]]
    same = Corpus.from_tags({"a": tags, "b": tags})
    assert section(report(agreement(same), same, **FEW)) == ""
    whole = replace(example().select(documents=["issue-01", "issue-02"]), unit="corpus")
    assert "no diagnosis" in section(report(agreement(whole), whole, **FEW))


def _starts(a, m, b, n):
    return (a == b) * 1.0 + 0 * (m + n)


def test_a_measure_of_ones_own_is_diagnosed_by_token():
    measure = CustomMeasure(name="starts", phi=_starts, size=np.ones_like)
    corpus = example()
    page = report(agreement(corpus, measure=measure), corpus, **FEW)
    assert "0.718\u00a0→\u00a00.748" in section(page)
