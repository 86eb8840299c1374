"""The day of each annotation, where files keep one."""

import io
import json
import zipfile

import cassis
import pytest

import beyondchance as bc
from beyondchance.annotations.dates import day_of
from each import each

TEXT = "Ada met Bo."
FIRST, SECOND = "2024-02-14", "2024-03-01"
META = "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
UNREADABLE = "dates in unknown forms ignored"


def seconds(day):
    return day_of(day) * 86400 + 3600


def label_studio(ada, ben):
    mark = {"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}
    work = [
        {"completed_by": name, "result": [mark], **times}
        for name, times in (("ada", ada), ("ben", ben))
    ]
    return "label-studio", [{"id": 1, "data": {"text": TEXT}, "annotations": work}]


def label_studio_dates(ada, ben):
    # A star that is set later changes an annotation, too.
    later = {"updated_at": "2025-01-01T00:00:00Z"}
    return label_studio({"created_at": ada, **later}, {"updated_at": ben})


def json_min(ada, ben):
    mark = [{"start": 0, "end": 3, "labels": ["PER"]}]
    return "label-studio", [
        {"id": 1, "text": TEXT, "label": mark, "annotator": name, "annotation_id": i, **times}
        for i, (name, times) in enumerate(
            (("ada", {"created_at": ada}), ("ben", {"updated_at": ben}))
        )
    ]


def argilla(ada, ben):
    value = [{"label": "PER", "start": 0, "end": 3}]
    given = [
        {"value": value, "user_id": "ada", "inserted_at": ada, "updated_at": "2025-01-01"},
        {"value": value, "user_id": "ben", "updated_at": ben},
    ]
    record = {"id": "a", "fields": {"text": TEXT}, "suggestions": {}, "responses": {"spans": given}}
    return "argilla", [record]


def prodigy(ada, ben):
    span = {"start": 0, "end": 3, "label": "PER"}
    common = {"text": TEXT, "_input_hash": 1, "_view_id": "ner_manual", "answer": "accept"}
    rows = [
        {**common, "spans": [span], "_session_id": name, "_timestamp": time}
        for name, time in (("ada", ada), ("ben", ben))
    ]
    return "prodigy", rows


def read(made, **options):
    name, content = made
    text = "\n".join(map(json.dumps, content)) if name == "prodigy" else json.dumps(content)
    return bc.read(io.BytesIO(text.encode()), format=name, **options)


def days(corpus):
    who = [corpus.annotators[i] for i in corpus.annotation_annotator]
    return dict(zip(who, corpus.annotation_date.tolist(), strict=True))


@each("make", [label_studio_dates, json_min, argilla])
def test_times_of_exports(make):
    found = days(read(make(f"{FIRST}T23:30:00.5Z", f"{SECOND}T00:30:00+01:00")))
    assert found == {"ada": day_of(FIRST), "ben": day_of(SECOND) - 1}


def test_prodigy_has_seconds():
    found = days(read(prodigy(seconds(FIRST), seconds(SECOND) + 0.25)))
    assert found == {"ada": day_of(FIRST), "ben": day_of(SECOND)}


@each("make", [label_studio_dates, json_min, argilla, prodigy])
def test_dates_in_other_forms_are_counted(make):
    corpus = read(make("last week", FIRST))
    assert days(corpus) == {"ada": 0, "ben": day_of(FIRST)}
    assert corpus.skipped[UNREADABLE] == 1


@each("make", [label_studio_dates, argilla, prodigy])
def test_a_missing_date_is_no_bad_one(make):
    corpus = read(make(None, FIRST))
    if make is not prodigy:  # the others changed it later
        assert days(corpus)["ada"] == day_of("2025-01-01")
    assert UNREADABLE not in corpus.skipped


def test_no_dates_at_all():
    assert read(label_studio({}, {})).annotation_date is None


def test_the_last_of_several_annotations_of_a_task_counts():
    name, (task,) = label_studio(
        {"created_at": FIRST, "updated_at": FIRST}, {"created_at": SECOND, "updated_at": SECOND}
    )
    task["annotations"][1]["completed_by"] = "ada"
    task["annotations"].append({"completed_by": "cleo", "result": []})
    corpus = read((name, [task]))
    assert days(corpus) == {"ada": day_of(SECOND), "cleo": 0}


def cas(saved):
    system = cassis.TypeSystem()
    system.create_feature(system.create_type(ENTITY), "value", "uima.cas.String")
    meta = system.create_type(META)
    system.create_feature(meta, "lastChangedOnDisk", "uima.cas.Long")
    made = cassis.Cas(system)
    made.sofa_string, made.sofa_mime = TEXT, "text/plain"
    made.add(system.get_type(ENTITY)(begin=0, end=3, value="PER"))
    made.add(meta(begin=0, end=0, lastChangedOnDisk=saved))
    return made, system


@pytest.fixture
def folder(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
        return path

    return write


def test_inception_keeps_when_a_document_was_saved(folder):
    (ada, _), (ben, system) = (cas(1000 * seconds(day)) for day in (FIRST, SECOND))
    folder("ben/TypeSystem.xml", system.to_xml())
    paths = folder("ada/a.json", ada.to_json()).parent, folder("ben/a.xmi", ben.to_xmi()).parent
    corpus = bc.read(*paths, format="uima")
    assert days(corpus) == {"ada": day_of(FIRST), "ben": day_of(SECOND)}


def test_inception_imports_have_no_date(folder):
    corpus = bc.read(folder("a.json", cas(-1)[0].to_json()), format="uima")
    assert corpus.annotation_date is None
    assert UNREADABLE not in corpus.skipped


def test_inception_projects(tmp_path):
    records = [
        {"name": "d.txt", "user": "ada", "state": "FINISHED", "timestamp": 1000 * seconds(FIRST)},
        {"name": "d.txt", "user": "ben", "state": "FINISHED", "updated": 1000 * seconds(SECOND)},
    ]
    known = {"annotation_documents": records, "source_documents": []}
    with zipfile.ZipFile(tmp_path / "project.zip", "w") as archive:
        archive.writestr("exportedproject1.json", json.dumps(known))
        for name in ("ada", "ben"):
            archive.writestr(f"annotation/d.txt/{name}.json", cas(-1)[0].to_json())
    corpus = bc.read(tmp_path / "project.zip", format="uima")
    assert days(corpus) == {"ada": day_of(FIRST), "ben": day_of(SECOND)}


TABLES = {
    "offsets alone": ("length", "11"),
    "texts": ("text", TEXT),
}


@each("kind", TABLES)
def test_a_column_of_dates(folder, kind):
    name, value = TABLES[kind]
    rows = [
        f"d1,ada,0,3,PER,{value},{FIRST}",
        f"d1,ada,4,7,PER,{value},{SECOND}",
        f"d1,ben,0,3,PER,{value},{FIRST}",
        f"d2,ada,0,3,PER,{value},soon",
        f"d2,ben,,,,{value},{FIRST}",
    ]
    path = folder("work.csv", f"document,annotator,start,end,label,{name},date\n" + "\n".join(rows))
    corpus = bc.read(path)
    # The last of a document by an annotator.
    expected = [day_of(SECOND), day_of(FIRST), 0, day_of(FIRST)]
    assert corpus.annotation_date.tolist() == expected
    assert corpus.skipped[UNREADABLE] == 1
    assert not corpus.fields


def test_a_column_of_dates_that_is_the_same_for_all_is_a_field_as_before(folder):
    rows = f"d1,ada,0,3,PER,9,{FIRST}\nd1,ben,0,3,PER,9,{FIRST}\n"
    corpus = bc.read(folder("a.csv", f"document,annotator,start,end,label,length,date\n{rows}"))
    assert corpus.fields == {"date": (FIRST,)}
    assert corpus.annotation_date.tolist() == [day_of(FIRST)] * 2
