"""Every place where quotes may be, one joint placement after the other.

Quotes that were found at the same places are at different ones of these; where they are more than
the places, the quotes of each label are. Spans of one annotator cross only where those of the
same quotes do so where they were put.
"""

import io
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, isnan, prod

import numpy as np

import beyondchance as bc
from beyondchance.errors import OverlapError
from beyondchance.io.quoted import Mention, Missing, placed

LABELS = ("P", "L")
WORDS = ("Ann", "ann", "Lee", "LEE", "Oak", "Bo", "saw", "and")
STRINGS = (
    *("Ann", "ann", "ANN", "Lee", "lee", "LEE", "Oak", "oak", "Ann Lee", "ann lee", "Lee Oak"),
    *("lee oak", "Bo", "n", "nn", "e", "a", "n L", "o"),
)


def found(text, words):
    """Whole words, else parts of words; else the same without regard to case and white space."""
    parts = r"\s+".join(map(re.escape, words.split()))
    for pattern, flags in ((re.escape(words), 0), (parts, re.IGNORECASE)):
        for edge in (r"\b", ""):
            # Whole words are looked for first: of those that overlap, they are meant.
            places = [one.span() for one in re.finditer(f"{edge}{pattern}{edge}", text, flags)]
            if places:
                return places
    return []


@dataclass(frozen=True)
class Quotes:
    """Quotes at different ones of some places, and where they were put."""

    places: list
    labels: list
    put: list

    def ways(self):
        """Every way to place them: spans with labels."""
        quotas = sorted(Counter(self.labels).items())

        def go(left, quotas):
            if not quotas:
                yield []
                return
            (label, number), *others = quotas
            for chosen in combinations(left, number):
                rest = [place for place in left if place not in chosen]
                for more in go(rest, others):
                    yield [(*self.places[place], label) for place in chosen] + more

        return list(go(range(len(self.places)), quotas))

    @property
    def n_ways(self):
        number, total = len(self.places), 1
        for _, own in sorted(Counter(self.labels).items()):
            total *= comb(number, own)
            number -= own
        return total


def grouped(text, mentions, position):
    """The quotes of an annotator in a text.

    `position` gives the text and the positions of characters; None of those that have none.
    """
    put = placed(text, mentions)
    groups = {}
    for mention, place in zip(mentions, put, strict=True):
        if isinstance(place, Missing):
            continue
        key = tuple(found(text, mention.words.strip()))
        groups.setdefault(key, []).append((mention.label, (place.start, place.end)))
    for places, own in groups.items():
        n_of_all = sum(found(text, mention.words.strip()) == [*places] for mention in mentions)
        parts = [own]
        if n_of_all > len(places):
            labels = {label for label, _ in own}
            parts = [[one for one in own if one[0] == label] for label in sorted(labels)]
        for part in parts:
            labels = [label for label, _ in part]
            at = [position(*place) for _, place in part]
            if len(set(labels)) == 1 and len(labels) == len(places):
                # They are everywhere.
                yield from (Quotes([one], [labels[0]], [one]) for one in at)
            else:
                possible = [one for place in places if (one := position(*place)) is not None]
                yield Quotes(possible, labels, at)


def crosses(a, b):
    return a[0] == b[0] and (a[1] < b[1] < a[2] < b[2] or b[1] < a[1] < b[2] < a[2])


def placements_of(owners):
    """Every joint placement of an annotator's quotes in a document: sets of spans."""
    may_cross = {
        (i, j)
        for (i, one), (j, two) in product(enumerate(owners), repeat=2)
        if i == j or any(crosses(a, b) for a in one.put for b in two.put)
    }
    result = set()
    for chosen in product(*(owner.ways() for owner in owners)):
        spans = [(span, i) for i, own in enumerate(chosen) for span in own]
        if all(
            (i, j) in may_cross or not crosses(a, b) for (a, i), (b, j) in combinations(spans, 2)
        ):
            result.add(frozenset(span for span, _ in spans))
    return [sorted(spans) for spans in result]


@dataclass(frozen=True)
class Case:
    """Texts with what each annotator quoted, and where that was.

    `true` are the spans of each annotator in each text, which were quoted; `mentions` the quotes.
    With `sentences`, the second annotator has offsets, and each text its own sentences.
    """

    texts: list
    mentions: list
    true: list
    is_quoted: list
    sentences: list

    def corpus(self, **options):
        files = [
            self._as_quotes(number) if is_quoted else self._as_offsets(number)
            for number, is_quoted in enumerate(self.is_quoted)
        ]
        if self.sentences:
            options |= {"unit": "sentence"}
        return bc.read(*files, **options)

    def _as_quotes(self, number):
        rows = [
            {
                "id": f"d{document}",
                "text": text,
                "annotator": f"a{number}",
                "entities": [{"text": m.words, "label": m.label} for m in mentions],
            }
            for document, (text, mentions) in enumerate(
                zip(self.texts, self.mentions[number], strict=True)
            )
        ]
        return io.BytesIO(json.dumps(rows).encode())

    def _as_offsets(self, number):
        if not self.sentences:
            rows = [
                {
                    "id": f"d{document}",
                    "text": text,
                    "annotator": f"a{number}",
                    "entities": [{"start": s, "end": e, "label": label} for s, e, label in own],
                }
                for document, (text, own) in enumerate(
                    zip(self.texts, self.true[number], strict=True)
                )
            ]
            return io.BytesIO(json.dumps(rows).encode())
        # Nothing is marked; the file has the sentences.
        lines = []
        for document, (text, sentences) in enumerate(zip(self.texts, self.sentences, strict=True)):
            lines.append(f"# newdoc id = d{document}")
            for start, end in sentences:
                tokens = text[start:end].split(" ")
                rows = ["\t".join([f"{i}", word, *["_"] * 8]) for i, word in enumerate(tokens, 1)]
                rows[0] = rows[0][:-1] + "Entity=B-P"
                lines += [*rows, ""]
        stream = io.BytesIO("\n".join([*lines, ""]).encode())
        stream.name = f"a{number}.conllu"
        return stream

    def position(self, document, first_text, *, positions):
        """From characters of a document to a text of the corpus and positions in it."""
        text = self.texts[document]
        parts = self.sentences[document] if self.sentences else [(0, len(text))]
        tokens = [one.span() for one in re.finditer(r"\w+|[^\w\s]", text)]

        def at(start, end):
            if positions == "tokens":
                met = [(s, e) for s, e in tokens if s < end and e > start]
                start, end = met[0][0], met[-1][1]
            for number, (begin, finish) in enumerate(parts):
                if begin <= start and end <= finish:
                    if positions == "tokens":
                        own = [one for one in tokens if begin <= one[0] < finish]
                        inside = [i for i, (s, e) in enumerate(own) if s < end and e > start]
                        return first_text + number, inside[0], inside[-1] + 1
                    return first_text + number, start - begin, end - begin
            return None

        return at

    def sides(self, corpus, *, positions):
        """The owners of each annotator and document; fixed spans where offsets are known."""
        first = np.searchsorted(corpus.text_document, np.arange(len(self.texts))).tolist()
        for number, is_quoted in enumerate(self.is_quoted):
            for document, text in enumerate(self.texts):
                at = self.position(document, first[document], positions=positions)
                if is_quoted:
                    yield number, list(grouped(text, self.mentions[number][document], at))
                else:
                    name, known = corpus.annotators[number], []
                    own = corpus.text_document[corpus.span_text] == document
                    own &= corpus.span_annotator == corpus.annotators.index(name)
                    for text_number, s, e, label in zip(
                        *(
                            getattr(corpus, f"span_{column}")[own].tolist()
                            for column in ("text", "start", "end", "label")
                        ),
                        strict=True,
                    ):
                        known.append(Quotes([], [corpus.labels[label]], [(text_number, s, e)]))
                    yield number, [replace(one, places=one.put) for one in known]


def with_spans(corpus, spans):
    """The corpus with other spans: annotator, text, start, end, label."""
    rows = [(who, text, s, e, corpus.labels.index(label)) for who, text, s, e, label in spans]
    who, text, start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return replace(
        corpus,
        span_annotator=who,
        span_text=text,
        span_start=start,
        span_end=end,
        span_label=label,
        alternatives=None,
    )


def all_scores(corpus, sides, **scoring):
    """Observed and corrected scores of all joint placements that the model allows."""
    ways = [[(number, spans) for spans in placements_of(owners)] for number, owners in sides]
    for chosen in product(*ways):
        spans = [(number, *span) for number, own in chosen for span in own]
        try:
            result = bc.agreement(with_spans(corpus, spans), **scoring)
        except OverlapError:
            continue
        score = result.counts.score()
        above, left = score.matched - score.expected, score.size_a + score.size_b
        left = left / 2 - score.expected
        # Where chance has no freedom, what matches is what is expected.
        is_free_of_chance = isnan(result.corrected) and left > 1e-9
        yield result.observed, above / left if is_free_of_chance else result.corrected


def case_of(rng, *, n_documents=2, with_sentences=False, is_true=True, most=4):
    """A case by random numbers.

    Where it `is_true`, quotes are those of spans that do not cross, with upper and lower case as
    they are or not; otherwise any strings.
    """
    texts, sentences = [], []
    mentions, true = [[], []], [[], []]
    is_quoted = [True, bool(rng.integers(2)) and not with_sentences]
    for _ in range(n_documents):
        words = rng.choice(WORDS, size=rng.integers(4, 10)).tolist()
        text = " ".join(words)
        texts.append(text)
        if with_sentences:
            middle = len(" ".join(words[: len(words) // 2]))
            sentences.append([(0, middle), (middle + 1, len(text))])
        for number in range(2):
            spans, quoted = [], []
            if is_true or not is_quoted[number]:
                places = [place for name in STRINGS for place in found(text, name)]
                places = sorted(set(places))
                rng.shuffle(places)
                for s, e in places[: rng.integers(1, most + 1)]:
                    if not any(crosses((0, s, e), (0, *other[:2])) for other in spans):
                        spans.append((int(s), int(e), str(rng.choice(LABELS))))
                for s, e, label in sorted(spans):
                    change = [str, str, str.lower, str.upper][rng.integers(4)]
                    quoted.append(Mention(change(text[s:e]), label))
            else:
                strings = rng.choice(STRINGS, size=rng.integers(1, most + 1)).tolist()
                quoted += [Mention(one, str(rng.choice(LABELS))) for one in strings]
            true[number].append(sorted(spans))
            mentions[number].append(quoted)
    return Case(texts, mentions, true, is_quoted, sentences)


def n_placements(sides):
    return prod(owner.n_ways for _, owners in sides for owner in owners)


def compared(corpus, sides, **scoring):
    """The range, and a sentence if it is wrong: it must hold all scores, and be theirs if exact."""
    range_ = bc.placement_range(corpus, **scoring)
    scores = list(all_scores(corpus, sides, **scoring))
    for name, column in zip(("observed", "corrected"), zip(*scores, strict=True), strict=True):
        own = getattr(range_, name)
        values = [value for value in column if not isnan(value)]
        if not values or isnan(own[0]):
            continue
        ends = min(values), max(values)
        if not own[0] - 1e-12 <= ends[0] <= ends[1] <= own[1] + 1e-12:
            return range_, f"{name} {ends} is not in {own}"
        if range_.is_exact and not (abs(own[0] - ends[0]) < 1e-12 > abs(own[1] - ends[1])):
            return range_, f"{name} is {ends}, not {own}"
    return range_, ""
