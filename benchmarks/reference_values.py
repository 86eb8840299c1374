"""Recompute docs/background/reference_values.csv: what annotators of public corpora reached.

``python benchmarks/reference_values.py MIRRORS [NAME ...]`` reads the snapshots in the folder
MIRRORS, one git directory ``owner+name/repo`` for each repository, at the commit that is named
here, and writes the rows of all corpora, or replaces those that are named. Only figures are
written, no text. Then it writes the tables docs/_static/reference-values-*.md, which
docs/background/reference_values.md shows; without MIRRORS only these.
"""

# ruff: noqa: RUF001 - Greek letters are the names of coefficients

import argparse
import csv
import io
import json
import math
import re
import subprocess
import tarfile
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np

import beyondchance as bc

DOCS = Path(__file__).parents[1] / "docs"
OUTPUT = DOCS / "background" / "reference_values.csv"
TABLES = DOCS / "_static"
FIELDS = [
    *("corpus", "language", "task", "annotators", "documents", "raters", "spans", "joined"),
    *(
        "marked",
        "length",
        "unit",
        "positions",
        "token_observed",
        "token",
        "exact_observed",
        "exact",
        "skill",
        "skill_exact",
    ),
    *(
        "kappa",
        "alpha",
        "nominal_alpha",
        "gamma",
        "missing",
        "repository",
        "commit",
        "files",
        "licence",
        "read_as",
        "signature",
    ),
]
GAMMA_SPANS = 40_000
"""Gamma aligns the spans of all raters of a text; more spans than this take hours."""

Span = tuple[int, int, str]


@dataclass(frozen=True)
class Item:
    """Hold one text and what each rater marked in it: characters of a text, or tokens."""

    document: str
    text: str | tuple[str, ...]
    spans: dict[str, list[Span]]


@dataclass(frozen=True)
class Source:
    """Declare a corpus: where it is, what it holds and how it is read."""

    name: str
    repository: str
    commit: str
    files: str
    language: str
    task: str
    annotators: str
    licence: str
    read_as: str
    load: Callable[["Snapshot"], Iterator[Item]]
    unit: str = "document"
    words: bool = True


@dataclass(frozen=True)
class Snapshot:
    """Read the files of a repository at one commit."""

    folder: Path
    commit: str

    def _git(self, *arguments: str) -> bytes:
        inner = self.folder / ".git"
        command = ["git", "--git-dir", str(inner if inner.is_dir() else self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def bytes(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._git("show", f"{self.commit}:{path}")

    def text(self, path: str) -> str:
        """Return the text of a file, its line ends as they are."""
        return self.bytes(path).decode("utf-8-sig")

    def names(self, path: str) -> list[str]:
        """Return the paths of all files in a folder, sorted."""
        listed = self._git("ls-tree", "-r", "-z", "--name-only", self.commit, path)
        return sorted(name for name in listed.decode().split("\0") if name)

    def table(self, path: str, **options: object) -> list[dict[str, str]]:
        """Return the rows of a CSV file."""
        return list(csv.DictReader(io.StringIO(self.text(path), newline=""), **options))


def runs(marks: Sequence[int], label: str) -> list[Span]:
    """Return a span for each longest run of marked tokens."""
    edges = [
        i
        for i, (a, b) in enumerate(zip([0, *marks], [*marks, 0], strict=True))
        if bool(a) != bool(b)
    ]
    return [(start, end, label) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def tagged(tags: Sequence[str]) -> list[Span]:
    """Return the spans of tags in IOB2 or BIOES, as the conlleval script does."""
    spans: list[Span] = []
    start, label = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if label and (prefix in "OBS" or name != label):
            spans.append((start, i, label))
            label = ""
        if prefix != "O" and not label:
            start, label = i, name
    return spans


def columns(text: str, separator: str) -> Iterator[list[list[str]]]:
    """Yield the sentences of a file of columns, each a list of lines."""
    for block in text.replace("\r", "").split("\n\n"):
        lines = [
            line.split(separator)
            for line in block.split("\n")
            if line and not line.startswith("# ")
        ]
        if lines:
            yield lines


def nemo(files: dict[str, str], parts: Sequence[str]) -> Callable[[Snapshot], Iterator[Item]]:
    """Return a loader of the annotators of the NEMO corpus, a file for each annotator and part."""

    def load(source: Snapshot) -> Iterator[Item]:
        for part in parts:
            read = {
                who: list(columns(source.text(file.format(part)), " "))
                for who, file in files.items()
            }
            for number, sentences in enumerate(zip(*read.values(), strict=True)):
                (tokens,) = {tuple(line[0] for line in sentence) for sentence in sentences}
                spans = [tagged([line[1] for line in sentence]) for sentence in sentences]
                yield Item(f"{part}-{number}", tokens, dict(zip(read, spans, strict=True)))

    return load


def barner(source: Snapshot) -> Iterator[Item]:
    """Yield the tweets of BarNER that three annotated, without the column of the final annotation.

    Compared with data/BarNER-final, the final annotation is column 2 of tweets 001 to 020, and
    column 1 of the others and of most articles, whose further columns are copies of each other.
    """
    for name in source.names("data/BarNER-double"):
        if Path(name).name.startswith("bar_tweet_"):
            for number, lines in enumerate(columns(source.text(name), "\t")):
                tokens, *tags = zip(*lines, strict=True)
                if len(tags) == 3:
                    spans = {f"column {i + 1}": tagged(tags[i]) for i in (0, 2)}
                    yield Item(f"{name}-{number}", tokens, spans)


def amia(source: Snapshot) -> Iterator[Item]:
    """Yield the abstracts of the mutation corpus, each with its two annotators."""
    found: dict[str, dict[str, list[Span]]] = defaultdict(dict)
    texts: dict[str, str] = {}
    for name in source.names("data-preadjudicated"):
        _, who, part, file = name.split("/")
        if file.endswith(".ann") and part != "IAA":
            document = f"{part}/{file[:-4]}"
            text = source.text(name[:-4] + ".txt")
            if texts.setdefault(document, text) != text:
                raise ValueError(f"{name}: another text")
            rows = [
                line.split("\t")[1]
                for line in source.text(name).splitlines()
                if line.startswith("T")
            ]
            # A span of several fragments reaches from the first to the last.
            found[document][who] = [
                (int(row.split()[1]), int(row.split()[-1]), row.split()[0]) for row in rows
            ]
    for document, spans in found.items():
        yield Item(document, texts[document], spans)


def terms(source: Snapshot) -> Iterator[Item]:
    """Yield the sentences of ACL RD-TEC 2.0, with the terms of both annotators.

    The files of the two differ in white space, so that offsets are counted without it.
    """
    folder = "distribution/annoitation_files/double_annotated_files/"
    for name in source.names(folder + "annotator1"):
        if not name.endswith(".xml"):
            continue
        both = (name, name.replace("annotator1", "annotator2"))
        roots = [ET.fromstring(source.bytes(file)) for file in both]  # noqa: S314
        papers = [[marked(sentence) for sentence in paper.iter("S")] for paper in roots]
        for number, ((one, first), (two, second)) in enumerate(zip(*papers, strict=False)):
            if "".join(one.split()) == "".join(two.split()):
                places = [i for i, character in enumerate(one) if not character.isspace()]
                spans = [
                    [(places[start], places[end - 1] + 1, label) for start, end, label in found]
                    for found in (first, second)
                ]
                yield Item(
                    f"{name}-{number}", one, dict(zip(("first", "second"), spans, strict=True))
                )


def marked(element: ET.Element) -> tuple[str, list[Span]]:
    """Return the text of an element, and its terms by offsets that do not count white space."""
    text = element.text or ""
    spans: list[Span] = []
    for term in element:
        start = len("".join(text.split()))
        if isinstance(term.tag, str):
            text += "".join(term.itertext())
            end = len("".join(text.split()))
            if start < end:
                spans.append((start, end, term.get("class", "term")))
        text += term.tail or ""
    return text, spans


def pico(who: str) -> Callable[[Snapshot], Iterator[Item]]:
    """Return a loader of 423 sentences on trials: participants, interventions, outcomes."""

    def load(source: Snapshot) -> Iterator[Item]:
        kinds = ("participants", "interventions", "outcomes")
        marks = {
            kind: json.loads(source.text(f"data/annotations/{kind}_{who}.json")) for kind in kinds
        }
        for name, sentence in json.loads(source.text("data/sentences.json")).items():
            spans: dict[str, list[Span]] = defaultdict(list)
            for kind in kinds:
                for number, row in enumerate(marks[kind][name]["annotations"], 1):
                    spans[f"rater {number}"] += runs(row, kind)
            yield Item(name, tuple(sentence.split()), dict(spans))

    return load


def crowd_participants(source: Snapshot) -> Iterator[Item]:
    """Yield 500 abstracts in which workers marked who took part in a trial."""
    for line in source.text("annotations/test/PICO-annos-crowdsourcing.json").splitlines():
        row = json.loads(line)
        text = source.text(f"docs/{row['docid']}.txt")
        workers = sorted(row["Participants"].items())
        yield Item(
            row["docid"],
            text,
            {
                f"worker {number}": [
                    (start, min(end, len(text)), "participants") for start, end in spans
                ]
                for number, (_, spans) in enumerate(workers, 1)
            },
        )


def redasa(source: Snapshot) -> Iterator[Item]:
    """Yield 20 documents on COVID-19, each with what two curators marked."""
    found: dict[str, dict[str, list[Span]]] = defaultdict(dict)
    for name in source.names("data/annotations"):
        document, curator = Path(name).stem.split("_")
        marked = json.loads(source.text(name))["crowd-entity-annotation.entities"].replace("'", '"')
        found[document][curator] = [
            (row["startOffset"], row["endOffset"], row["label"]) for row in json.loads(marked)
        ]
    for document, spans in found.items():
        yield Item(document, source.text(f"data/documents/{document}.txt"), spans)


def leoka(source: Snapshot) -> Iterator[Item]:
    """Yield narratives of violence against officers, with what the students of a team marked."""
    for name in source.names("3_annotations/annotations"):
        for task in json.loads(source.bytes(name)) if name.endswith(".json") else ():
            spans: dict[str, list[Span]] = {}
            for annotation in task["annotations"]:
                who, last = annotation["completed_by"]["id"], annotation["updated_by"]
                if not annotation["ground_truth"] and last in (None, who):
                    spans[str(who)] = [
                        (result["value"]["start"], result["value"]["end"], label)
                        for result in annotation["result"]
                        if result["type"] == "labels"
                        for label in result["value"]["labels"]
                    ]
            yield Item(f"{Path(name).stem}-{task['id']}", task["data"]["text"], spans)


def questions(data: dict) -> Iterator[tuple[str, str, list[dict]]]:
    """Yield the text, the context and the answers of each question in the form of SQuAD."""
    for article in data["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                yield (
                    question["question"].strip(),
                    paragraph["context"].strip(),
                    question["answers"],
                )


def answer(context: str, row: dict) -> Span | None:
    """Return the span of an answer, or nothing where the text does not stand where it should."""
    start, text = row["answer_start"], row["text"]
    end = start + len(text)
    return (start, end, "answer") if text and context[start:end] == text else None


def norquad(source: Snapshot) -> Iterator[Item]:
    """Yield the questions of NorQuAD that a second annotator answered."""
    for genre in ("news", "wikipedia"):
        first = {
            (question, context): answers
            for file in ("answers_1", "answers_2")
            for question, context, answers in questions(
                json.loads(source.text(f"data/annotation/{genre}/{file}.json"))
            )
        }
        for who in ("annotator1", "annotator2"):
            second = json.loads(source.text(f"data/validation/{who}/{genre}/validation.json"))
            for number, (question, context, answers) in enumerate(questions(second)):
                given = first.get((question, context))
                if given and answers:
                    one, two = answer(context, given[0]), answer(context, answers[0])
                    if one and two:
                        spans = {"asked and answered": [one], "answered": [two]}
                        yield Item(f"{genre}-{who}-{number}", context, spans)


def corrections(source: Snapshot) -> Iterator[Item]:
    """Yield the sentences of the test set of UA-GEC, with what both annotators corrected."""
    for number, block in enumerate(
        source.text("data/gec-only/test/gec-only.test.m2").split("\n\n")
    ):
        lines = block.strip().split("\n")
        if lines[0].startswith("S ") and not re.fullmatch(r"S # \d+", lines[0]):
            spans: dict[str, list[Span]] = {"0": [], "1": []}
            for line in lines[1:]:
                place, kind, *_, who = line.removeprefix("A ").split("|||")
                start, end = map(int, place.split())
                if start < end:
                    spans[who].append((start, end, kind.split("/")[0]))
            yield Item(str(number), tuple(lines[0].split()[1:]), spans)


def error_spans(batch: str, campaigns: Sequence[str]) -> Callable[[Snapshot], Iterator[Item]]:
    """Return a loader of German translations: the errors that two campaigns marked."""

    def load(source: Snapshot) -> Iterator[Item]:
        folder = "data/campaign-ruction-rc5/"
        targets = {
            (str(item["itemID"]), item["documentID"]): item["targetText"]
            for tasks in json.loads(source.text(f"{folder}data/{batch}"))
            for item in tasks["items"]
        }
        people = {
            row["login"]: row["AnnotatorID"]
            for row in source.table(f"{folder}Annotators_mapping.csv")
        }
        found: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
        for campaign in campaigns:
            for row in csv.reader(io.StringIO(source.text(f"{folder}{campaign}.scores.csv"))):
                login, _, item, kind, *_, document, _, spans, _, _ = row
                # One document was shared by two accounts that numbered its items alike.
                if (
                    kind == "TGT"
                    and "#dup" not in document
                    and document != "elitr_minuting-19#GPT4-5shot"
                ):
                    found[item, document][campaign] = (people.get(login, login), spans)
        for key, by_campaign in found.items():
            if len({who for who, _ in by_campaign.values()}) == 2 and key in targets:
                yield Item(
                    "#".join(key),
                    targets[key],
                    {
                        campaign: [
                            # The last character is part of the span.
                            (
                                row["start_i"],
                                min(row["end_i"] + 1, len(targets[key])),
                                row["severity"],
                            )
                            for row in json.loads(spans)
                            if row["start_i"] != "missing"
                        ]
                        for campaign, (_, spans) in by_campaign.items()
                    },
                )

    return load


def mqm(pair: str) -> Callable[[Snapshot], Iterator[Item]]:
    """Return a loader of translations of WMT 2023 with the errors that three raters marked."""

    def load(source: Snapshot) -> Iterator[Item]:
        path = f"generalMT2023/{pair}/sxs_mqm_generalMT2023_{pair}.3ratingsPerSegment.tsv"
        with tarfile.open(fileobj=io.BytesIO(source.bytes(path + ".tar.gz"))) as packed:
            content = packed.extractfile(Path(path).name).read().decode()
        found: dict[tuple[str, str, str], dict[str, list[Span]]] = defaultdict(dict)
        texts: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for row in csv.DictReader(content.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            key = row["system"], row["doc"], row["globalSegId"]
            spans = found[key].setdefault(row["rater"], [])
            before, opened, rest = row["target"].partition("<v>")
            inner, _, after = rest.partition("</v>")
            texts[key].add(before + inner + after)
            if opened and inner and row["severity"] in ("Major", "Minor"):
                spans.append((len(before), len(before) + len(inner), row["severity"]))
        for key, by_rater in found.items():
            if len(texts[key]) == 1 and len(by_rater) == 3:
                yield Item("/".join(key), *texts[key], by_rater)

    return load


def toxic(source: Snapshot) -> Iterator[Item]:
    """Yield the comments that three raters read, with the words that they found toxic."""
    marked: dict[str, list[Span]] = defaultdict(list)
    for row in source.table("data/spans.csv"):
        marked[row["annotation"]].append((int(row["start"]), int(row["end"]), "toxic"))
    raters: dict[str, list[str]] = defaultdict(list)
    for row in source.table("data/annotations.csv"):
        raters[row["comment_id"]].append(row["annotation"])
    for row in source.table("data/comments.csv"):
        chosen = raters[row["comment_id"]]
        if len(chosen) == 3:
            spans = {f"rater {i}": marked[annotation] for i, annotation in enumerate(chosen, 1)}
            text = row["comment_text"]
            if all(start < end <= len(text) for found in spans.values() for start, end, _ in found):
                yield Item(row["comment_id"], text, spans)


def clicked(files: dict[str, str], raters: int) -> Callable[[Snapshot], Iterator[Item]]:
    """Return a loader of tweets: words of names that were clicked, one kind at a time."""

    def load(source: Snapshot) -> Iterator[Item]:
        for label, file in files.items():
            for line in source.text(file).splitlines():
                unit = json.loads(line)
                judgments = unit["results"]["judgments"]
                tokens = judgments[0]["unit_data"]["tokens"]
                tokens = tuple(tokens if isinstance(tokens, list) else json.loads(tokens))
                spans: dict[str, list[Span]] = {}
                for number, judgment in enumerate(judgments, 1):
                    # A comment is free text, which may be "none" as well.
                    data = {k: v for k, v in judgment["data"].items() if k != "comment"}
                    clicks = next(
                        (v for k, v in data.items() if k == "answer" or k.startswith("click")), []
                    )
                    places = (
                        set()
                        if "none" in data.values()
                        else {int(i) for i in clicks if i.isdigit()}
                    )
                    spans[f"judgment {number}"] = runs(
                        [i in places for i in range(len(tokens))], label
                    )
                if len(spans) == raters:
                    yield Item(f"{label}-{unit['id']}", tokens, spans)

    return load


BTC = ("GateNLP/broad_twitter_corpus", "0c45ef7b1924a6b8115bceab388781590b1b553a")
NEMO = ("OnlpLab/NEMO-Corpus", "38b10235a22998774311ab78a0078c8fb7dea57c")
PICO = ("Markus-Zlabinger/pico-annotation", "63358b6bd99826a3607ff7ce78c7e8bbdd5ceed5")
WMT = ("google/wmt-mqm-human-evaluation", "7fadea281aff8db61cc72fc3d469a4dca78b82a6")

CC_BY, CC_BY_SA, CC_0, NONE = "CC BY 4.0", "CC BY-SA 4.0", "CC0 1.0", "not stated"
CORPORA = (
    Source(
        "NEMO",
        *NEMO,
        "data/ud/ab_annotators/*_morph_gold_*.bmes",
        *("Hebrew", "named entities", "native speakers", CC_BY + " (guidelines)"),
        "morphemes, outer layer; train, dev and test",
        nemo(
            {who: f"data/ud/ab_annotators/{who}_morph_gold_{{}}.bmes" for who in "ab"},
            ["train", "dev", "test"],
        ),
        unit="sentence",
    ),
    *(
        Source(
            f"NEMO, pilot group {group}",
            *NEMO,
            f"data/ud/pilot_annotations/group{group}_*_morph_dev_1-400.bmes",
            *("Hebrew", "named entities", "annotators of a pilot", CC_BY + " (guidelines)"),
            "morphemes, outer layer; sentences 1 to 400",
            nemo(
                {
                    who: f"data/ud/pilot_annotations/group{group}_{who}_morph_{{}}.bmes"
                    for who in letters
                },
                ["dev_1-400"],
            ),
            unit="sentence",
        )
        for group, letters in ((1, "acdefg"), (2, "bhijkl"))
    ),
    Source(
        "BarNER, tweets",
        "mainlp/BarNER",
        "44706d373c5c8a5d61f58eca4569b705d9c8cb27",
        "data/BarNER-double/bar_tweet_001.tsv to 020.tsv",
        *("Bavarian", "named entities", "annotators", NONE),
        "columns 1 and 3, because column 2 is the final annotation; words are masked",
        barner,
        unit="sentence",
        words=False,
    ),
    Source(
        "AMIA 2018 mutations",
        "ibm-aur-nlp/amia-18-mutation-corpus",
        "177da676d0a98ee3dbe46d1d5c4d7b97c06ae122",
        "data-preadjudicated/annotator?/0?/*.ann",
        *("English", "genes and mutations", "annotators", "CC BY-NC-ND 4.0"),
        "two of five annotators by abstract, before discussion; fragments joined; without IAA",
        amia,
    ),
    Source(
        "ACL RD-TEC 2.0",
        "languagerecipes/acl-rd-tec-2.0",
        "39142690c8a062704b134e4013c0d5bc1c96e7f9",
        "distribution/annoitation_files/double_annotated_files/",
        *("English", "scientific terms", "annotators", "CC BY-NC-SA 4.0"),
        "texts are sentences; those whose characters differ between the files are left out",
        terms,
    ),
    *(
        Source(
            f"PICO sentences, {name}",
            *PICO,
            f"data/annotations/*_{file}.json",
            *("English", "participants, interventions, outcomes", kind, NONE),
            "texts are sentences; spans are runs of marked tokens; raters are places in the lists",
            pico(file),
        )
        for name, file, kind in (("experts", "expert", "experts"), ("crowd", "senbase", "crowd"))
    ),
    Source(
        "PICO abstracts",
        "yinfeiy/PICO-data",
        "e7e647917d6aa5b7eaaa72f523d452225ce3951b",
        "annotations/test/PICO-annos-crowdsourcing.json",
        *("English", "participants of trials", "crowd", NONE),
        "raters are places in the lists; workers who marked nothing are not in the file",
        crowd_participants,
    ),
    Source(
        "REDASA sample",
        "PanSurg/redasa-sample-data",
        "0b2f987ba3164bdbded9dddc907f5b4e6bfd2e3b",
        "data/annotations/*.json",
        *("English", "critical appraisal", "curators", CC_0),
        "two of 22 curators by document",
        redasa,
    ),
    Source(
        "LEOKA, nine teams",
        "javierosorio/LEOKA_ML",
        "1ca502d7c3e3bba4c76c8ec2099b53abf09fba68",
        "3_annotations/annotations/LEOKA_team_*.json",
        *("English", "actors, arms, times", "students", "MIT"),
        "without annotations with a star (ground truth) or last changed by another person",
        leoka,
    ),
    Source(
        "NorQuAD, validation",
        "ltgoslo/NorQuAD",
        "701f7db6a51f0264a282ce1ff8e59580251b391e",
        "data/annotation/*/answers_?.json, data/validation/*/*/validation.json",
        *("Norwegian", "answers to questions", "annotators", CC_0),
        "a text for each question; who wrote it against who answered it",
        norquad,
    ),
    Source(
        "UA-GEC, test",
        "grammarly/ua-gec",
        "4757f72f192c4a41e4c8fb1d9690a948f87cf6d6",
        "data/gec-only/test/gec-only.test.m2",
        *("Ukrainian", "errors of writers", "annotators", CC_BY),
        "texts are sentences; the words that were corrected; insertions are left out",
        corrections,
    ),
    *(
        Source(
            f"{name}, study of ESA",
            "wmt-conference/ErrorSpanAnnotation",
            "e7f88b51a5d36dd5a9c9c1d80556f69637716cd4",
            ", ".join(f"data/campaign-ruction-rc5/{campaign}.scores.csv" for campaign in campaigns),
            *("German", "errors of translations", "annotators", "GPL 3.0"),
            "texts are segments; labels are severities; no control items, nobody twice",
            error_spans(f"batches_wmt23_en-de_{name.lower()}.json", campaigns),
        )
        for name, campaigns in (
            ("ESA", ("240315rc5ESA", "240520rc6ESA")),
            ("MQM", ("240315rc5MQM", "240521rc6MQM")),
        )
    ),
    *(
        Source(
            f"MQM, WMT 2023 {name}",
            *WMT,
            f"generalMT2023/{pair}/sxs_mqm_generalMT2023_{pair}.3ratingsPerSegment.tsv.tar.gz",
            *(language, "errors of translations", "translators", "Apache 2.0"),
            "texts are segments; labels are severities; errors of the source are left out",
            mqm(pair),
        )
        for name, pair, language in (("en-de", "ende", "German"), ("zh-en", "zhen", "English"))
    ),
    Source(
        "Toxic spans, all raters",
        "ipavlopoulos/toxic_spans",
        "beaf170538df8275c3447b2e26070f2f82e55272",
        "data/annotations.csv, data/comments.csv, data/spans.csv",
        *("English", "toxic words", "crowd", CC_0),
        "comments with three raters; kinds of toxicity taken together; a ticked box is no span",
        toxic,
    ),
    Source(
        "Broad Twitter Corpus A",
        *BTC,
        "a.crowd-raw/a.*.json",
        *("English", "named entities", "experts", CC_BY),
        "a text for each tweet and kind of name, as it was asked; spans are runs of clicked words",
        clicked({kind: f"a.crowd-raw/a.{kind}.json" for kind in ("loc", "org", "per", "prod")}, 2),
    ),
    Source(
        "Broad Twitter Corpus E",
        *BTC,
        "e.crowd-raw/job_*.json",
        *("English", "named entities", "crowd", CC_BY),
        "a text for each tweet and kind of name, as it was asked; spans are runs of clicked words",
        clicked(
            {
                kind: f"e.crowd-raw/job_{number}.{kind}.json"
                for kind, number in (("loc", 629602), ("org", 633475), ("per", 630015))
            },
            5,
        ),
    ),
)


def joined(text: str | tuple[str, ...], spans: Sequence[Span]) -> list[Span]:
    """Return the spans of one rater, as one where they overlap or cut the same word."""
    found: list[Span] = []
    for start, end, label in sorted(spans, key=lambda span: (span[2], span)):
        before, last, same = found[-1] if found else (0, 0, None)
        is_within = (
            isinstance(text, str) and last and re.fullmatch(r"\w+", text[last - 1 : start + 1])
        )
        if label == same and (start < last or is_within):
            found[-1] = (before, max(last, end), label)
        else:
            found.append((start, end, label))
    return found


def corpus_of(source: Source, items: Sequence[Item]) -> bc.Corpus:
    """Return the corpus of items, scored by words where words are known."""
    if isinstance(items[0].text, tuple):
        raters = sorted({rater for item in items for rater in item.spans})
        return bc.Corpus.from_spans(
            {rater: [item.spans.get(rater) for item in items] for rater in raters},
            tokens=[list(item.text) for item in items],
            documents=[item.document for item in items],
            unit=source.unit,
        )
    records = [
        {
            "id": item.document,
            "annotator": rater,
            "text": item.text,
            "spans": [{"start": start, "end": end, "label": label} for start, end, label in spans],
        }
        for item in items
        for rater, spans in item.spans.items()
    ]
    positions = "tokens" if source.words else "characters"
    return bc.corpus(records, positions=positions, offsets="exclusive", zero_length="skip")


def row_of(source: Source, mirrors: Path) -> dict[str, object]:
    """Return the row of a corpus."""
    folder = mirrors / source.repository.replace("/", "+") / "repo"
    loaded = [item for item in source.load(Snapshot(folder, source.commit)) if len(item.spans) > 1]
    items = [
        replace(
            item, spans={rater: joined(item.text, spans) for rater, spans in item.spans.items()}
        )
        for item in loaded
    ]
    corpus = corpus_of(source, items)
    token, exact = (bc.agreement(corpus, measure=measure) for measure in ("token", "exact"))
    n_marked, n_spans = (
        sum(len(spans) for item in each for spans in item.spans.values())
        for each in (loaded, items)
    )
    which, missing = ["kappa", "alpha", "nominal-alpha"], []
    if n_spans <= GAMMA_SPANS:
        which.append("gamma")
    else:
        missing.append(f"gamma: {n_spans} spans take too long")
    others = bc.coefficients(corpus, which=which, seed=0)
    row = {
        "corpus": source.name,
        "language": source.language,
        "task": source.task,
        "annotators": source.annotators,
        "documents": len(corpus.documents),
        "raters": max(len(item.spans) for item in items),
        "spans": n_spans,
        "joined": n_marked - n_spans,
        "unit": source.unit,
        "positions": corpus.positions,
        "token_observed": token.observed,
        "token": token.corrected,
        "exact_observed": exact.observed,
        "exact": exact.corrected,
        "repository": source.repository,
        "commit": source.commit,
        "files": source.files,
        "licence": source.licence,
        "read_as": source.read_as,
        "signature": str(others.settings),
    }
    lengths = [end - start for start, end in zip(corpus.span_start, corpus.span_end, strict=True)]
    rated = sum(len(corpus.annotators_of(name)) * size for name, size in sizes(corpus).items())
    row["length"] = sum(lengths) / len(lengths)
    row["marked"] = sum(lengths) / rated
    for name in which:
        value = others.values[name]
        if math.isnan(value.value):
            missing.append(f"{name}: spans of different labels overlap")
        else:
            row[name.replace("-", "_")] = value.value
    if source.words:
        with np.errstate(all="ignore"):
            for name, measure in (("skill", "token"), ("skill_exact", "exact")):
                row[name] = bc.agreement(corpus, chance="shapes", measure=measure).corrected
        if not all(map(math.isfinite, (row["skill"], row["skill_exact"]))):
            del row["skill"], row["skill_exact"]
            missing.append("skill: not computed, very long spans")
    else:
        missing.append("skill: words are not known")
    row["missing"] = "; ".join(missing)
    return row


def sizes(corpus: bc.Corpus) -> dict[str, int]:
    """Return the positions of each document."""
    found: dict[str, int] = defaultdict(int)
    for document, length in zip(corpus.text_document, corpus.text_length, strict=True):
        found[corpus.documents[document]] += int(length)
    return found


def shown(value: object) -> object:
    """Return a cell: four digits of a number."""
    return f"{value:.4f}" if isinstance(value, float) else value


def read_rows() -> dict[str, dict[str, str]]:
    """Return the rows of the table that was written, by corpus."""
    if not OUTPUT.exists():
        return {}
    with OUTPUT.open(encoding="utf-8", newline="") as file:
        return {row["corpus"]: row for row in csv.DictReader(file)}


def points(row: dict[str, str], name: str) -> str:
    """Return a value with two digits, as people cite it, or a dash."""
    return f"{float(row[name]):.2f}" if row[name] else "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]


def spread(rows: Sequence[dict[str, str]], name: str) -> str:
    """Return the lowest and the highest value."""
    values = sorted(float(row[name]) for row in rows if row[name])
    both = [f"{value:.2f}" for value in (values[0], values[-1])]
    return both[0] if both[0] == both[1] else " to ".join(both)


def grouped(
    rows: Sequence[dict[str, str]], heading: str, key: Callable[[dict[str, str]], str]
) -> list[str]:
    """Return a table of what the rows with the same key reach, the highest `exact` first."""
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    order = sorted(groups.items(), key=lambda group: -max(float(row["exact"]) for row in group[1]))
    return table(
        [heading, "rows", "corrected `exact`", "corrected `token`", "γ"],
        [
            [name, str(len(each)), *(spread(each, column) for column in COMPARED)]
            for name, each in order
        ],
    )


COMPARED = ("exact", "token", "gamma")


def citation(row: dict[str, str]) -> str:
    """Return the line to paste."""
    scores = (
        ("token", "token"),
        ("exact", "exact"),
        ("skill", "skill"),
        ("kappa", "κ"),
        ("alpha", "α"),
    )
    values = [
        f"{shown_as} {points(row, name)}"
        for name, shown_as in (*scores, ("gamma", "γ"))
        if row[name]
    ]
    size = f"{row['raters']} raters, {row['documents']} texts, {row['spans']} spans"
    return (
        f"{row['corpus']} ({row['language']}, {row['task']}; {size};"
        f" {row['repository']}@{row['commit'][:10]}): corrected {', '.join(values)}."
        f" Reference values of beyondchance; {row['signature']}"
    )


def pages(rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the tables of the page by name."""
    high = [row for row in rows if float(row["exact"]) >= 0.72]
    tasks = sorted({row["task"] for row in high})
    middle = median(float(row["exact"]) for row in rows)
    first = (
        f"Of {len(rows)} rows, {len(high)} have a corrected `exact` of .72 or more"
        f" (tasks: {', '.join(tasks)}); the median is {middle:.2f}."
    )
    answered = [
        first,
        "",
        *grouped(rows, "task", lambda row: row["task"]),
        "",
        *grouped(rows, "language", lambda row: row["language"]),
        "",
        *grouped(
            rows, "raters of a text", lambda row: "two" if row["raters"] == "2" else "three or more"
        ),
        "",
        *grouped(rows, "who", lambda row: "crowd" if row["annotators"] == "crowd" else "others"),
    ]
    corpora = table(
        [
            "corpus",
            "language",
            "task",
            "who",
            "texts",
            "raters",
            "spans",
            "marked",
            "length",
            "unit",
        ],
        [
            [
                *(row[name] for name in ("corpus", "language", "task", "annotators")),
                *(row[name] for name in ("documents", "raters", "spans")),
                f"{100 * float(row['marked']):.0f} %",
                f"{float(row['length']):.1f} {row['positions']}",
                row["unit"],
            ]
            for row in rows
        ],
    )
    names = ("token_observed", "token", "exact_observed", "exact", "skill", "skill_exact")
    names += ("kappa", "alpha", "nominal_alpha", "gamma")
    values = table(
        [
            *(
                "corpus",
                "F1 `token`",
                "`token`",
                "F1 `exact`",
                "`exact`",
                "skill `token`",
                "skill `exact`",
            ),
            *("κ", "α (2004)", "α (nominal)", "γ", "missing because"),
        ],
        [
            [row["corpus"], *(points(row, name) for name in names), row["missing"] or "–"]
            for row in rows
        ],
    )
    sources = []
    for row in rows:
        where = f"[{row['repository']}](https://github.com/{row['repository']})"
        merged = f"; {row['joined']} spans joined" if row["joined"] != "0" else ""
        said = (
            f"**{row['corpus']}.** {where}, commit `{row['commit']}`, `{row['files']}`;"
            f" licence: {row['licence']}. Read as: {row['read_as']}{merged}."
        )
        sources += [said, "", "```text", citation(row), "```", ""]
    made = {"answers": answered, "corpora": corpora, "values": values, "sources": sources}
    head = "<!-- Written by python benchmarks/reference_values.py -->"
    return {name: "\n".join([head, "", *lines]).rstrip() + "\n" for name, lines in made.items()}


def main() -> None:
    """Write the rows of all corpora or of those that are named, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mirrors", type=Path, nargs="?", help="the folder with owner+name/repo")
    parser.add_argument("names", nargs="*", help="only these corpora")
    arguments = parser.parse_args()
    rows = read_rows()
    for source in CORPORA if arguments.mirrors else ():
        if not arguments.names or source.name in arguments.names:
            begun = time.perf_counter()
            row = {key: shown(value) for key, value in row_of(source, arguments.mirrors).items()}
            rows[source.name] = {name: str(row.get(name, "")) for name in FIELDS}
            print(f"{source.name}: {time.perf_counter() - begun:.0f} s", flush=True)
            with OUTPUT.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows[each.name] for each in CORPORA if each.name in rows)
    for name, text in pages(
        [rows[source.name] for source in CORPORA if source.name in rows]
    ).items():
        (TABLES / f"reference-values-{name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
