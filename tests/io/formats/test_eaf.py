import zipfile
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from hypothesis import given, strategies as st
from pympi.Elan import Eaf

import beyondchance as bc
from beyondchance.io.formats import eaf
from beyondchance.io.formats.eaf import is_format, read as corpus_of_files
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, refused

NOTE = (
    "ELAN does not store how long a recording lasts; it is taken to last until the latest time "
    "slot of any of its annotators"
)


def write(path, **tiers):
    """Write tiers of (start, end, value), in milliseconds, with pympi."""
    content = Eaf(author="us")
    content.remove_tier("default")
    for name, annotations in tiers.items():
        content.add_tier(name)
        for start, end, value in annotations:
            content.add_annotation(name, start, end, value)
    content.to_file(str(path))
    return path


def document(slots="", tiers="", *, header='TIME_UNITS="milliseconds"'):
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<ANNOTATION_DOCUMENT AUTHOR="" DATE="" FORMAT="3.0" VERSION="3.0" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n'
        f'<HEADER MEDIA_FILE="" {header}/>\n<TIME_ORDER>{slots}</TIME_ORDER>\n{tiers}\n'
        "</ANNOTATION_DOCUMENT>\n"
    )


def slot(name, time=None):
    value = "" if time is None else f' TIME_VALUE="{time}"'
    return f'<TIME_SLOT TIME_SLOT_ID="{name}"{value}/>'


def tier(name, *annotations):
    inside = "".join(f"<ANNOTATION>{annotation}</ANNOTATION>" for annotation in annotations)
    return f'<TIER LINGUISTIC_TYPE_REF="t" TIER_ID="{name}">{inside}</TIER>'


def aligned(name, start, end, value):
    return (
        f'<ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}" TIME_SLOT_REF1="{start}" '
        f'TIME_SLOT_REF2="{end}"><ANNOTATION_VALUE>{value}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION>"
    )


def referring(name, to, value, previous=None):
    before = f' PREVIOUS_ANNOTATION="{previous}"' if previous else ""
    return (
        f'<REF_ANNOTATION ANNOTATION_ID="{name}" ANNOTATION_REF="{to}"{before}>'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></REF_ANNOTATION>"
    )


def save(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def upload(content: bytes | str):
    data = content.encode() if isinstance(content, str) else content
    return Upload("x", "x", [Source("x", member=data)])


SLOTS = slot("ts1", 0) + slot("ts2", 600) + slot("ts3", 1000)


# --- What is read -------------------------------------------------------------


def test_tiers_are_annotators(tmp_path):
    path = write(
        tmp_path / "clip.eaf",
        anna=[(0, 600, "nod"), (600, 1000, "shake")],
        ben=[(100, 600, "nod")],
        kim=[],
    )
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.documents == ("clip",)
    assert corpus.annotators == corpus.annotators_of("clip") == ("anna", "ben", "kim")
    assert corpus.text_length.tolist() == [10]
    assert corpus.spans("clip", "anna") == [(0, 6, "nod"), (6, 10, "shake")]
    assert corpus.spans("clip", "ben") == [(1, 6, "nod")]
    assert corpus.spans("clip", "kim") == []
    assert_notes(corpus.notes, "store … recording")
    assert corpus.skipped == {}
    assert (corpus.unit, corpus.positions) == ("document", "frames")
    assert corpus.options == {"grid": "100ms"}


def test_tiers_are_labels_and_files_annotators(tmp_path):
    # The recording lasts as long as the longer of the two files tells.
    anna = write(tmp_path / "anna.eaf", nod=[(0, 600, "")], smile=[(300, 1000, "")])
    ben = write(tmp_path / "ben.eaf", nod=[(0, 400, "")])
    corpus = bc.read(anna, ben, format="eaf", grid="100ms", tier="label")
    assert corpus.documents == ("1",)
    assert corpus.text_length.tolist() == [10]
    assert corpus.spans("1", "anna") == [(0, 6, "nod"), (3, 10, "smile")]
    assert corpus.spans("1", "ben") == [(0, 4, "nod")]
    assert corpus.skipped == {}


def test_an_annotation_without_a_value_is_a_span_without_a_name(tmp_path):
    path = write(tmp_path / "a.eaf", anna=[(0, 600, ""), (600, 1000, "nod")])
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.spans("a", "anna") == [(0, 6, "_"), (6, 10, "nod")]
    assert corpus.skipped == {"annotations without a value, labelled '_'": 1}


def test_time_slots_without_a_time_are_spread(tmp_path):
    # ts1 = 0, ts4 and ts5 between, ts2 = 600: at 200 and at 400.
    words = tier(
        "words",
        aligned("a1", "ts1", "ts4", "one"),
        aligned("a2", "ts4", "ts5", "two"),
        aligned("a3", "ts5", "ts2", "three"),
        aligned("a4", "ts2", "ts3", "four"),
    )
    path = save(tmp_path / "a.eaf", document(SLOTS + slot("ts4") + slot("ts5"), words))
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.spans("a", "words") == [
        (0, 2, "one"),
        (2, 4, "two"),
        (4, 6, "three"),
        (6, 10, "four"),
    ]
    assert corpus.skipped == {"annotations placed by spreading time slots without a time": 3}


def test_references_share_what_they_refer_to(tmp_path):
    # The tier of tags comes first, and its order is told by what precedes what.
    tags = tier("tags", referring("a5", "a3", "X"), referring("a6", "a4", "Y"))
    words = tier("words", referring("a4", "a1", "two", "a3"), referring("a3", "a1", "one"))
    lines = tier("lines", aligned("a1", "ts1", "ts2", "one two"))
    path = save(tmp_path / "a.eaf", document(SLOTS, tags + words + lines))
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.annotators == ("tags", "words", "lines")
    assert corpus.spans("a", "words") == [(0, 3, "one"), (3, 6, "two")]
    assert corpus.spans("a", "tags") == [(0, 3, "X"), (3, 6, "Y")]
    assert corpus.skipped == {"annotations placed in those that they refer to": 4}


def test_layer_selects_tiers_and_leaves_the_others_alone(tmp_path):
    lost = tier("lost", aligned("a9", "ts4", "ts4", "x"))
    anna, ben = (
        tier(n, aligned(a, "ts1", "ts2", "nod")) for n, a in (("anna", "a1"), ("ben", "a2"))
    )
    path = save(tmp_path / "a.eaf", document(SLOTS + slot("ts4"), anna + ben + lost))
    corpus = bc.read(path, format="eaf", grid="100ms", layer="anna,ben")
    assert corpus.annotators == ("anna", "ben")
    message = f"{path}: tier 'lost', annotation 'a9': … annotations"
    with refused(bc.FormatError, message):
        bc.read(path, format="eaf", grid="100ms")


def test_the_empty_tier_of_every_new_file(tmp_path):
    path = write(tmp_path / "a.eaf", default=[], anna=[(0, 600, "nod")])
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.annotators == ("anna",)
    assert corpus.skipped == {"empty default tiers left out": 1}


def test_a_folder_of_recordings(tmp_path):
    write(tmp_path / "one.eaf", anna=[(0, 600, "nod")], ben=[(0, 500, "nod")])
    write(tmp_path / "two.eaf", anna=[(0, 600, "nod")])
    (tmp_path / "one.wav").write_bytes(b"RIFF\0\0")
    corpus = bc.read(tmp_path, format="eaf", grid="100ms")
    assert corpus.documents == ("one", "two")
    assert corpus.annotators_of("two") == ("anna",)
    assert corpus.skipped == {"files of other formats ignored": 1}


@each(("encoding", "declared"), [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16")])
def test_encodings(tmp_path, encoding, declared):
    text = document(SLOTS, tier("änna", aligned("a1", "ts1", "ts2", "\N{EXTRATERRESTRIAL ALIEN}")))
    path = save(tmp_path / "a.eaf", text.replace("UTF-8", declared).replace("\n", "\r\n"), encoding)
    corpus = bc.read(path, format="eaf", grid="100ms")
    assert corpus.spans("a", "änna") == [(0, 6, "\N{EXTRATERRESTRIAL ALIEN}")]


# --- Detection ----------------------------------------------------------------


def test_detected(tmp_path):
    assert is_format(upload(write(tmp_path / "x", anna=[(0, 1, "a")]).read_bytes()))
    assert is_format(upload(document().encode("utf-16")))
    assert is_format(upload("<!-- first -->\n" + document().split("\n", 1)[1]))


@each(
    "content",
    [
        b"",
        b"\0\1",
        b"\xff\xfe\0",
        "<",
        '<?xml version="1.0"?>\n<GateDocument><ANNOTATION_DOCUMENT/></GateDocument>',
        '<?xml version="1.0"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"/>',
        "SPEAKER talk 1 0.00 1.25 <NA> <NA> anna <NA> <NA>\n",
        '{"text": "<ANNOTATION_DOCUMENT>"}',
    ],
)
def test_not_detected(content):
    assert not is_format(upload(content))


def test_data_is_no_file():
    assert not is_format(Upload("x", "x", [Source("x", member=document().encode())], data=[]))


# --- Malformed files ----------------------------------------------------------

ONE = tier("anna", aligned("a1", "ts1", "ts2", "nod"))


@each(
    ("text", "message"),
    [
        (
            "",
            ": … XML … <ANNOTATION_DOCUMENT>",
        ),
        (
            "<html/>",
            ": … 'html' … outermost … <ANNOTATION_DOCUMENT>",
        ),
        (
            document(SLOTS, ONE).replace("</TIER>", ""),
            ":6: … well-formed … 3",
        ),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]>\n' + document(SLOTS, ONE),
            ":1: … <!ENTITY … annotation",
        ),
        (
            document(SLOTS, ONE.replace(' TIME_SLOT_REF1="ts1"', "")),
            ": … 'anna' … incomplete",
        ),
        (
            document(slot("ts1", "soon"), ONE),
            ": … slot … 'ts1' … 'soon' … 0",
        ),
        (
            document(slot("ts1", -5), ONE),
            ": … slot … 'ts1' … '-5' … 0",
        ),
        (
            document(slot("ts1", 10**30), ONE),
            f": … slot … 'ts1' … '{10**30}' … 0",
        ),
        (
            document(SLOTS, tier("anna", aligned("a1", "ts2", "ts1", "nod"))),
            ": tier 'anna', annotation 'a1': … interval … [0.6, 0) … 'nod'",
        ),
        (
            document(slot("ts1", 0), ONE),
            ": tier 'anna', annotation 'a1': … annotations",
        ),
        (
            document(SLOTS, ONE + ONE),
            ": … tier 'anna' … occurs … 2",
        ),
        (
            document(
                SLOTS, ONE + tier("ben", referring("a2", "a3", "x"), referring("a3", "a2", "y"))
            ),
            ": tier 'ben', annotation 'a2': … annotations",
        ),
        (
            document(
                SLOTS,
                tier("anna", *[aligned("a1", "ts1", "ts2", "x"), aligned("a1", "ts2", "ts3", "y")]),
            ),
            ": annotation 'a1' … occurs … 2",
        ),
        (
            document(SLOTS + slot("ts1", 900), ONE),
            ": … 'ts1' … occurs … 2",
        ),
        (
            document(SLOTS, ONE, header='TIME_UNITS="PAL-frames"'),
            ": … counts … 'PAL-frames'",
        ),
        (
            document("", tier("anna")),
            ": tier 'anna': … recording … 'a'",
        ),
    ],
)
def test_malformed(tmp_path, text, message):
    path = save(tmp_path / "a.eaf", text)
    with refused(bc.FormatError, f"{path}{message}"):
        bc.read(path, format="eaf", grid="10ms")


def test_a_member_of_an_archive_is_read():
    member = Source("x.zip/a.eaf", member=document(SLOTS, ONE).encode())
    reading = Reading(ReadOptions(grid="100ms"))
    assert corpus_of_files([Upload("x.zip", "x", [member])], reading).spans("x", "anna") == [
        (0, 6, "nod")
    ]


def test_identifiers_are_distinct_across_tiers(tmp_path):
    # An annotation that refers to 'a1' would not say which one it means.
    path = save(tmp_path / "a.eaf", document(SLOTS, ONE + ONE.replace("anna", "ben")))
    with refused(bc.FormatError, "annotation 'a1' … occurs … 2"):
        bc.read(path, format="eaf", grid="10ms")


# --- The oracle ---------------------------------------------------------------

values = st.text(st.sampled_from("aä😀 <&\n"), max_size=5)


@st.composite
def elan_documents(draw):
    """Time slots, some without a time, and tiers of both kinds of annotations."""
    times = draw(st.lists(st.none() | st.integers(0, 5000), min_size=2, max_size=6))
    slots = "".join(slot(f"ts{number}", time) for number, time in enumerate(times))
    pairs = st.tuples(*[st.integers(0, len(times) - 1)] * 2)
    keys = []
    tiers = []
    for name in draw(st.lists(st.sampled_from(["anna", "ben", "default"]), unique=True)):
        row = []
        for _ in range(draw(st.integers(0, 4))):
            key, value = f"a{len(keys) + 1}", escape(draw(values))
            if keys and draw(st.booleans()):
                previous = draw(st.none() | st.sampled_from(keys))
                row.append(referring(key, draw(st.sampled_from(keys)), value, previous))
            else:
                first, last = draw(pairs)
                row.append(aligned(key, f"ts{first}", f"ts{last}", value))
            keys.append(key)
        tiers.append(tier(name, *row))
    return document(slots, "".join(tiers))


@examples(200)
@given(elan_documents())
def test_pympi_reads_the_same(tmp_path_factory, content):
    path = save(tmp_path_factory.mktemp("eaf") / "a.eaf", content)
    theirs = Eaf(str(path), suppress_version_warning=True)
    root = ET.fromstring(content.encode())  # noqa: S314 - our own
    slots = eaf._slots(root, "x")
    assert {name: time and int(time * 1000) for name, time in slots.items()} == theirs.timeslots
    rows = {t.get("TIER_ID"): list(eaf._annotations(t, "x")) for t in root.findall("TIER")}
    assert list(rows) == list(theirs.tiers)
    for name, row in rows.items():
        alignable, references = theirs.tiers[name][:2]
        assert [(*one.ends, one.value) for one in row if len(one.ends) == 2] == [
            (first, last, value.strip()) for first, last, value, _ in alignable.values()
        ]
        assert [(*one.ends, one.value, one.previous) for one in row if len(one.ends) == 1] == [
            (parent, value.strip(), previous) for parent, value, previous, _ in references.values()
        ]


def test_an_archive(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.eaf", document(SLOTS, ONE))
    with refused(bc.FormatError, "a.zip: … XML"):
        bc.read(path, format="eaf", grid="10ms")


def test_no_grid(tmp_path):
    path = write(tmp_path / "a.eaf", anna=[(0, 600, "nod")])
    with refused(bc.OptionError, "grid"):
        bc.read(path, format="eaf")
