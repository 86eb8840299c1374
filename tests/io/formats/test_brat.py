"""brat: pairs of files, fragments, everything that is no span, and files that are wrong."""

import io
from contextlib import suppress

import pytest
from bioc import brat as bioc_brat
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import brat
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

#       0         1         2          3         4         5
#       0123456789012345678901 234567890123456789012345678901
TEXT = "Mira Holt met the old\nmayor of Lund in a small boat."
ANN = """\
T1\tPER 0 9\tMira Holt
T2\tPER 18 21;22 27\told mayor
T3\tLOC 31 35\tLund
R1\tlives-in Arg1:T2 Arg2:T3
E1\tMeeting:T4 Who:T1
T4\tMeeting 10 13\tmet
A1\tNegated E1
M1\tSure T1
N1\tReference T3 Gaz:17\tLund
#1\tAnnotatorNotes T1\tthe same Mira?
*\tAlias T1 T2
"""
GAP = "T1\tBOAT 14 17;47 51\tthe boat\n"


def folder(path, **files):
    """Write ``name_ann="..."`` as ``name.ann``."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        target = path / ".".join(name.rsplit("_", 1))
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def spans(corpus, document, annotator):
    return [tuple(span) for span in corpus.spans(document, annotator)]


def read_one(tmp_path, ann, text=TEXT, **options):
    return bc.read(folder(tmp_path / "anna", d_ann=ann, d_txt=text), format="brat", **options)


def test_folders_are_annotators(tmp_path):
    anna = folder(tmp_path / "anna", d1_ann=ANN, d1_txt=TEXT, d2_txt="Nothing here.")
    ben = folder(
        tmp_path / "ben",
        d1_ann="T9\tLOC 31 35\tLund\n",
        d1_txt=TEXT,
        d2_ann="",
        d2_txt="Nothing here.",
        annotation_conf="[entities]",
    )
    corpus = bc.read(anna, ben, format="brat")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.documents == ("d1", "d2")
    assert corpus.annotators_of("d1") == ("anna", "ben")
    assert corpus.annotators_of("d2") == ("ben",)
    assert spans(corpus, "d1", "anna") == [
        (0, 9, "PER"),
        (10, 13, "Meeting"),
        (18, 27, "PER"),
        (31, 35, "LOC"),
    ]
    assert spans(corpus, "d1", "ben") == [(31, 35, "LOC")]
    assert spans(corpus, "d2", "ben") == []
    assert (corpus.unit, corpus.positions) == ("document", "characters")
    assert corpus.texts == (TEXT, "Nothing here.")
    assert corpus.skipped == {
        "relations ignored": 1,
        "events ignored": 1,
        "attributes ignored": 1,
        "normalizations ignored": 1,
        "notes ignored": 1,
        "equivalences ignored": 1,
        "texts without .ann left out as not annotated": 1,
        "other files ignored": 1,
    }
    assert_notes(corpus.notes, f"{ben.name}: … 1 … .ann … annotated … empty='missing'")
    assert [item.name for item in corpus.inputs if item.name.endswith(".ann")] == [
        f"{anna.name}/d1.ann",
        f"{ben.name}/d1.ann",
        f"{ben.name}/d2.ann",
    ]


def test_folder_of_folders(tmp_path):
    folder(tmp_path / "all" / "anna", d_ann="T1\tPER 0 4\tMira\n", d_txt=TEXT)
    folder(tmp_path / "all" / "ben", d_ann="", d_txt=TEXT)
    folder(tmp_path / "all" / "ben" / "more", e_ann="", e_txt="Ah.")
    folder(tmp_path / "all", visual_conf="")
    corpus = bc.read(tmp_path / "all", format="brat", empty="annotated")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.documents == ("d", "more/e")
    assert spans(corpus, "d", "anna") == [(0, 4, "PER")]
    assert corpus.annotators_of("more/e") == ("ben",)
    assert_tells(corpus.notes[0], "all: … folders … 'anna' … 'ben'")


def test_folder_below_a_folder_with_annotations(tmp_path):
    folder(tmp_path / "anna", d_ann="", d_txt=TEXT)
    folder(tmp_path / "anna" / "batch.2", e_ann="", e_txt="Ah.")
    corpus = bc.read(tmp_path / "anna", format="brat")
    assert corpus.annotators == ("anna",)
    assert corpus.documents == ("d", "batch.2/e")


def test_folder_given_relative_to_here(tmp_path, monkeypatch):
    for name in ("anna", "ben"):
        folder(tmp_path / name, d_ann="", d_txt=TEXT)
    monkeypatch.chdir(tmp_path)
    assert bc.read("./anna", "ben/", format="brat").annotators_of("d") == ("anna", "ben")
    assert bc.read(".", format="brat").annotators_of("d") == ("anna", "ben")


def test_single_file_with_its_text(tmp_path):
    folder(tmp_path, anna_ann="T1\tPER 0 4\tMira\n", anna_txt=TEXT, ben_ann="", ben_txt=TEXT)
    corpus = bc.read(tmp_path / "anna.ann", tmp_path / "ben.ann", format="brat")
    assert corpus.annotators_of("1") == ("anna", "ben")
    assert spans(corpus, "1", "anna") == [(0, 4, "PER")]


def test_empty_file_as_missing(tmp_path):
    anna = folder(
        tmp_path / "anna", d_ann=" \r\n", d_txt=TEXT, e_ann="#1\tNote T0\tseen\n", e_txt="Ah."
    )
    corpus = bc.read(anna, format="brat", empty="missing")
    assert corpus.documents == ("e",)
    assert corpus.skipped == {
        "notes ignored": 1,
        "empty .ann files left out as not annotated": 1,
    }
    assert corpus.options == {"empty": "missing"}
    assert corpus.notes == ()


# --- Fragments ----------------------------------------------------------------


@each("gap", ["\n", "\r\n", " \n ", "\n\n", "\r"])
def test_gap_of_line_breaks_is_joined(tmp_path, gap):
    text = f"an old{gap}boat"
    ann = f"T1\tBOAT 3 6;{6 + len(gap)} {10 + len(gap)}\told boat\n"
    corpus = read_one(tmp_path, ann, text)
    assert spans(corpus, "d", "anna") == [(3, 10 + len(gap), "BOAT")]
    assert corpus.skipped == {}


@each("gap", ["", " ", "  ", "\n-\n"])
def test_other_gaps_are_not(tmp_path, gap):
    text = f"an old{gap}boat"
    ann = f"T1\tBOAT 3 6;{6 + len(gap)} {10 + len(gap)}\told boat\n"
    corpus = read_one(tmp_path, ann, text, discontinuous="split")
    assert len(spans(corpus, "d", "anna")) == 2


def test_discontinuous_refused(tmp_path):
    with refused(
        bc.SpanError,
        f"{tmp_path / 'anna' / 'd.ann'}:2: … 'BOAT' … 2 … fragments … "
        "discontinuous='join' … discontinuous='split'",
    ):
        read_one(tmp_path, "\n" + GAP, strict="discontinuous")
    # Who says how to read them has chosen.
    for how in ("split", "join"):
        read_one(tmp_path, GAP, strict="discontinuous", discontinuous=how)


def test_discontinuous(tmp_path):
    for strict in (False, True):
        corpus = read_one(tmp_path, GAP + "T2\tPER 0 4\tMira\n", strict=strict)
        assert [corpus.parts(i) for i in range(2)] == [[(14, 17), (47, 51)], [(0, 4)]]
        assert spans(corpus, "d", "anna") == [(0, 4, "PER"), (14, 51, "BOAT")]
        assert corpus.skipped == {"discontinuous spans kept": 1}
        assert corpus.options == {"discontinuous": "keep"}
    plain = read_one(tmp_path, "T2\tPER 0 4\tMira\n")
    assert (plain.span_motif, plain.skipped, plain.options) == (None, {}, {})


def test_parts_count_tokens(tmp_path):
    # The first two have nothing but a space between them, and one cuts a token.
    ann = "T1\tBOAT 0 4;5 9;47 50\tMira Holt boa\n"
    corpus = read_one(tmp_path, ann, positions="tokens")
    assert corpus.parts(0) == [(0, 2), (11, 12)]
    assert corpus.skipped["spans widened to whole tokens"] == 1
    # Two cut one token: there is no gap.
    corpus = read_one(tmp_path, "T1\tPER 0 2;3 4\tMi a\n", positions="tokens")
    assert (corpus.parts(0), corpus.span_motif) == ([(0, 1)], None)


def test_parts_that_lines_break_are_one(tmp_path):
    ann = "T1\tPER 18 21;22 27;31 35\told mayor Lund\n"
    assert read_one(tmp_path, ann).parts(0) == [(18, 27), (31, 35)]


def test_a_span_marked_twice_with_parts(tmp_path):
    again = GAP.replace("T1", "T2")
    other = "T3\tBOAT 14 21;47 51\tthe old boat\n"
    corpus = read_one(tmp_path, GAP + again + other)
    assert [corpus.parts(i) for i in range(2)] == [[(14, 17), (47, 51)], [(14, 21), (47, 51)]]
    assert corpus.skipped["spans marked twice, second left out"] == 1
    assert corpus.span_id == ("T1", "T3")


def test_discontinuous_split(tmp_path):
    corpus = read_one(tmp_path, GAP, discontinuous="split")
    assert spans(corpus, "d", "anna") == [(14, 17, "BOAT"), (47, 51, "BOAT")]
    assert corpus.skipped == {"discontinuous spans split": 1}
    assert corpus.options == {"discontinuous": "split"}


def test_discontinuous_join(tmp_path):
    corpus = read_one(tmp_path, GAP, discontinuous="join")
    assert spans(corpus, "d", "anna") == [(14, 51, "BOAT")]
    assert corpus.skipped == {"discontinuous spans joined": 1}


def test_fragments_in_any_order(tmp_path):
    ann = "T1\tBOAT 47 51;14 17\tboat the\n"
    for how, expected in [("split", [(14, 17), (47, 51)]), ("join", [(14, 51)])]:
        corpus = read_one(tmp_path, ann, discontinuous=how)
        assert spans(corpus, "d", "anna") == [(*place, "BOAT") for place in expected]


def test_fragments_that_count_utf16(tmp_path):
    text = "\N{GRINNING FACE}\N{GRINNING FACE} an old\nboat"
    ann = "T1\tBOAT 8 11;12 16\told boat\n"
    assert spans(read_one(tmp_path, ann, text, offsets="utf16"), "d", "anna") == [(6, 14, "BOAT")]


# --- Encodings ----------------------------------------------------------------


def test_line_ends(tmp_path):
    text = "One.\r\nTwo."
    corpus = read_one(tmp_path, "T1\tN 0 3\tOne\r\nT2\tN 6 9\tTwo\r\n\r\nT3\tW 0 9\tOne. Two", text)
    assert spans(corpus, "d", "anna") == [(0, 3, "N"), (0, 9, "W"), (6, 9, "N")]
    assert corpus.texts == (text,)


def test_separators_that_only_look_like_line_ends_stay_in_the_line(tmp_path):
    corpus = read_one(tmp_path, "T1\tN 0 5\ta\u2028b\x85c\n", "a\u2028b\x85c")
    assert spans(corpus, "d", "anna") == [(0, 5, "N")]


def test_code_points(tmp_path):
    text = "\N{GRINNING FACE} Ada"
    assert spans(read_one(tmp_path, "T1\tPER 2 5\tAda\n", text), "d", "anna") == [(2, 5, "PER")]
    with refused(bc.SpanError, "pass … offsets='utf16'"):
        read_one(tmp_path, "T1\tPER 3 6\tAda\n", text)


@each("start", [4, 5])
def test_byte_order_mark_counted_or_not(tmp_path, start):
    ann = f"\ufeffT1\tLOC {start} {start + 4}\tLund\n"
    corpus = read_one(tmp_path, ann, "\ufeffIn: Lund")
    assert spans(corpus, "d", "anna") == [(4, 8, "LOC")]


def test_utf16_files(tmp_path):
    corpus = read_one(tmp_path, "T1\tPER 0 4\tMira\n".encode("utf-16"), TEXT.encode("utf-16"))
    assert spans(corpus, "d", "anna") == [(0, 4, "PER")]


# --- Wrong --------------------------------------------------------------------


@each(
    ("ann", "text", "message"),
    [
        (
            "T1\tPER 0 9\n",
            TEXT,
            ":1: … 'T1\\tPER 0 9' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "\nT1 PER 0 9 Mira Holt\n",
            TEXT,
            ":2: … 'T1 PER 0 9 Mira Holt' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "T1\tPER -1 9\tMira\n",
            TEXT,
            ":1: … 'T1\\tPER -1 9\\tMira' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "T1\tPER 0 9;\tMira\n",
            TEXT,
            ":1: … 'T1\\tPER 0 9;\\tMira' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "T1\tPER 0 ٩\tMira Holt\n",
            TEXT,
            ":1: … 'T1\\tPER 0 ٩\\tMira Holt' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "X1\tPER 0 9\tMira Holt\n",
            TEXT,
            ":1: … 'X1\\tPER 0 9\\tMira Holt' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "x" * 99,
            TEXT,
            f":1: … '{'x' * 46}...{'x' * 29}' … 'T1<TAB>LABEL START END<TAB>WORDS' … another",
        ),
        (
            "T1\tPER 0 4\tMira\n\nT1\tPER 5 9\tHolt\n",
            TEXT,
            ":3: … 'T1' … used … 1",
        ),
        (
            "T1\tPER 0 4\tHolt\n",
            TEXT,
            ":1: … [0, 4) … 'PER' … covers … 'Mira' … 'Holt'",
        ),
        (
            "T1\tPER 0 99\tMira\n",
            TEXT,
            ":1: … [0, 99) … 'PER' … 52 … characters",
        ),
        (
            "T1\tPER 0 4;90 99\tMira Holt\n",
            TEXT,
            ":1: … [90, 99) … 'PER' … 52 … characters",
        ),
        (
            "T1\tPER 4 4\t\n",
            TEXT,
            ":1: … [4, 4) … 'PER' … empty … zero_length='skip'",
        ),
        (
            "T1\tPER 0 4;3 9\tMira a Holt\n",
            TEXT,
            ":1: … 'PER' … overlap",
        ),
        (
            "T1\tPER 18 21;22 27\told boat\n",
            TEXT,
            ":1: … 'PER' … cover … 'old mayor' … 'old boat'",
        ),
        (b"T1\tPER 0 4\tM\xffra\n", TEXT, ":1: … byte … 0xff … UTF-8 … UTF-8"),
        (
            "\nT1\tPER 0 4\tMi\0a\n",
            TEXT,
            ":2: … contains … NUL … UTF-16",
        ),
    ],
)
def test_malformed_annotations(tmp_path, ann, text, message):
    with pytest.raises(bc.DataError) as caught:
        read_one(tmp_path, ann, text)
    assert_tells(caught.value, f"{tmp_path / 'anna' / 'd.ann'}{message}")


def test_malformed_text(tmp_path):
    with refused(bc.FormatError, f"{tmp_path / 'anna' / 'd.txt'}:2: … byte … 0xe9 … UTF-8 … UTF-8"):
        read_one(tmp_path, "", b"\nM\xe9re")


def test_annotations_without_text(tmp_path):
    anna = folder(tmp_path / "anna", d_ann=ANN)
    message = f"{anna / 'd.ann'}: … missing … d.txt"
    for path in (anna, anna / "d.ann"):
        with refused(bc.FormatError, message):
            bc.read(path, format="brat")


def test_folder_without_annotations(tmp_path):
    with refused(bc.FormatError, f"{tmp_path / 'anna'}: … .ann … .txt … folder"):
        bc.read(folder(tmp_path / "anna", d_txt=TEXT), format="brat")


def test_file_that_is_no_annotation(tmp_path):
    folder(tmp_path, d_txt=TEXT)
    with refused(bc.FormatError, f"{tmp_path / 'd.txt'}: … .ann … file … .txt"):
        bc.read(tmp_path / "d.txt", format="brat")


def test_link_that_leads_away(tmp_path):
    folder(tmp_path, secret_txt=TEXT)
    anna = folder(tmp_path / "anna", d_ann="")
    (anna / "d.txt").symlink_to(tmp_path / "secret.txt")
    for path in (anna, anna / "d.ann"):
        with refused(bc.FormatError, "leads"):
            bc.read(path, format="brat")


def test_texts_that_differ(tmp_path):
    anna = folder(tmp_path / "anna", d_ann="", d_txt=TEXT)
    ben = folder(tmp_path / "ben", d_ann="", d_txt=TEXT.replace("Lund", "Rome"))
    with refused(bc.MismatchError, "character … 31"):
        bc.read(anna, ben, format="brat")


# --- Telling it from others ---------------------------------------------------


def upload(is_folder=False, **files):
    sources = [
        Source(f"x/{'.'.join(name.rsplit('_', 1))}", member=content.encode())
        for name, content in files.items()
    ]
    return Upload("x", "x", sources, is_folder=is_folder)


@each("line", ANN.splitlines())
def test_is_format(line):
    assert brat.is_format(upload(a_ann=f"\n{line}\r\n"))
    assert brat.is_format(upload(is_folder=True, a_txt="", a_ann="", b_ann=line))


def test_is_format_of_empty_annotations(tmp_path):
    assert brat.is_format(upload(is_folder=True, a_txt="Ah.", a_ann=""))
    assert not brat.is_format(upload(is_folder=True, b_txt="Ah.", a_ann=""))
    assert not brat.is_format(upload(a_ann=""))
    anna = folder(tmp_path, a_ann="", a_txt="Ah.") / "a.ann"
    assert brat.is_format(Upload("a.ann", "a", [Source("a.ann", path=anna)]))


@each(
    "content",
    [
        "Mira\tB-PER\nHolt\tI-PER\n",
        "T1\tB-PER\n",
        "# newdoc id = 1\n1\tMira\t_\n",
        "#FORMAT=WebAnno TSV 3.3\n",
        "document\tannotator\tstart\tend\tlabel\n1\ta\t0\t4\tPER\n",
        '{"text": "Mira", "label": [[0, 4, "PER"]]}\n',
        "SPEAKER d 1 0.0 1.0 <NA> <NA> a <NA> <NA>\n",
        "<?xml version='1.0'?><a/>",
        TEXT,
        "\0\0",
        "",
    ],
)
def test_is_not_format(content):
    for name in ("a_ann", "a_txt", "a_tsv"):
        assert not brat.is_format(upload(**{name: content}))
    assert not brat.is_format(upload(is_folder=True, a_tsv=content, a_txt=content))


# --- Another reader, and any input ---------------------------------------------


@each("ann", [ANN, GAP, ANN.replace("T2", "T7") + GAP.replace("T1", "T12")])
def test_same_as_bioc(ann):
    theirs = bioc_brat.load_ann(io.StringIO(ann))
    ours = list(brat._marked(Source("d.ann", member=ann.encode()), Reading(ReadOptions())))
    # The order of its fragments is not the file's.
    assert [(item.label, sorted(item.fragments), item.surface) for item in ours] == [
        (item.type, sorted((span.begin, span.end) for span in item.locations), item.text)
        for item in theirs.entities
    ]
    reading = Reading(ReadOptions(discontinuous="split"))
    list(brat.read([upload(is_folder=True, d_ann=ann, d_txt=TEXT)], reading))
    assert {kind: reading.skipped[f"{kind} ignored"] for kind in ("relations", "events")} == {
        "relations": len(list(theirs.relations)),
        "events": len(list(theirs.events)),
    }


edits = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 3), st.binary(max_size=4)), max_size=6
)
how = st.builds(
    ReadOptions,
    discontinuous=st.sampled_from(["keep", "split", "join"]),
    offsets=st.sampled_from([None, "utf16"]),
    positions=st.sampled_from(["characters", "tokens"]),
    zero_length=st.sampled_from(["error", "skip"]),
    empty=st.sampled_from(["annotated", "missing"]),
)


def edited(data, changes):
    for place, n_deleted, inserted in changes:
        at = place % (len(data) + 1)
        data = data[:at] + inserted + data[at + n_deleted :]
    return data


def survives(ann, text, options):
    sources = [Source("x/d.ann", member=ann), Source("x/d.txt", member=text)]
    given_files = Upload("x", "x", sources, is_folder=True)
    brat.is_format(given_files)
    reading = Reading(options)
    found = brat.read([given_files], reading)
    with suppress(bc.BeyondChanceError):
        assembled(found, reading, unit="document", positions="characters")


@given(edits, edits, how)
@examples(150)
def test_edited_files(in_ann, in_text, options):
    text = f"{TEXT} \N{GRINNING FACE}\n"
    survives(edited((ANN + GAP).encode(), in_ann), edited(text.encode(), in_text), options)


lines = st.lists(
    st.one_of(
        st.from_regex(r"T[0-9]\t[A-Z]? [0-9]{1,2} [0-9]{1,2}(;[0-9] [0-9]{1,20}){0,2}\t[a-z ]*"),
        st.text(max_size=20),
    ),
    max_size=5,
)


@pytest.mark.slow
@given(lines, st.text(max_size=30), how)
@examples(150)
def test_invented_lines(found, text, options):
    survives("\n".join(found).encode(), text.encode(), options)


@given(st.binary(max_size=200), st.binary(max_size=50), how)
@examples(150)
def test_any_bytes(ann, text, options):
    survives(ann, text, options)


def test_folders_of_one_annotator(tmp_path, monkeypatch):
    """A name given with a folder is that of the annotator; its folders belong to documents."""
    monkeypatch.chdir(tmp_path)
    for who, end in (("anna", 3), ("ben", 7)):
        for place in ("r1", "r2"):
            folder(
                tmp_path / who / place,
                d_ann=f"T1\tX 0 {end}\t{'Ada met'[:end]}\n",
                d_txt="Ada met Bo",
            )
    named = bc.corpus({"anna": "anna", "ben": "ben"})
    assert named.annotators == ("anna", "ben")
    assert sorted(named.documents) == ["r1/d", "r2/d"]
    assert bc.read("anna").annotators == ("r1", "r2")
