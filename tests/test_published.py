"""Numbers printed in the paper: Li, Rosé, Yuan & Zhou, ACL 2024."""

import pytest
from beyondchance import Corpus, agreement, expected_match

# Spans [start, end) of the two annotators, as the rows of 0s and 1s show them.
#
# Table 2, case A   ...AA...AAA...AAAA..          (20 tokens; case B: ten more)
#                   ..BBB...BBBB..BBBBB.
THREE_A = [(3, 5), (8, 11), (14, 18)]
THREE_B = [(2, 5), (8, 12), (14, 19)]
# Tables 4 and 6, case B  ......AAAAAAAAA.....
#                         ....BBBBBBBBBBBB....
LONG_A, LONG_B = [(6, 15)], [(4, 16)]
# Table 6, case A   ........AAA.........
#                   ........BBBB........
SHORT_A, SHORT_B = [(8, 11)], [(8, 12)]
# Table 8           GGG..GGG..GGG..GGG..GGG..GGGGGGGGGGGGGGGG   (41 tokens)
FIVE = [(0, 3), (5, 8), (10, 13), (15, 18), (20, 23)]
SIXTEEN = [(25, 41)]

# ObsF1, ChanceF1 and CorrF1, as printed in tables 3, 5, 7 and 9.
PRINTED = {
    "Table 3, case A": (20, THREE_A, THREE_B, (0.8571, 0.5335, 0.6938)),
    "Table 3, case B": (30, THREE_A, THREE_B, (0.8571, 0.3544, 0.7787)),
    "Table 5, case A": (20, THREE_A, THREE_B, (0.8571, 0.5335, 0.6938)),
    "Table 5, case B": (20, LONG_A, LONG_B, (0.8571, 0.6455, 0.5970)),
    "Table 7, case A": (20, SHORT_A, SHORT_B, (0.8571, 0.1830, 0.8251)),
    "Table 7, case B": (20, LONG_A, LONG_B, (0.8571, 0.6455, 0.5970)),
    "Table 9, annotator 1": (41, FIVE + SIXTEEN, FIVE, (0.6522, 0.5013, 0.3026)),
    # The paper truncates .68085 and .30055 to .6808 and .3005; these are the values.
    "Table 9, annotator 2": (41, FIVE + SIXTEEN, SIXTEEN, (0.6809, 0.5437, 0.3006)),
}


def corpus_of(n, a, b):
    spans = {name: [[(s, e, "X") for s, e in side]] for name, side in (("a", a), ("b", b))}
    return Corpus.from_spans(spans, lengths=[n])


@pytest.mark.parametrize(("n", "a", "b", "printed"), PRINTED.values(), ids=PRINTED)
def test_simulation(n, a, b, printed):
    result = agreement(corpus_of(n, a, b))
    found = (result.observed, result.chance, result.corrected)
    assert tuple(round(value, 4) for value in found) == printed


def test_truncated_values_of_table_9():
    result = agreement(corpus_of(41, FIVE + SIXTEEN, SIXTEEN))
    assert result.observed == pytest.approx(32 / 47, abs=1e-15)
    assert result.corrected == pytest.approx(0.300554966, abs=1e-9)


def test_ranking_changes_in_simulation_4():
    first = agreement(corpus_of(41, FIVE + SIXTEEN, FIVE))
    second = agreement(corpus_of(41, FIVE + SIXTEEN, SIXTEEN))
    assert first.observed < second.observed
    assert first.corrected > second.corrected


def test_chance_falls_with_length_of_text_number_and_shortness_of_spans():
    # Section 4: the longer the text, or the more entities, or the shorter, the less chance.
    def chance(n, a, b):
        return 2 * expected_match(n, a, b) / (sum(a) + sum(b))

    assert chance(30, [2, 3, 4], [3, 4, 5]) < chance(20, [2, 3, 4], [3, 4, 5])
    assert chance(20, [2, 3, 4], [3, 4, 5]) < chance(20, [9], [12])
    assert chance(20, [3], [4]) < chance(20, [9], [12])
