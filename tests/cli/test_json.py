"""The JSON of every command has the numbers of the library, under their names."""

from dataclasses import asdict
from math import isnan

import pytest

import beyondchance as bc
from beyondchance.io.registry import FORMATS
from beyondchance.paper import reproduce

TEAM = ("example/ada.conll", "example/ben.conll", "example/cleo.conll")
MORE = ("dan.conll", "eve.conll")


@pytest.fixture
def in_json(printed):
    """What a command prints as JSON."""
    return lambda *words: printed(*words).data


@pytest.fixture
def team(worked_example):
    return bc.read(*(worked_example / path for path in TEAM))


def plain_score(score):
    """The numbers of a score, one by one."""
    rates = {"observed": "{}", "chance": "chance_{}", "corrected": "corrected_{}"}
    return {
        **{name: getattr(score, name) for name in rates},
        **{
            side: {name: getattr(score, form.format(side)) for name, form in rates.items()}
            for side in ("precision", "recall")
        },
        "counts": {
            name: getattr(score, name) for name in ("matched", "expected", "size_a", "size_b")
        },
        "n_documents": score.n_documents,
        "n_spans": score.n_spans,
    }


def head(found, command, files):
    """Check what the JSON of every command on files begins and ends with."""
    assert (found["format"], found["command"]) == (2, command)
    assert found["version"] == bc.__version__
    assert [item["name"] for item in found["inputs"]] == list(files)
    assert {item["format"] for item in found["inputs"]} == {"conll"}
    assert found["notes"][: len(files)] == [f"{name}: read as conll" for name in files]


def test_agree(in_json, team):
    found = in_json("agree", *TEAM, "--by", "document", "--by", "season", "--top", "2")
    head(found, "agree", TEAM)
    result, exact = bc.agreement(team), bc.agreement(team, measure="exact")
    assert {key: found[key] for key in plain_score(result.score)} == plain_score(result.score)
    assert found["measures"] == {
        "token": plain_score(result.score), "exact": plain_score(exact.score),
    }  # fmt: skip
    assert found["labels"] == {name: plain_score(score) for name, score in result.by_label.items()}
    assert found["pairs"] == [
        {"a": a, "b": b, **plain_score(score)} for (a, b), score in result.by_pair.items()
    ]
    hardness = bc.difficulty(team).by_document
    assert set(found["documents"]) == set(result.by_document)
    for name, item in found["documents"].items():
        hard = item.pop("difficulty")
        assert item == plain_score(result.by_document[name])
        assert hard == hardness[name]
    assert found["groups"] == {
        "season": {name: plain_score(score) for name, score in result.by_field("season").items()}
    }
    for name, item in found["annotators"].items():
        own = result.by_annotator[name]
        assert (item["corrected"], item["n_spans"]) == (own.corrected, own.n_spans)


def test_rank(in_json, team):
    found = in_json("rank", *TEAM, "--by", "label", "--measure", "exact")
    head(found, "rank", TEAM)
    assert found["gold"] == "ada"
    ranking = bc.rank(team, gold="ada", measure="exact")
    assert [item["name"] for item in found["systems"]] == ["cleo", "ben"]
    for place, item in enumerate(found["systems"], start=1):
        system = ranking.systems[item["name"]]
        assert (item["rank_observed"], item["rank_corrected"]) == (place, place)
        score = plain_score(system.score)
        assert {key: item[key] for key in score} == score
        assert item["labels"] == {
            name: plain_score(score) for name, score in system.by_label.items()
        }
        for by, mean in item["macro"].items():
            assert mean["corrected"] == system.macro(by).corrected


def test_difficulty(in_json, team):
    found = in_json("difficulty", *TEAM, "--top", "3")
    head(found, "difficulty", TEAM)
    expected = bc.difficulty(team)
    assert found["difficulty"] == expected.overall
    assert found["documents"] == dict(expected.by_document)
    for item in found["histogram"]:
        inside = [x for x in found["documents"].values() if item["from"] <= x < item["to"]]
        assert item["documents"] == len(inside)
    assert sum(item["documents"] for item in found["histogram"]) == 12


def test_disagreements(in_json, team):
    found = in_json("disagreements", *TEAM, "--by", "pair", "--top", "12")
    head(found, "disagreements", TEAM)
    expected = bc.disagreements(team)
    assert found["kinds"] == expected.by_kind()
    assert (found["n_documents"], found["n_spans"]) == (12, 214)
    assert {(row["a"], row["b"]): row["kinds"] for row in found["pairs"]} == {
        pair: dict(kinds) for pair, kinds in expected.by_pair().items()
    }
    assert {(row["a"], row["b"]): row["count"] for row in found["labels"]} == dict(
        expected.label_table()
    )
    assert sum(row["count"] for row in found["labels"]) > 0
    rows = expected.to_rows()
    assert found["disagreements"] == [row for row in rows if row["kind"] != "agree"]
    assert len(rows) == sum(found["kinds"].values())


def test_diagnose(in_json, team):
    found = in_json("diagnose", *TEAM, "--top", "5")
    head(found, "diagnose", TEAM)
    expected = bc.diagnose(team)
    assert found["corrected"] == bc.agreement(team).corrected
    assert {name: item["share"] for name, item in found["loss"].items()} == dict(expected.loss)
    assert sum(item["share"] for item in found["loss"].values()) == pytest.approx(
        1 - found["corrected"], rel=1e-12
    )
    names = ("who", "label", "kind", "detail", "count", "n_places", "other_way", "before")
    names += ("after", "gain", "p", "advice", "others_each", "times", "p_values")
    for item, pattern in zip(found["patterns"], expected.patterns, strict=False):
        assert {name: item[name] for name in names} == {n: getattr(pattern, n) for n in names}
        assert (item["p_adjusted"], item["habit"]) == (pattern.adjusted, pattern.is_habit)
        assert item["gain"] == pytest.approx(item["after"] - item["before"], rel=1e-9)
        for shown, example in zip(item["examples"], pattern.examples, strict=False):
            assert (shown["document"], shown["who"]) == (example.document, example.who)
            assert shown["own"] == (None if example.own is None else list(example.own))
            assert shown["others"] == (None if example.theirs is None else list(example.theirs))


def test_consensus(in_json, team):
    words = ("--measure", "exact", "--method", "best", "--weights", "ada=2", "--no-text")
    found = in_json("consensus", *TEAM, *words)
    head(found, "consensus", TEAM)
    made = bc.consensus(team, measure="exact", method="best", weights={"ada": 2})
    assert (found["measure"], found["method"]) == ("exact", "best")
    assert (found["members"], found["weights"]) == (["ada", "ben", "cleo"], {"ada": 2})
    for name, values in (
        ("votes", made.votes), ("n_annotators", made.n_members), ("support", made.support),
        ("alike", made.alike), ("is_tie", made.is_tie),
    ):  # fmt: skip
        assert [item[name] for item in found["spans"]] == values.tolist()
    corpus, span = made.corpus, made.span
    for name, values in (
        ("start", corpus.span_start[span]), ("end", corpus.span_end[span]),
    ):  # fmt: skip
        assert [item[name] for item in found["spans"]] == values.tolist()
    assert [(i["document"], i["label"]) for i in found["spans"]] == [
        (
            corpus.documents[corpus.text_document[corpus.span_text[n]]],
            corpus.labels[corpus.span_label[n]],
        )
        for n in span
    ]
    assert {item["words"] for item in found["spans"]} == {None}
    pooled = bc.agreement(made.corpus, measure="exact")
    for name, score in found["annotators"].items():
        assert score["corrected"] == pooled.by_pair[name, made.name].corrected
    found, made = in_json("consensus", *TEAM, "--ties", "drop"), bc.consensus(team, ties="drop")
    assert (found["measure"], found["method"], found["n_unscored"]) == (None, "entities", 0)
    assert found["n_ties"] == made.entities.is_tie.sum()
    assert len(found["spans"]) == len(made.span)
    assert found["bounds"] == {name: list(ends) for name, ends in made.bounds.items()}
    found = in_json("consensus", *TEAM[:2])
    assert (found["agreement"], found["annotators"], found["bounds"]) == (None, {}, {})
    assert found["n_unscored"] > 0


def test_adjudicate(in_json, team, worked_example):
    found = in_json("adjudicate", *TEAM, "--decisions", "mia.json")
    head(found, "adjudicate", TEAM)
    gold = bc.adjudicated(team, worked_example / "mia.json")
    assert (found["rest"], found["n_places"], found["n_decided"]) == (
        gold.rest, gold.n_places, gold.n_decided,
    )  # fmt: skip
    names = ("document", "text", "start", "end", "choice", "by", "note", "words")
    for item, decision in zip(found["decisions"], gold.decisions, strict=True):
        assert {name: item[name] for name in names} == {n: getattr(decision, n) for n in names}
        assert item["of"] == list(decision.of)
        assert item["spans"] == [list(span) for span in decision.spans]
    systems = bc.rank(gold).systems
    assert found["annotators"] == {who: plain_score(item.score) for who, item in systems.items()}
    assert found["decisions"][0]["note"] == "as in the guideline"
    files = ("--decisions", "mia.json", "--decisions", "tom.json")
    found = in_json("adjudicate", *TEAM, *files, "--compare", "--top", "4")
    (pair,) = found["pairs"]
    assert (pair["a"], pair["b"], pair["n_places"], pair["n_same"]) == ("mia", "tom", 25, 2)
    assert len(found["differing"]) == 25 - 2
    assert {(x["one"]["by"], x["other"]["by"]) for x in found["differing"]} == {("mia", "tom")}


def test_replace(in_json, worked_example):
    files = (*TEAM, *MORE)
    words = ("--model", "cleo,dan", "--measure", "exact", "--digits", "3")
    found = in_json("replace", *files, *words)
    head(found, "replace", files)
    corpus = bc.read(*(worked_example / path for path in files))
    expected = bc.replacement(corpus, model=["cleo", "dan"], measure="exact")
    assert (found["humans"], found["confidence"]) == (["ada", "ben", "eve"], 0.95)
    assert (found["keep"], found["margin"], found["blind"]) == (0.9, 0.05, "unknown")
    for item in found["models"]:
        one = expected.models[item["model"]]
        for name, person in item["people"].items():
            own = one.by_human[name]
            assert person == {
                "human": own.human, "model_score": own.model, "difference": own.difference,
                "low": own.interval[0], "high": own.interval[1],
                "p": own.p, "adjusted": one.p_values[name], "n_documents": 12,
            }  # fmt: skip
        mean = one.mean
        assert item["mean"] == {
            "human": mean.human, "model_score": mean.model, "difference": mean.difference,
            "low": mean.interval[0], "high": mean.interval[1], "p": mean.p,
        }  # fmt: skip
        assert item["corrected"] == one.ceiling.model
        names = ("verdict", "is_starred", "n_documents", "documents_needed", "p_every")
        assert {name: item[name] for name in names} == {n: getattr(one, n) for n in names}
        assert item["keeps"] == (None if isnan(one.keeps) else one.keeps)
        assert (item["unjudged"], item["copied"]) == (list(one.unjudged), list(one.copied))
        for name, ceiling in item["ceilings"].items():
            share = one.ceiling.share[name]
            assert ceiling["corrected"] == getattr(one.ceiling, name)
            assert (ceiling["share"], ceiling["low"], ceiling["high"]) == (
                share.value, *share.interval,
            )  # fmt: skip
    (row,) = found["differences"]
    one = expected.differences[row["a"], row["b"]]
    assert (row["difference"], row["low"], row["high"], row["p"]) == (
        one.difference, *one.interval, one.p,
    )  # fmt: skip
    found = in_json("replace", *TEAM, "--model", "cleo", "--margin", "none", "--blind", "no")
    assert (found["margin"], found["blind"]) == (None, "no")


def test_careless(in_json, worked_example):
    files = (*TEAM, *MORE)
    found = in_json("careless", *files, "--top", "3")
    head(found, "careless", files)
    expected = bc.careless_work(bc.read(*(worked_example / path for path in files)))
    assert (found["level"], found["luck"]) == (expected.level, expected.luck)
    assert found["below"] == found["another_rule"] == ["dan"]
    for name in ("random", "too_few", "nothing", "everything"):
        assert found[name] == list(getattr(expected, name))
    assert found["annotators"] == {who: asdict(work) for who, work in expected.by_annotator.items()}
    assert found["stretches"] == [
        {**asdict(stretch), "documents": list(stretch.documents)} for stretch in expected.stretches
    ]


def test_plan(in_json, team):
    found = in_json("plan", *TEAM, "--half-width", "0.04")
    head(found, "plan", TEAM)
    expected = bc.plan(bc.agreement(team), 0.04)
    names = ("documents", "low", "high")
    assert {name: found[name] for name in names} == {n: getattr(expected, n) for n in names}
    assert (found["score"], found["unit"], found["half_width"]) == ("corrected", "documents", 0.04)
    found = in_json("plan", *TEAM, "--replace", "cleo", "--margin", "0.03")
    expected = bc.plan_replacement(bc.replacement(team, model="cleo", margin=0.03))
    assert (found["model"], found["margin"], found["power"]) == ("cleo", 0.03, 0.8)
    assert (found["n_pilot"], found["documents"]) == (expected.n_pilot, expected.documents)
    assert found["conditions"] == {
        name: {"assumed": assumed, **dict(zip(names, counts, strict=True))}
        for name, (assumed, counts) in expected.by_condition.items()
    }


def test_place(in_json):
    found = in_json("place", "--length", "20", "--spans", "1,3,3,6")
    assert (found["command"], found["length"], found["model"]) == ("place", 20, "disjoint")
    assert found["coverage"] == bc.coverage(20, [1, 3, 3, 6]).tolist()
    expected = bc.start_probabilities(20, [1, 3, 3, 6])
    assert [item["length"] for item in found["spans"]] == [1, 3, 3, 6]
    for item, column in zip(found["spans"], expected, strict=True):
        assert item["start_probabilities"] == column.tolist()


def test_formats_and_the_paper(in_json):
    found = in_json("formats")
    assert {item["name"] for item in found["formats"]} == set(FORMATS)
    found = in_json("reproduce")
    for item, case in zip(found["cases"], reproduce(), strict=True):
        assert (item["table"], item["case"]) == (case.case.table, case.case.case)
        assert (item["printed"], item["ours"]) == (dict(case.case.printed), dict(case.ours))
