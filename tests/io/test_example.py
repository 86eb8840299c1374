"""The example corpus, which every page of the documentation speaks of."""

from beyondchance import agreement, example


def test_the_example_is_what_it_says():
    corpus = example()
    assert len(corpus.text_length) >= 40
    assert len(corpus.labels) == 3
    assert set(corpus.fields["season"]) == {"spring", "summer", "autumn"}
    length = corpus.span_end - corpus.span_start
    mean = {
        name: length[corpus.span_annotator == i].mean() for i, name in enumerate(corpus.annotators)
    }
    spans = {name: (corpus.span_annotator == i).sum() for i, name in enumerate(corpus.annotators)}
    assert mean["ada"] > mean["cleo"] > mean["ben"]
    assert spans["cleo"] < min(spans["ada"], spans["ben"])


def test_chance_differs_with_the_habits():
    # Long spans meet by luck more often.
    pairs = agreement(example()).by_pair
    assert pairs["ada", "cleo"].chance > pairs["ben", "cleo"].chance
