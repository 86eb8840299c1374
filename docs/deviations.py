"""The page that lists where this package and the paper differ."""

from __future__ import annotations

from beyondchance.paper import DEVIATIONS

SLIPS = {
    "Equation 1": r"""sums over $i_1 \ne i$, $i_2 \ne i$, and so on.
Read literally this admits $i_1 = i_2$ and counts each subset once for every order of its
elements. The proof, and the printed numbers, use each subset once. For $n = 20$ with lengths 2, 3
and 4, the literal reading gives probabilities that sum to more than 1. $\pi(x, r)$ is 0 for
$x < r$, negative $x$ included.""",
    "Subsets 1 and 2": """\
of section 4: the text puts sentences with chance agreement above .825 into subset 1. By the
scores of Table 10 it is the *difficult* half, with chance at most .175 (difficulty at least
.825): observed and corrected differ by less than .03 there, which is impossible with chance
above .825 at an F1 of .9. `beyondchance rank --split-by-difficulty 0.825` makes the two.""",
}
"""Where the paper's words differ from what it did."""

DECISIONS = {
    "Overlapping spans.": """\
Proposition 5 gives the distribution of each span. Adding the match of all pairs of spans would
let F1, and even chance, exceed 1: two annotators who both mark $[0, 2)$ and $[0, 3)$ in three
tokens would share $2 + 2 + 2 + 3 = 9$ of 5 and 5 tokens, an F1 of 1.8. The smaller of the two
counts at each position is used instead (here 5 of 5), which for disjoint spans is the same.""",
    "Spans inside spans, and spans that cross.": """\
The paper's conclusion says that nested spans can be treated layer by layer, and leaves open what a
layer is. Here the spans inside a span are arranged inside it and move with it. What matches does
not depend on it: spans match at any depth. Spans that cross move together by default;
`model="overlapping"` places each independently, as in Proposition 5.""",
    "Other measures.": """\
The paper's method holds for any measure that adds up over pairs of spans. For `dice` the sum over
pairs is divided by the numbers of spans, which keeps F1 at or below 1; where spans overlap, each
position counts for one pair of spans only. `iou` does not always add up; its chance is then
estimated, and the result says so.""",
    "Difficulty of a corpus.": """\
The paper averages similarities over pairs of annotators. Here the counts of all pairs are summed,
then divided, as everywhere else.""",
    "Undefined values.": """\
The paper does not say what to do where chance is 1, where every arrangement gives the same match,
or where nothing is marked. Here the corrected score is then undefined, with a reason; the
counts still enter every sum. No value is clipped or smoothed.""",
    "Additions.": """\
The scopes `joint` and `unlabelled`, and unit `corpus`, in which spans may be placed in any
text.""",
}
"""Where the paper leaves a choice, and ours."""

INTRODUCTION = """\
Where this package differs from Li, Rosé, Yuan & Zhou (2024), or the paper from itself, with the
numbers. `beyondchance reproduce` computes the tables again; every number that this package
computes is covered by a test."""


OTHERS = """\
All other cells of tables 3, 5, 7 and 9, in all nine columns, agree in every printed digit. (Alpha
is `alpha`, μAlpha is `mu-alpha` among the [other coefficients](coefficients.md).)"""


def deviations_page() -> str:
    """Return the page, from the deviations that tests check."""
    rows = [
        f"| {item.where}, {item.column} | {item.printed} | {item.defined} | {item.why} |"
        for item in DEVIATIONS
    ]
    slips, decisions = (
        [f"**{title}** {text}" for title, text in part.items()] for part in (SLIPS, DECISIONS)
    )
    paragraphs = [
        "# Deviations from the paper",
        INTRODUCTION,
        "## Where the paper differs from its own definitions",
        "\n".join(["| where | printed | by the definition | why |", "|---|---|---|---|", *rows]),
        OTHERS,
        *slips,
        "## Where this package decides",
        *decisions,
    ]
    return "\n\n".join(paragraphs) + "\n"
