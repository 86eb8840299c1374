"""WebAnno TSV 3.x."""

import contextlib

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import webanno_tsv
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, assert_tells, refused

NE = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def tsv(*lines, layers=(f"SP={NE}|identifier|value",), version="3.3"):
    head = [f"#FORMAT=WebAnno TSV {version}", *(f"#T_{layer}" for layer in layers), "", ""]
    return "\n".join([*head, *lines]) + "\n"


def row(number, offsets, form, *cells):
    return "\t".join([number, offsets, form, *cells, ""])


PLAIN = tsv(
    "#Text=Ada met Bo Li .",
    row("1-1", "0-3", "Ada", "*", "PER"),
    row("1-2", "4-7", "met", "_", "_"),
    row("1-3", "8-10", "Bo", "*[1]", "PER[1]"),
    row("1-4", "11-13", "Li", "*[1]", "PER[1]"),
    row("1-5", "14-15", ".", "_", "_"),
    "",
    "#Text=Rome slept .",
    row("2-1", "16-20", "Rome", "*", "LOC"),
    row("2-2", "21-26", "slept", "_", "_"),
    row("2-3", "27-28", ".", "_", "_"),
)


def read(tmp_path, content, name="anna.tsv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return bc.read(path, format="webanno-tsv", **options)


def upload(*contents):
    sources = [Source(f"f{i}.tsv", member=c) for i, c in enumerate(contents)]
    return Upload("given", "anna", sources, is_folder=len(sources) > 1)


def refuses(tmp_path, content, message, **options):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(tmp_path, content, **options)
    assert_tells(caught.value, message.replace("FILE", str(tmp_path / "anna.tsv")))


def test_sentences_tokens_and_spans(tmp_path):
    corpus = read(tmp_path, PLAIN)
    assert (corpus.unit, corpus.positions) == ("sentence", "tokens")
    assert corpus.annotators == ("anna",)
    assert corpus.documents == ("1",)
    assert corpus.texts == ("Ada met Bo Li .", "Rome slept .")
    assert corpus.text_length.tolist() == [5, 3]
    assert corpus.span_text.tolist() == [0, 0, 1]
    assert list(zip(corpus.span_start.tolist(), corpus.span_end.tolist(), strict=True)) == [
        (0, 1),
        (2, 4),
        (0, 1),
    ]
    assert corpus.labels == ("LOC", "PER")
    assert dict(corpus.skipped) == {}
    assert_notes(corpus.notes, f"anna.tsv: … {NE!r} … feature … 'value'")
    assert corpus.options["layer"] == NE
    assert corpus.options["feature"] == "value"


def test_characters_of_the_whole_document(tmp_path):
    corpus = read(tmp_path, PLAIN, unit="document", positions="characters")
    assert corpus.texts == ("Ada met Bo Li .\nRome slept .",)
    assert corpus.spans("1", "anna") == [(0, 3, "PER"), (8, 13, "PER"), (16, 20, "LOC")]


@each("version", ["3", "3.0", "3.1", "3.2", "3.3"])
def test_versions(tmp_path, version):
    assert len(read(tmp_path, PLAIN.replace("3.3", version)).span_start) == 3


@each("content", [PLAIN.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + PLAIN.encode()])
def test_line_ends_and_byte_order_mark(tmp_path, content):
    assert read(tmp_path, content).texts == ("Ada met Bo Li .", "Rome slept .")


def test_lines_without_the_last_tab(tmp_path):
    assert len(read(tmp_path, PLAIN.replace("\t\n", "\n")).span_start) == 3


def test_stacked_spans_and_spans_over_sentences(tmp_path):
    content = tsv(
        "#Sentence.id=s1",
        "#Text=Go on",
        row("1-1", "0-2", "Go", "A[1]|B[2]"),
        row("1-2", "3-5", "on", "A[1]|C"),
        "",
        "#Text=now",
        row("2-1", "7-10", "now", "A[1]"),
        layers=("SP=my.Mood|tone",),
    )
    corpus = read(tmp_path, content, unit="document", positions="characters")
    assert corpus.texts == ("Go on\n now",)
    assert sorted(corpus.spans("1", "anna")) == [(0, 2, "B"), (0, 10, "A"), (3, 5, "C")]
    refuses(
        tmp_path,
        content,
        "FILE:7: … [0, 10) … 'A' … within … unit='document'",
    )


def test_parts_of_tokens(tmp_path):
    content = tsv(
        "#Text=snowball fight",
        row("1-1", "0-8", "snowball", "_"),
        row("1-1.1", "0-4", "snow", "A"),
        row("1-1.2", "4-8", "ball", "B[1]"),
        row("1-2", "9-14", "fight", "B[1]"),
        layers=("SP=my.Part|value",),
    )
    corpus = read(tmp_path, content, positions="characters")
    assert corpus.spans("1", "anna") == [(0, 4, "A"), (4, 14, "B")]
    corpus = read(tmp_path, content)
    assert corpus.spans("1", "anna") == [(0, 1, "A"), (0, 2, "B")]
    assert corpus.skipped == {"spans widened to whole tokens": 2}


def test_empty_parts_are_refused_or_skipped(tmp_path):
    content = tsv(
        "#Text=a b",
        row("1-1", "0-1", "a", "_"),
        row("1-1.1", "1-1", "", "X"),
        row("1-2", "2-3", "b", "Y"),
        layers=("SP=my.Part|value",),
    )
    refuses(
        tmp_path,
        content,
        "FILE:7: … [1, 1) … 'X' … empty … zero_length='skip'",
    )
    corpus = read(tmp_path, content, zero_length="skip")
    assert corpus.spans("1", "anna") == [(1, 2, "Y")]
    assert corpus.skipped == {"empty spans left out": 1}


def test_utf16_offsets(tmp_path):
    content = tsv(
        "#Text=😀 Bo 👍🏽 Li",
        row("1-1", "0-2", "😀", "_"),
        row("1-2", "3-5", "Bo", "PER"),
        row("1-3", "6-10", "👍🏽", "GOOD"),
        row("1-4", "11-13", "Li", "PER"),
        "",
        "#Text=Ann",
        row("2-1", "14-17", "Ann", "PER"),
        layers=("SP=my.Part|value",),
    )
    corpus = read(tmp_path, content, unit="document", positions="characters")
    text = corpus.texts[0]
    assert [text[s.start : s.end] for s in corpus.spans("1", "anna")] == ["Bo", "👍🏽", "Li", "Ann"]
    assert corpus.spans("1", "anna")[0] == (2, 4, "PER")
    refuses(
        tmp_path,
        content,
        "FILE:6: … [0, 2) … covers … '😀 ' … '😀' … offsets='utf16'",
        offsets="codepoints",
    )


def test_code_point_offsets_by_option(tmp_path):
    content = tsv(
        "#Text=😀 Bo",
        row("1-1", "0-1", "😀", "_"),
        row("1-2", "2-4", "Bo", "PER"),
        layers=("SP=my.Part|value",),
    )
    refuses(
        tmp_path,
        content,
        "FILE:6: … [0, 1) … sentence … '😀' … offsets='codepoints'",
    )
    corpus = read(tmp_path, content, offsets="codepoints", positions="characters")
    assert corpus.spans("1", "anna") == [(2, 4, "PER")]


def test_escapes(tmp_path):
    content = tsv(
        r"#Text=a\\b c\td",
        row("1-1", "0-3", r"a\\b", r"x\|y\_z\[1\]|\*\->[3]"),
        row("1-2", "4-5", "c", "_"),
        row("1-3", "6-7", "d", r"\_"),
        layers=("SP=my.Part|value",),
    )
    corpus = read(tmp_path, content, positions="characters")
    assert corpus.texts == ("a\\b c\td",)
    assert sorted(corpus.spans("1", "anna")) == [
        (0, 3, "*->"),
        (0, 3, "x|y_z[1]"),
        (6, 7, "_"),
    ]


def test_text_over_several_lines_and_leading_space(tmp_path):
    content = tsv(
        "#Text= a",
        "#Text=b",
        row("1-1", "1-2", "a", "X"),
        row("1-2", "3-4", "b", "_"),
        layers=("SP=my.Part|value",),
    )
    corpus = read(tmp_path, content, unit="document", positions="characters")
    assert corpus.texts == (" a\nb",)
    assert corpus.spans("1", "anna") == [(1, 2, "X")]


def test_relations_chains_slots_and_other_layers_are_counted(tmp_path):
    content = tsv(
        "#Text=a b c",
        row("1-1", "0-1", "a", "*", "X", "nam->1-1", "*->1-1", "dep", "1-2", "r1", "1-2"),
        row("1-2", "2-3", "b", "_", "_", "nam->1-1", "*->1-1", "_", "_", "_", "_"),
        row("1-3", "4-5", "c", "*", "Y", "nam->1-2", "_", "dep|obj", "1-1|1-2", "*", "_"),
        layers=(
            f"SP={NE}|identifier|value",
            "CH=my.CorefLink|referenceType|referenceRelation",
            "RL=my.Rel|kind|BT_my.Part",
            "SP=my.Host|ROLE_my.Host:links_my.Link|my.Part",
        ),
    )
    corpus = read(tmp_path, content)
    assert corpus.spans("1", "anna") == [(0, 1, "X"), (2, 3, "Y")]
    assert corpus.skipped == {
        "chain links ignored": 2,
        "relations ignored": 3,
        "slots ignored": 1,
        "annotations of other layers ignored": 2,
    }
    corpus = read(tmp_path, content, layer="Host")
    assert corpus.spans("1", "anna") == [(0, 1, "Host"), (2, 3, "Host")]


def test_annotations_without_a_value(tmp_path):
    lines = [
        "#Text=a b",
        row("1-1", "0-1", "a", "*"),
        row("1-2", "2-3", "b", "X"),
    ]
    corpus = read(tmp_path, tsv(*lines, layers=("SP=my.Part|value",)))
    assert corpus.spans("1", "anna") == [(1, 2, "X")]
    assert corpus.skipped == {"annotations without a label": 1}
    lines[2] = row("1-2", "2-3", "b", "*")
    for layer in ("my.Part|value", "my.Part|", "my.Part"):
        corpus = read(tmp_path, tsv(*lines, layers=(f"SP={layer}",)))
        assert corpus.spans("1", "anna") == [(0, 1, "Part"), (1, 2, "Part")]
        assert_notes(corpus.notes, "anna.tsv: … 'my.Part' … labelled … 'Part'")


def test_layer_and_feature_options(tmp_path):
    content = tsv(
        "#Text=a",
        row("1-1", "0-1", "a", "P", "Q", "R"),
        layers=("SP=my.One|x|y", "SP=my.Two|z"),
    )
    refuses(
        tmp_path,
        content,
        "FILE: … layers … 'my.One' … 'my.Two' … layer=NAME",
    )
    refuses(
        tmp_path,
        content,
        "FILE: … 'my.One' … features … 'x' … 'y' … feature=NAME",
        layer="my.One",
    )
    refuses(
        tmp_path,
        content,
        "FILE: … 'my.One' … feature … 'z' … 'x' … 'y'",
        layer="One",
        feature="z",
    )
    assert read(tmp_path, content, layer="One", feature="y").labels == ("Q",)
    assert read(tmp_path, content, layer="my.Two").labels == ("R",)
    missing = read(tmp_path, content, layer="Three")
    assert missing.spans("1", "anna") == []
    assert_notes(missing.notes, "anna.tsv: … layer … 'Three' … 'my.One' … 'my.Two'")
    twice = content.replace("my.Two", "your.One")
    refuses(
        tmp_path,
        twice,
        "FILE: … layers … 'my.One' … 'your.One' … full name … layer=NAME",
        layer="One",
    )


def test_the_layer_that_a_pipeline_made_is_not_meant(tmp_path):
    content = tsv(
        "#Text=a", row("1-1", "0-1", "a", "NN", "R"), layers=("SP=x.POS|PosValue", "SP=my.Two|z")
    )
    assert read(tmp_path, content).labels == ("R",)


def test_two_annotators_one_of_whom_marked_nothing(tmp_path):
    (tmp_path / "anna.tsv").write_text(PLAIN)
    (tmp_path / "ben.tsv").write_text(tsv("#Text=Rome", row("1-1", "0-4", "Rome"), layers=()))
    one = tsv("#Text=Rome", row("1-1", "0-4", "Rome", "_", "LOC"))
    (tmp_path / "anna.tsv").write_text(one)
    corpus = bc.read(tmp_path / "anna.tsv", tmp_path / "ben.tsv", format="webanno-tsv")
    assert corpus.annotators_of("1") == ("anna", "ben")
    assert corpus.spans("1", "anna") == [(0, 1, "LOC")]
    assert corpus.spans("1", "ben") == []


def test_layers_that_differ_between_annotators_are_refused(tmp_path):
    for name, layer in (("anna", "my.One"), ("ben", "my.Two")):
        (tmp_path / f"{name}.tsv").write_text(
            tsv("#Text=a", row("1-1", "0-1", "a", "X"), layers=(f"SP={layer}|value",))
        )
    with refused(
        bc.FormatError, f"{tmp_path / 'ben.tsv'}: … read … 'my.Two' … 'my.One' … layer=NAME"
    ):
        bc.read(tmp_path / "anna.tsv", tmp_path / "ben.tsv", format="webanno-tsv")


def test_folder(tmp_path):
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "d1.tsv").write_text(PLAIN)
    (folder / "d2.tsv").write_text(PLAIN)
    (folder / "notes.md").write_text("hello")
    corpus = bc.read(folder, format="webanno-tsv", folder="documents")
    assert corpus.documents == ("d1", "d2")
    assert corpus.annotators == ("anna",)
    assert corpus.skipped == {"files of other formats ignored": 1}
    (folder / "d1.tsv").unlink()
    (folder / "d2.tsv").unlink()
    with refused(bc.FormatError, f"{folder}: … file … '#FORMAT=WebAnno TSV 3'"):
        bc.read(folder, format="webanno-tsv")


GOOD = row("1-1", "0-1", "a", "X")
ONE = ("SP=my.Part|value",)


@each(
    ("content", "message"),
    [
        (
            b"",
            "FILE:1: … empty … '#FORMAT=WebAnno TSV 3.0' … 3.3 … 3.3",
        ),
        (
            " # x.POS | PosValue\n#id=1\n",
            "FILE:1: … ' # x.POS | PosValue' … '#FORMAT=WebAnno TSV 3.0' … 3.3 … document … 3.3",
        ),
        (
            tsv(GOOD, version="3.7"),
            (
                "FILE:1: … '#FORMAT=WebAnno TSV 3.7' … "
                "'#FORMAT=WebAnno TSV 3.0' … 3.3 … document … 3.3"
            ),
        ),
        (tsv("#Text=a", layers=ONE), "FILE: … tokens"),
        (tsv("#Text=a", GOOD, "#T_SP=late|x", layers=ONE), "FILE:7: … late … sentence … layers"),
        (
            tsv(GOOD, layers=ONE),
            "FILE:5: … any … '#Text='",
        ),
        (
            tsv("#Text=a", GOOD, layers=("XX=my.Part|value",)),
            "FILE:2: … '#T_XX=my.Part|value' … '#T_SP=' … '#T_CH=' … '#T_RL=' … features",
        ),
        (
            tsv("#Text=a", GOOD, layers=(*ONE, *ONE)),
            "FILE:3: … 'my.Part' … declared",
        ),
        (
            tsv("#Text=a", row("1-1", "0-1", "a", "X", "Y"), layers=ONE),
            "FILE:6: … 6 … columns … 4",
        ),
        (
            tsv("#Text=a", row("one", "0-1", "a", "X"), layers=ONE),
            "FILE:6: … 'one' … '0-1' … number … 1 … 2 … 4 … 9",
        ),
        (
            tsv("#Text=a", row("1-1", "1-0", "a", "X"), layers=ONE),
            "FILE:6: … '1-0' … offsets",
        ),
        (
            tsv("#Text=a", row("1-1", "0-1", "b", "X"), layers=ONE),
            "FILE:6: … token 'b' … text … 5",
        ),
        (
            tsv("#Text=a b", GOOD, row("1-2", "1-2", "b", "X"), layers=ONE),
            "FILE:7: … [1, 2) … covers … ' ' … 'b'",
        ),
        (
            tsv(
                "#Text=a a", row("1-1", "0-3", "a a", "X"), row("1-2", "2-3", "a", "X"), layers=ONE
            ),
            "FILE:7: … token 'a' … 2 … ends … 3",
        ),
        (
            tsv("#Text=a", GOOD, "", "#Text=b", row("2-1", "0-1", "b", "X"), layers=ONE),
            "FILE:9: … 0 … text … 1",
        ),
        (
            tsv("#Text=a", row("1-1", "9999999998-9999999999", "a", "X"), layers=ONE),
            "FILE:6: … 9999999998 … text … 0",
        ),
        (
            tsv(
                "#Text=a b",
                row("1-1", "0-1", "a", "X[1]"),
                row("1-2", "2-3", "b", "Y[1]"),
                layers=ONE,
            ),
            "FILE:7: … 1 … 'my.Part' … values … 6",
        ),
        (
            tsv(
                "#Text=a b c",
                row("1-1", "0-1", "a", "X[1]"),
                row("1-2", "2-3", "b", "_"),
                row("1-3", "4-5", "c", "X[1]"),
                layers=ONE,
            ),
            "FILE:8: … 1 … 'my.Part' … goes",
        ),
        (PLAIN.encode() + b"\xff", "FILE:16: … byte … 0xff … UTF-8 … UTF-8"),
        (
            PLAIN.encode() + b"\0",
            "FILE:16: … NUL … character … UTF-16",
        ),
    ],
)
def test_malformed(tmp_path, content, message):
    refuses(tmp_path, content, message)


def test_sentences_without_tokens_are_counted(tmp_path):
    corpus = read(tmp_path, tsv("#Text=x", "", "#Text=a", row("1-1", "2-3", "a", "X"), layers=ONE))
    assert corpus.skipped == {"sentences without tokens left out": 1}


def test_is_format():
    assert webanno_tsv.is_format(upload(PLAIN.encode()))
    assert webanno_tsv.is_format(upload(b"\xef\xbb\xbf" + PLAIN.encode()))
    assert webanno_tsv.is_format(upload(b"hello", PLAIN.encode()))
    for other in (
        b"",
        b"PK\x03\x04",
        b"\xff\xfe\x00",
        b'{"text": "a", "label": [[0, 1, "X"]]}\n',
        b"document\tannotator\tstart\tend\tlabel\n",
        b"a\tB-PER\n",
        b"T1\tPER 0 1\ta\n",
        b" # x.POS | PosValue\n",
    ):
        assert not webanno_tsv.is_format(upload(other))
    assert not webanno_tsv.is_format(Upload("x", "x", [Source("x", member=b"")], data=[1]))


SEEDS = [
    PLAIN.encode(),
    tsv(
        r"#Text=a\\😀 b",
        row("1-1", "0-4", r"a\\😀", r"x\|y[1]|z", "*[1]|_", "nam->1-1", "r"),
        row("1-1.1", "0-1", "a", "_", "_", "_", "_"),
        row("1-2", "5-6", "b", r"x\|y[1]", "*[1]", "_", "_"),
        layers=(f"SP={NE}|value|identifier", "CH=my.C|t", "SP=my.H|ROLE_x"),
    ).encode(),
]
PIECES = st.sampled_from([b"\t", b"\n", b"|", b"[1]", b"-", b"_", b"\\", b"*", b"#Text=", b"9"])


@st.composite
def mutated(draw):
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        data = data[:start] + draw(PIECES | st.binary(max_size=4)) + data[end:]
    return data


@pytest.mark.slow
@examples(160)
@given(mutated() | st.binary(max_size=200))
def test_nothing_but_our_errors(data):
    given_upload = upload(data)
    webanno_tsv.is_format(given_upload)
    reading = Reading(ReadOptions(zero_length="skip"))
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            webanno_tsv.read([given_upload], reading), reading, unit="document", positions="tokens"
        )
