"""Cards of people: every number against another computation, nothing said that is not shown."""

import re
from dataclasses import replace
from html import unescape
from itertools import product
from math import nan

import numpy as np
import pytest

from beyondchance import Corpus, agreement, careless_work, diagnose, example, rank, report
from beyondchance.diagnosis.periods import Change, Periods
from beyondchance.page import people
from beyondchance.page.charts.annotators import periods_chart
from beyondchance.page.gather import overview
from beyondchance.page.page import written

pytestmark = pytest.mark.slow

FEW = {"resamples": 99, "coefficients": []}
TEAM = ("amaryllis", "bellflower", "chrysanthemum")


def cards(page):
    """The text of each card by its anchor."""
    html = page if isinstance(page, str) else page.html
    found = re.findall(r'<article class="person" id="([^"]+)".*?</article>', html, re.DOTALL)
    parts = re.findall(r'<article class="person".*?</article>', html, re.DOTALL)
    return {name: said(part) for name, part in zip(found, parts, strict=True)}


def said(html):
    """What a reader sees."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def named(corpus=None):
    """The example with names that are no part of any word."""
    corpus = corpus or example()
    return corpus.rename_annotators(dict(zip(corpus.annotators, TEAM, strict=True)))


def marking(*rates, documents=30, words=20):
    """Annotators who mark so many of the words of each document, always other ones."""
    rng = np.random.default_rng(5)
    marked = {
        f"annotator {i}": [
            [(int(w), int(w) + 1, "P") for w in np.sort(rng.choice(words, rate, replace=False))]
            for _ in range(documents)
        ]
        for i, rate in enumerate(rates)
    }
    return Corpus.from_spans(marked, lengths=[words] * documents)


def working(n=5, documents=60, words=50, *, wrong=None, at_random=range(0)):
    """A team that finds most of what there is; one marks anywhere in some documents."""
    rng = np.random.default_rng(3)
    marked = {f"p{i}": [] for i in range(n)}
    for document in range(documents):
        truth = np.sort(rng.choice(words, 8, replace=False))
        for i, spans in enumerate(marked.values()):
            chosen = truth[rng.random(8) < 0.9]
            if i == wrong and document in at_random:
                chosen = np.sort(rng.choice(words, len(chosen), replace=False))
            spans.append([(int(w), int(w) + 1, "P") for w in chosen])
    names = [f"d{i:02}" for i in range(documents)]
    return Corpus.from_spans(marked, lengths=[words] * documents, documents=names)


def test_scores_are_those_of_the_pairs_added():
    corpus = named()
    found = cards(report(agreement(corpus), corpus, **FEW))
    for number, name in enumerate(TEAM, 1):
        for measure, words in (("token", "corrected, token"), ("exact", "corrected, exact")):
            pairs = agreement(corpus, measure=measure).by_pair
            own = [score for pair, score in pairs.items() if name in pair]
            size = sum(score.size_a + score.size_b for score in own) / 2
            matched, expected = (sum(getattr(x, y) for x in own) for y in ("matched", "expected"))
            corrected = (matched - expected) / (size - expected)
            assert re.search(rf"{corrected:.3f} {words}", found[f"person-{number}"]), (
                name,
                measure,
            )
        rest = next(score for pair, score in agreement(corpus).by_pair.items() if name not in pair)
        assert f"among themselves {rest.corrected:.3f}" in found[f"person-{number}"]


def test_cards_come_in_the_order_of_annotators_and_name_nobody_else():
    corpus = named()
    found = cards(report(agreement(corpus), corpus, **FEW))
    assert list(found) == ["person-1", "person-2", "person-3"]
    for text, name in zip(found.values(), TEAM, strict=True):
        assert text.startswith(name)
        assert [other for other in TEAM if other in text] == [name]


def test_habits_are_the_first_three_of_the_diagnosis_with_an_example():
    corpus = named()
    found = cards(report(agreement(corpus), corpus, **FEW))
    for text, name in zip(found.values(), TEAM, strict=True):
        own = [x for x in diagnose(corpus).patterns if x.is_habit and [*x.times] == [name]]
        assert own
        places = [text.find(x.sentence.partition(":")[0]) for x in own]
        assert -1 not in places[:3]
        assert places[:3] == sorted(places[:3])
        assert set(places[3:]) <= {-1}
        assert (f"And {len(own) - 3} more" in text) == (len(own) > 3)
        for pattern in own[:3]:
            assert f"{name} {pattern.count} times, the others" in text


def test_examples_are_highlighted_and_in_words():
    text = "The old Anna Berg wrote to the mayor and to all others, who did not answer her at all."
    spans = {
        "amaryllis": [(4, 17, "P")],
        "bellflower": [(8, 17, "P")],
        "chrysanthemum": [(8, 17, "P")],
    }
    corpus = Corpus.from_spans({k: [v] * 9 for k, v in spans.items()}, texts=[text] * 9)
    html = report(agreement(corpus), corpus, **FEW).html
    shown = '<mark class="own">old </mark><mark class="own theirs">Anna Berg</mark>'
    assert f"<bdi>The {shown} wrote to the mayor and …</bdi>" in html
    words = "amaryllis marked “old Anna Berg” as P; others “Anna Berg” as P."
    assert words in cards(html)["person-1"]
    without = cards(report(agreement(corpus), corpus, show_texts=False, **FEW))["person-1"]
    assert "Anna" not in without
    assert "amaryllis marked 4 to 17 as P; others 8 to 17 as P." in without


def test_amounts_are_exact():
    counts = [(3, 1), (2, 2), (4, 1), (3, 0), (2, 1), (5, 2), (1, 0), (3, 1)]
    spans = {
        name: [[(i, i + 1, "P") for i in range(n[side])] for n in counts]
        for side, name in enumerate(("ada", "ben"))
    }
    corpus = Corpus.from_spans(spans, lengths=[9] * len(counts))
    own = sum(a for a, _ in counts)
    sums = [
        sum(n[side] for n, side in zip(counts, x, strict=True)) for x in product((0, 1), repeat=8)
    ]
    p = 2 * (sum(x > own for x in sums) + sum(x == own for x in sums) / 2) / len(sums)
    found = cards(report(agreement(corpus), corpus, **FEW))
    ending = f"in the same documents (p = {p:.4f})."
    more = (
        "Marks more spans than the other annotator: 2.9 spans a document, the other annotator 1.0"
    )
    fewer = (
        "Marks fewer spans than the other annotator: 1.0 spans a document, the other annotator 2.9"
    )
    assert f"{more} {ending}" in found["person-1"]
    assert f"{fewer} {ending}" in found["person-2"]


def test_fewer_is_shown_as_more_is():
    """The smallest p-values are as small for who marks little as for who marks a lot."""
    corpus = marking(2, 9, documents=200)
    for name, word in (("annotator 0", "fewer"), ("annotator 1", "more")):
        other = f"annotator {1 - int(name[-1])}"
        text = people._amounts(corpus, [name], other, "the gold standard")[name]
        assert text.startswith(f"Marks {word} spans than the gold standard: ")
        assert text.endswith("(p < 0.0001).")


def test_documents_in_which_nobody_marked_anything_are_counted():
    marked = {name: [[(0, 1, "P")], [], [], [(2, 3, "P")]] for name in TEAM}
    corpus = Corpus.from_spans(marked, lengths=[9] * 4)
    alone = np.array([i != 0 for i in range(len(corpus.annotation_document))])
    # The first annotator did not do the first document.
    missing = replace(
        corpus,
        annotation_document=corpus.annotation_document[alone],
        annotation_annotator=corpus.annotation_annotator[alone],
        **{
            column: getattr(corpus, column)[1:]
            for column in ("span_text", "span_annotator", "span_label", "span_start", "span_end")
        },
    )
    for given, expected in ((corpus, [4, 4, 4]), (missing, [3, 4, 4])):
        found = cards(report(agreement(given), given, **FEW))
        counts = [int(re.search(r"(\d+) documents ·", text)[1]) for text in found.values()]
        assert counts == expected
    # Against a gold standard they are those that it has.
    found = cards(report(rank(missing, gold=TEAM[0]), missing, **FEW))
    assert all("3 documents ·" in text for text in found.values())


def test_who_marks_a_lot_does_not_make_others_those_who_mark_little():
    corpus = marking(4, 4, 4, 9, 4)
    found = cards(report(agreement(corpus), corpus, **FEW))
    claims = {name: re.findall(r"Marks (more|fewer) spans", text) for name, text in found.items()}
    assert claims == {f"person-{i}": ["more"] if i == 4 else [] for i in range(1, 6)}
    assert "Marks 4.0 spans a document, the others 5.2 in the same documents." in found["person-1"]


def test_nothing_is_claimed_of_equals():
    rng = np.random.default_rng(11)
    named_wrongly = 0
    for _ in range(40):
        counts = rng.poisson(4, (12, 4)).clip(0, 15)
        spans = {
            f"a{i}": [[(j, j + 1, "P") for j in range(n)] for n in counts[:, i]] for i in range(4)
        }
        corpus = Corpus.from_spans(spans, lengths=[16] * 12)
        said = people._amounts(corpus, corpus.annotators, None, "the others")
        named_wrongly += any("more" in text or "fewer" in text for text in said.values())
    assert named_wrongly <= 2


def test_documents_to_look_at_are_those_of_one_who_marks_anywhere():
    corpus = working(wrong=3, at_random=range(45, 60))
    page = report(agreement(corpus), corpus, **FEW)
    found = cards(page)
    work = careless_work(corpus)
    assert {x.annotator for x in work.stretches} == {"p3"}
    for number, text in enumerate(found.values()):
        listed = [x for x in work.stretches if x.annotator == f"p{number}"]
        assert ("None: in each stretch" in text) == (not listed)
        for stretch in listed:
            first, last, n = stretch.documents[0], stretch.documents[-1], len(stretch.documents)
            shown = first if n == 1 else f"{first} to {last}"
            counts = f"{n} document{'s' * (n > 1)}, {stretch.n_spans} spans"
            assert f"{shown} ({counts})" in text
            number_of = corpus.documents.index(first)
            assert f'<a href="#document-{number_of}"><bdi>{shown} (' in page.html
    luck = f"of {work.by_annotator['p3'].n_stretches} that have enough spans to be judged, about "
    assert f"{luck}{work.by_annotator['p3'].luck:.1f} would be listed by luck" in found["person-4"]


def test_ten_stretches_are_listed_and_the_rest_counted():
    corpus = working(wrong=3, at_random=range(30, 60))
    text = cards(report(agreement(corpus), corpus, **FEW))["person-4"]
    n = sum(x.annotator == "p3" for x in careless_work(corpus).stretches)
    assert n > 10
    look = text.partition("Documents to look at")[2]
    assert len(re.findall(r"\d spans\)", look)) == 10
    assert f"and {n - 10} more" in look


def test_who_agrees_less_than_half_is_told_with_the_numbers():
    corpus = working(wrong=1, at_random=range(60))
    found = cards(report(agreement(corpus), corpus, **FEW))
    work = careless_work(corpus).by_annotator["p1"]
    shown = "less than half as much as they do among themselves, in the same documents"
    assert f"{shown}: {work.agreement:.3f} and {work.others:.3f}" in found["person-2"]
    assert [name for name, text in found.items() if shown in text] == ["person-2"]


def test_against_gold_each_has_its_own_numbers_and_errors():
    corpus = named()
    page = report(rank(corpus, gold=TEAM[0]), corpus, **FEW)
    found = cards(page)
    ranking = rank(corpus, gold=TEAM[0])
    patterns = diagnose(corpus, gold=TEAM[0]).patterns
    n_habits = 0
    for text, name in zip(found.values(), TEAM[1:], strict=True):
        assert f"the gold standard {ranking.systems[name].corrected:.3f}" in text
        assert [other for other in TEAM if other in text] == [name]
        own = [x for x in patterns if x.is_habit and name in x.times][:3]
        n_habits += len(own)
        for pattern in own:
            sentence = pattern.sentence.partition(":")[0].replace(TEAM[0], "the gold standard")
            assert sentence in text
        assert "The gold standard is taken to be right." in text
    assert n_habits
    same = report(agreement(corpus, gold=TEAM[0]), corpus, **FEW)
    assert list(cards(same)) == ["person-1", "person-2"]


def test_crowds_have_cards_of_those_with_most_documents():
    rng = np.random.default_rng(2)
    marked = {f"w{i:02}": [None] * 40 for i in range(23)}
    for i, (name, texts) in enumerate(marked.items()):
        # The first three annotate three documents, the others ten.
        for document in rng.choice(40, 3 if i < 3 else 10, replace=False):
            marked[name][document] = [(0, 2, "P")]
        assert texts is marked[name]
    corpus = Corpus.from_spans(marked, lengths=[20] * 40)
    page = report(agreement(corpus), corpus, **FEW)
    found = cards(page)
    assert len(found) == people.MOST_CARDS
    assert [text.split()[0] for text in found.values()] == [f"w{i:02}" for i in range(3, 23)]
    assert "Cards of 20 of 23 annotators" in said(page.html)
    table = re.search(r'<table data-name="annotators">.*?</table>', page.html, re.DOTALL)[0]
    assert all(name in table for name in marked)


def test_who_has_no_card_is_still_looked_at(monkeypatch):
    monkeypatch.setattr(people, "MOST_CARDS", 2)
    corpus = working(wrong=3, at_random=range(45, 60))
    page = report(agreement(corpus), corpus, **FEW)
    assert list(cards(page)) == ["person-1", "person-2"]
    first = next(x for x in careless_work(corpus).stretches)
    assert f"p3: look at {first.documents[0]}" in said(page.html)


def test_a_pair_has_no_documents_to_look_at():
    corpus = example().select(annotators=["ada", "ben"])
    text = cards(report(agreement(corpus), corpus, **FEW))["person-1"]
    assert "Not known: it takes documents of three annotators" in text
    assert "ada's PERSON starts earlier than the other annotator's" in text
    assert "either may be right" in text
    assert "ben" not in text


def test_where_chance_is_of_all_texts_at_once_what_needs_texts_is_not_known():
    spans = {name: [[(0, 1 + i, "P")]] * 6 for i, name in enumerate(TEAM)}
    corpus = Corpus.from_spans(spans, lengths=[9] * 6, unit="corpus")
    text = cards(report(agreement(corpus), corpus, **FEW))["person-1"]
    assert "Habits Not known: chance of the whole corpus" in text
    assert "look at Not known: it takes" in text


def test_names_are_text():
    evil = ("<img src=x onerror=alert(1)>", "</article><script>alert(1)</script>", "\u202eעדה")
    corpus = example().rename_annotators(dict(zip(("ada", "ben", "cleo"), evil, strict=True)))
    html = report(agreement(corpus), corpus, **FEW).html
    assert evil[0] not in html
    assert evil[1] not in html
    assert len(cards(html)) == 3


# --- Time ---------------------------------------------------------------------


def over(*annotators, changes=(), weeks=14):
    """Agreement that is told apart by its digits."""
    return Periods(
        field="week",
        periods=tuple(f"W{week:02}" for week in range(1, weeks + 1)),
        annotators=annotators,
        corrected=np.arange(len(annotators) * weeks).reshape(-1, weeks) / 100 + 0.1,
        n_documents=np.arange(len(annotators) * weeks).reshape(-1, weeks) + 2,
        changes=changes,
    )


def with_periods(corpus, periods):
    found = overview(agreement(corpus), corpus, others=(), resamples=99)
    found = replace(found, diagnosis=replace(found.diagnosis, periods=periods))
    return written(found)


def test_a_cell_for_each_annotator_and_period():
    found = over("ada", "ben")
    svg = periods_chart(found, ["ada", "ben"]).inline()
    assert re.findall(r"<title>(ada|ben), (W\d\d): (.*?) \((\d+) documents\)</title>", svg) == [
        (who, f"W{week + 1:02}", f"{0.1 + (14 * i + week) / 100:.3f}", str(14 * i + week + 2))
        for i, who in enumerate(("ada", "ben"))
        for week in range(14)
    ]
    assert ">0.37</text>" in svg


def test_what_is_not_defined_is_left_out_and_counted():
    found = over("ada", "ben")
    found.corrected[1, 3] = nan
    chart = periods_chart(found, ["ada", "ben"])
    assert "1 cell is undefined" in " ".join(chart.notes)
    assert "ben, W04" not in chart.inline()


def test_a_line_where_one_changed():
    change = Change(
        who="bellflower",
        since="W05",
        before=0.81,
        after=0.42,
        others_before=0.77,
        others_after=0.76,
        p_adjusted=0.004,
    )
    html, charts = with_periods(named(), over(*TEAM, changes=[change]))
    lines = re.findall(r'<line x1="160" y1="28" x2="160" y2="56"', charts["periods"].inline())
    assert len(lines) == 1
    sentence = (
        "bellflower agrees less with the others since W05 (.810 → .420, the others .770 → .760; "
        "p = 0.0040)."
    )
    found = cards(html)
    assert [name for name, text in found.items() if sentence in text] == ["person-2"]
    assert sentence in said(html[html.index('id="table-periods"') :])
    # The last ten weeks are on the card; the table has all, with the number of documents.
    assert "W05" in found["person-1"]
    assert "W04" not in found["person-1"]
    table = re.search(r'<table data-name="periods">.*?</table>', html, re.DOTALL)[0]
    rows = [said(row) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)]
    assert rows[0] == "week amaryllis bellflower chrysanthemum"
    assert rows[1] == "W01 .100 (2) .240 (16) .380 (30)"
    assert len(rows) == 1 + 14


def test_of_two_it_is_not_known_who_changed():
    values = {"before": 0.8, "after": 0.4, "others_before": nan, "others_after": nan}
    change = Change(who="ada or ben", since="W05", p_adjusted=0.004, **values)
    corpus = example().select(annotators=["ada", "ben"])
    found = cards(with_periods(corpus, over("ada", "ben", changes=[change]))[0])
    for text in found.values():
        told = "one agrees less with the other since W05 (.800 → .400; p = 0.0040); of two it is"
        assert f"{told} not known who changed." in text
    assert "ben" not in found["person-1"]


def test_without_time_there_is_no_row():
    page = report(agreement(example()), example(), **FEW)
    assert "periods" not in page.charts
    assert "Over time" not in page.html


def test_periods_are_called_by_whom_each_is_compared_with():
    rounds = tuple(f"round {d // 10}" for d in range(30))
    corpus = replace(working(3, documents=30), fields={"round": rounds})
    for given, others in (
        (corpus, "the others"),
        (corpus.select(annotators=["p0", "p1"]), "the other annotator"),
        (corpus.with_gold("p0"), "the gold standard"),
    ):
        html = report(given, by="round", **FEW).html
        titles = re.findall(r"Corrected agreement of each with (.*?), by round", html)
        assert set(titles) == {others}
