import pytest

import beyondchance as bc
from beyondchance.io.formats.rttm import is_format
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from refusals import assert_tells, refused

ANNA = """\
;; who spoke when
SPEAKER talk 1 0.00 1.25 <NA> <NA> mia <NA> <NA>
SPEAKER talk 1 1.25 0.50 <NA> <NA> tom 0.9 <NA>

SPEAKER call 1 0.10 0.40 <NA> <NA> mia <NA> <NA>
"""
BEN = """\
SPKR-INFO talk 1 <NA> <NA> <NA> adult_female mia <NA> <NA>
SPEAKER\ttalk\t1\t0.00\t1.00\t<NA>\t<NA>\tmia\t<NA>
SPEAKER talk 1 0.80 1.20 <NA> <NA> tom <NA> <NA>
"""
NOTE = (
    "RTTM does not say how long a recording lasts; it is taken to last until the latest end of a "
    "turn by any of its annotators"
)


def save(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def upload(content: bytes | str):
    data = content.encode() if isinstance(content, str) else content
    return Upload("x", "x", [Source("x", member=data)])


# --- What is read -------------------------------------------------------------


def test_speakers_are_labels_and_files_annotators(tmp_path):
    corpus = bc.read(
        save(tmp_path / "anna.rttm", ANNA),
        save(tmp_path / "ben.rttm", BEN),
        format="rttm",
        grid="50ms",
    )
    assert corpus.documents == ("talk", "call")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.annotators_of("talk") == ("anna", "ben")
    assert corpus.annotators_of("call") == ("anna",)
    # Until 2.00 s, where ben has the last turn end, and until 0.50 s.
    assert corpus.text_length.tolist() == [40, 10]
    assert corpus.spans("talk", "anna") == [(0, 25, "mia"), (25, 35, "tom")]
    assert corpus.spans("talk", "ben") == [(0, 20, "mia"), (16, 40, "tom")]
    assert corpus.spans("call", "anna") == [(2, 10, "mia")]
    assert corpus.skipped == {"lines of other types than SPEAKER ignored": 1}
    assert [*map(str, corpus.notes)] == ["lines of the type SPKR-INFO are ignored", NOTE]
    assert (corpus.unit, corpus.positions) == ("document", "frames")
    assert corpus.options == {"grid": "50ms"}


def test_agreement_on_paper(tmp_path):
    corpus = bc.read(
        save(tmp_path / "anna.rttm", ANNA),
        save(tmp_path / "ben.rttm", BEN),
        format="rttm",
        grid="50ms",
    )
    # mia: 20 of 25 and 20; tom: 10 of 10 and 24.
    assert bc.agreement(corpus).observed == 2 * (20 + 10) / (25 + 20 + 10 + 24)


def test_a_shared_boundary_stays_one(tmp_path):
    # 0.1 + 0.2 is 0.3, which it is not in binary: just below the boundary at 0.3.
    text = """\
SPEAKER t 1 0.1 0.2 <NA> <NA> mia <NA> <NA>
SPEAKER t 1 0.3 0.9 <NA> <NA> tom <NA> <NA>
"""
    corpus = bc.read(save(tmp_path / "a.rttm", text), format="rttm", grid="200ms")
    assert corpus.spans("t", "a") == [(1, 2, "mia"), (2, 6, "tom")]
    assert corpus.skipped == {}


def test_a_folder_is_one_annotator(tmp_path):
    for who in ("anna", "ben"):
        (tmp_path / who).mkdir()
        save(tmp_path / who / "1.rttm", ANNA)
        save(tmp_path / who / "2.rttm", BEN.replace("talk", "meeting"))
        save(tmp_path / who / "README", "about")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben", format="rttm", grid="10ms")
    assert corpus.documents == ("talk", "call", "meeting")
    assert corpus.annotators_of("meeting") == ("anna", "ben")
    assert corpus.skipped == {
        "lines of other types than SPEAKER ignored": 2,
        "files of other formats ignored": 2,
    }


def test_a_turn_without_duration_gets_a_frame(tmp_path):
    text = ANNA + "SPEAKER talk 1 1.75 0 <NA> <NA> kim <NA> <NA>\n"
    corpus = bc.read(save(tmp_path / "anna.rttm", text), format="rttm", grid="250ms")
    # It comes at the very end, so that tom has to make room.
    assert corpus.spans("talk", "anna") == [(0, 5, "mia"), (5, 6, "tom"), (6, 7, "kim")]
    assert corpus.skipped["intervals lengthened to one frame"] == 1


@each("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@each("ends", ["\n", "\r\n"])
def test_encodings_and_ends_of_lines(tmp_path, encoding, ends):
    text = ANNA.replace("mia", "mi\N{NO-BREAK SPACE}\N{EXTRATERRESTRIAL ALIEN}")
    path = tmp_path / "anna.rttm"
    path.write_bytes(text.replace("\n", ends).encode(encoding))
    corpus = bc.read(path, format="rttm", grid="50ms")
    assert corpus.labels == ("mi\N{NO-BREAK SPACE}\N{EXTRATERRESTRIAL ALIEN}", "tom")


# --- Detection ----------------------------------------------------------------


@each("content", [ANNA, BEN, ANNA.encode("utf-16"), ANNA * 2000])
def test_detected(content):
    assert is_format(upload(content))


@each(
    "content",
    [
        b"",
        b"\0\1",
        b"\xff\xfe\0",
        ";; only a remark\n",
        "SPEAKER B-X\n",
        "SPEAKER a b c d e f g h i\n",
        "SPEAKER a 1 begin 2.5 <NA> <NA> anna <NA> <NA>\n",
        ANNA + "and then some prose\n",
        "document,annotator,start,end,label\n",
        '<?xml version="1.0"?><ANNOTATION_DOCUMENT/>',
        'File type = "ooTextFile"\nObject class = "TextGrid"\n',
    ],
)
def test_not_detected(content):
    assert not is_format(upload(content))


def test_data_is_no_file():
    assert not is_format(Upload("x", "x", [Source("x", member=ANNA.encode())], data=[]))


# --- Malformed files ----------------------------------------------------------


@each(
    ("text", "message"),
    [
        ("", ": … SPEAKER"),
        (";; nothing\n", ": … SPEAKER"),
        (
            ANNA + "speaker talk 1 0 1 <NA> <NA> mia <NA> <NA>\n",
            ":6: … type … 'speaker'",
        ),
        (
            "SPEAKER talk 1 0 1 mia\n",
            ":1: … 6 … columns … 10 … <NA>",
        ),
        (
            "SPEAKER talk 1 zero 1 <NA> <NA> mia <NA> <NA>\n",
            ":1: … onset … 'zero' … 0 … 12.34",
        ),
        (
            "SPEAKER talk 1 -0.5 1 <NA> <NA> mia <NA> <NA>\n",
            ":1: … onset … '-0.5' … 0 … 12.34",
        ),
        (
            "SPEAKER talk 1 0 <NA> <NA> <NA> mia <NA> <NA>\n",
            ":1: … duration … '<NA>' … 0 … 12.34",
        ),
        (
            "SPEAKER talk 1 0 1e999999999 <NA> <NA> mia <NA> <NA>\n",
            ":1: … duration … '1e999999999' … 0 … 12.34",
        ),
        (
            "SPEAKER talk 1 0 1e90 <NA> <NA> mia <NA> <NA>\n",
            f":1: … 'talk' … {10**92:,} … frames … 2,147,483,647",
        ),
        (
            ANNA + "SPEAKER talk 2 0 1 <NA> <NA> mia <NA> <NA>\n",
            ":6: … 'talk' … channel … '2' … '1'",
        ),
        (
            "SPEAKER talk 1 0 0 <NA> <NA> mia <NA> <NA>\n",
            ":1: … 'talk' … 0 frames",
        ),
        (
            "SPEAKER talk 1 0 1 <NA> <NA> mia <NA> <NA>\n" * 2,
            ":2: … interval … [0, 1) … 'mia' … 'anna' … strict='-duplicates'",
        ),
    ],
)
def test_malformed(tmp_path, text, message):
    path = save(tmp_path / "anna.rttm", text)
    with pytest.raises(bc.DataError) as caught:
        bc.read(path, format="rttm", grid="10ms", strict=True)
    assert_tells(caught.value, f"{path}{message}")


@each(
    ("content", "message"),
    [
        (b"SPEAKER \xe9", ":1: … byte … 0xe9 … UTF-8 … UTF-8"),
        (b"SPEAKER\n\0", ":2: … NUL … character"),
    ],
)
def test_not_text(tmp_path, content, message):
    path = tmp_path / "a.rttm"
    path.write_bytes(content)
    with refused(bc.FormatError, f"{path}{message}"):
        bc.read(path, format="rttm", grid="10ms")


def test_no_grid(tmp_path):
    with refused(bc.OptionError, "times"):
        bc.read(save(tmp_path / "anna.rttm", ANNA), format="rttm")
