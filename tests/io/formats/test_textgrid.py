import pytest
from praatio import textgrid as praat

import beyondchance as bc
from beyondchance.io.formats.textgrid import is_format
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from refusals import refused

# 0    .5   1    1.5   2
# |----|----|----|----|
#  rain......          |  anna
#  rain.     wind......|  ben
ANNA = [(0.0, 1.0, "rain")]
BEN = [(0.0, 0.5, "rain"), (1.0, 2.0, 'so-called "wind"')]


def write(path, *, form="long_textgrid", points=(), **tiers):
    """Write interval tiers with praatio."""
    grid = praat.Textgrid()
    for name, entries in tiers.items():
        grid.addTier(praat.IntervalTier(name, entries, 0, 2))
    if points:
        grid.addTier(praat.PointTier("points", points, 0, 2))
    grid.save(str(path), format=form, includeBlankSpaces=True)
    return path


def header(n_tiers=1, xmin="0", xmax="2"):
    return (
        f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n{xmin}\n{xmax}\n<exists>\n'
        f"{n_tiers}\n"
    )


def tier(name, *entries, size=None):
    lines = [f'"IntervalTier"\n"{name}"\n0\n2\n{len(entries) if size is None else size}\n']
    lines += [f'{start}\n{end}\n"{text}"\n' for start, end, text in entries]
    return "".join(lines)


def upload(content: bytes | str):
    data = content.encode() if isinstance(content, str) else content
    return Upload("x", "x", [Source("x", member=data)])


# --- What is read -------------------------------------------------------------


@each("form", ["long_textgrid", "short_textgrid"])
def test_tiers_are_annotators(tmp_path, form):
    path = write(tmp_path / "talk.TextGrid", form=form, anna=ANNA, ben=BEN)
    corpus = bc.read(path, format="textgrid", grid="10ms")
    assert corpus.documents == ("talk",)
    assert corpus.annotators == corpus.annotators_of("talk") == ("anna", "ben")
    assert corpus.text_length.tolist() == [200]
    assert corpus.spans("talk", "anna") == [(0, 100, "rain")]
    assert corpus.spans("talk", "ben") == [(0, 50, "rain"), (100, 200, 'so-called "wind"')]
    assert (corpus.unit, corpus.positions) == ("document", "frames")
    assert corpus.options == {"grid": "10ms"}
    assert corpus.skipped == {}
    assert bc.agreement(corpus).observed == 2 * 50 / (100 + 150)


def test_tiers_are_labels_and_files_annotators(tmp_path):
    anna = write(tmp_path / "anna.TextGrid", rain=[(0, 1, "x")], wind=[(0.5, 2, "y")])
    ben = write(tmp_path / "ben.TextGrid", rain=[(0, 0.5, "x")], wind=[])
    corpus = bc.read(anna, ben, format="textgrid", grid="0.1s", tier="label")
    assert corpus.documents == ("1",)
    assert corpus.spans("1", "anna") == [(0, 10, "rain"), (5, 20, "wind")]
    assert corpus.spans("1", "ben") == [(0, 5, "rain")]
    assert corpus.options == {"grid": "100ms", "tier": "label"}


def test_folders_are_annotators(tmp_path):
    for who, end in (("anna", 1), ("ben", 0.5)):
        (tmp_path / who / "deep").mkdir(parents=True)
        write(tmp_path / who / "deep" / "talk.TextGrid", rain=[(0, end, "x")])
        (tmp_path / who / "talk.wav").write_bytes(b"RIFF\0\0")
    corpus = bc.read(
        tmp_path / "anna", tmp_path / "ben", format="textgrid", grid="1s", tier="label"
    )
    assert corpus.documents == ("deep/talk",)
    assert corpus.annotators == ("anna", "ben")
    assert corpus.skipped == {
        "files of other formats ignored": 2,
    }


def test_each_file_is_a_recording(tmp_path):
    one = write(tmp_path / "one.TextGrid", anna=ANNA, ben=BEN)
    two = write(tmp_path / "two.TextGrid", anna=ANNA)
    corpus = bc.read(one, two, format="textgrid", grid="1s")
    assert corpus.documents == ("one", "two")
    assert corpus.annotators_of("two") == ("anna",)


def test_blank_intervals_are_gaps_and_an_empty_tier_found_nothing(tmp_path):
    path = tmp_path / "a.TextGrid"
    blank = tier("ben", ("0", "1", ""), ("1", "2", " "))
    path.write_text(header(2) + tier("anna", ("0", "2", "x")) + blank, encoding="utf-8")
    corpus = bc.read(path, format="textgrid", grid="1s")
    assert corpus.annotators_of("a") == ("anna", "ben")
    assert corpus.spans("a", "ben") == []


def test_point_tiers_are_counted(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA, points=[(0.5, "H")])
    corpus = bc.read(path, format="textgrid", grid="1s")
    assert corpus.annotators == ("anna",)
    assert corpus.skipped == {"point tiers ignored": 1}


def test_layer_selects_tiers(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA, ben=BEN, words=[(0, 2, "all")])
    corpus = bc.read(path, format="textgrid", grid="1s", layer="ben, anna")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.options["layer"] == "ben, anna"


@each("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@each("ends", ["\n", "\r\n", "\r"])
@each("last", [True, False])
def test_encodings_and_ends_of_lines(tmp_path, encoding, ends, last):
    text = header() + tier("änna", ("0", "1", "\N{COMET}\N{EXTRATERRESTRIAL ALIEN}"))
    text = text if last else text.rstrip("\n")
    path = tmp_path / "a.TextGrid"
    path.write_bytes(text.replace("\n", ends).encode(encoding))
    corpus = bc.read(path, format="textgrid", grid="1s")
    assert corpus.spans("a", "änna") == [(0, 1, "\N{COMET}\N{EXTRATERRESTRIAL ALIEN}")]


def test_the_old_short_header(tmp_path):
    text = 'File type = "ooTextFile short"\n"TextGrid"\n\n0\n2\n<exists>\n1\n'
    path = tmp_path / "a.TextGrid"
    path.write_text(text + tier("anna", ("0", "2", "x")), encoding="utf-8")
    assert bc.read(path, format="textgrid", grid="1s").spans("a", "anna") == [(0, 2, "x")]


def test_binary_noise_in_times_adds_no_frame(tmp_path):
    # 1.8700000000000001 is how 1.87 looks with 17 digits.
    path = tmp_path / "a.TextGrid"
    noisy = "1.8700000000000001"
    path.write_text(header(xmax=noisy) + tier("anna", ("0", noisy, "x")), encoding="utf-8")
    corpus = bc.read(path, format="textgrid", grid="10ms")
    assert corpus.text_length.tolist() == [187]
    assert corpus.spans("a", "anna") == [(0, 187, "x")]


def test_tiny_times_with_an_exponent(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=[(0, 1, "rain")])
    text = path.read_text(encoding="utf-8")
    assert "            xmin = 0 \n" in text
    path.write_text(
        text.replace("            xmin = 0 \n", "            xmin = 5.684341886080802e-14 \n"),
        encoding="utf-8",
    )
    assert bc.read(path, format="textgrid", grid="1s").spans("a", "anna") == [(0, 1, "rain")]


def test_a_part_of_a_recording_is_counted_from_its_beginning(tmp_path):
    path = tmp_path / "a.TextGrid"
    path.write_text(
        header(xmin="5", xmax="7") + tier("anna", ("5", "6", "x"), ("6", "7", "")), encoding="utf-8"
    )
    corpus = bc.read(path, format="textgrid", grid="1s")
    assert corpus.text_length.tolist() == [2]
    assert corpus.spans("a", "anna") == [(0, 1, "x")]


# --- Detection ----------------------------------------------------------------


@each("form", ["long_textgrid", "short_textgrid"])
def test_detected(tmp_path, form):
    path = write(tmp_path / "x", form=form, anna=ANNA)
    assert is_format(upload(path.read_bytes()))
    assert is_format(upload(path.read_text(encoding="utf-8").encode("utf-16")))


@each(
    "content",
    [
        b"",
        b"\0\1\2",
        b"\xff\xfe\0",
        'File type = "ooTextFile"\nObject class = "PitchTier"\n',
        "SPEAKER talk 1 0.00 1.25 <NA> <NA> anna <NA> <NA>\n",
        '<?xml version="1.0"?><ANNOTATION_DOCUMENT/>',
        "rain B-X\n\n",
        '{"text": "File type"}',
    ],
)
def test_not_detected(content):
    assert not is_format(upload(content))


def test_data_is_no_file():
    assert not is_format(Upload("x", "x", [Source("x", member=b"")], data=[]))


# --- Malformed files ----------------------------------------------------------


@each(
    ("text", "message"),
    [
        (
            "",
            ":1: … missing … 'File type = \"ooTextFile\"' … 'Object class = \"TextGrid\"'",
        ),
        (
            header() + tier("anna", ("0", "1", "x"), size=2),
            ": … tier 1 … 'anna' … 2 … entries … 1",
        ),
        (
            header(2) + tier("anna", ("0", "1", "x")),
            ": … 2 … tiers … 1",
        ),
        (
            header() + tier("anna", ("0", "one", "x")),
            ": tier 'anna', interval 1: … time … 'one' … 1.25",
        ),
        (
            header() + tier("anna", ("1", "0.5", "x")),
            ": tier 'anna', interval 1: … [1, 0.5) … 'x' … starts",
        ),
        (
            header() + tier("anna", ("1", "3", "x")),
            ": tier 'anna', interval 1: … [1, 3) … 'x' … lie … 0 … 2",
        ),
        (
            header() + tier("anna", ("-1", "1", "x")),
            ": tier 'anna', interval 1: … -1 … 1 … 'x' … lie … 0 … 2",
        ),
        (
            header(xmin="2", xmax="2") + tier("anna"),
            ": … goes … 2 … 2 … 0",
        ),
        (
            header(2) + tier("anna", ("0", "1", "x")) + tier("anna", ("0", "1", "y")),
            ": … tier … 'anna' … 2",
        ),
        (
            header() + tier("", ("0", "1", "x")),
            ": … tier 1 … name",
        ),
        (
            header(xmax="long"),
            ": … unknown … tiers … damaged",
        ),
    ],
)
def test_malformed(tmp_path, text, message):
    path = tmp_path / "a.TextGrid"
    path.write_text(text, encoding="utf-8")
    with refused(bc.FormatError, f"{path}{message}"):
        bc.read(path, format="textgrid", grid="10ms")


def test_a_negative_time_in_the_long_form(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("            xmin = 0 ", "            xmin = -0.5 "), "utf-8")
    message = f"{path}: tier 'anna', interval 1: … -0.5 … 1 … 'rain' … lie … 0 … 2"
    with refused(bc.FormatError, message):
        bc.read(path, format="textgrid", grid="10ms")


def test_numbers_of_entries_that_are_no_numbers(tmp_path):
    path = tmp_path / "a.TextGrid"
    for n_tiers, size in (("many", 1), (1, "many"), (1, "-1"), ("1e9", 1)):
        path.write_text(header(n_tiers) + tier("anna", ("0", "1", "x"), size=size))
        with refused(bc.FormatError, f"{path}: … says … damaged"):
            bc.read(path, format="textgrid", grid="10ms")


def test_without_a_tier(tmp_path):
    empty = tmp_path / "empty.TextGrid"
    empty.write_text(header(0))
    path = write(tmp_path / "a.TextGrid", anna=ANNA, ben=BEN)
    corpus = bc.read(path, empty, format="textgrid", grid="10ms")
    assert corpus.skipped == {"files without a tier to read left out": 1}


def test_an_entry_of_many_texts(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"rain"', '"' + 'text = "' * 100), "utf-8")
    message = f"{path}: tier 'anna', interval 2: … time … 'text' … 1.25"
    with refused(bc.FormatError, message):
        bc.read(path, format="textgrid", grid="10ms")


@each("n_lines", range(8, 21))
def test_a_long_form_that_is_cut_off(tmp_path, n_lines):
    path = write(tmp_path / "a.TextGrid", anna=ANNA)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 22
    path.write_text("\n".join(lines[:n_lines]), encoding="utf-8")
    with pytest.raises(bc.FormatError, match="cut off or damaged|cannot|can be read"):
        bc.read(path, format="textgrid", grid="10ms")


def test_a_binary_textgrid(tmp_path):
    path = tmp_path / "a.TextGrid"
    path.write_bytes(b"ooBinaryFile\x08TextGrid\0\0")
    message = f"{path}: … binary"
    with refused(bc.FormatError, message):
        bc.read(path, format="textgrid", grid="10ms")


@each(
    ("content", "message"),
    [
        (b'File type = "ooTextFile"\n\xe9', ":2: … byte … 0xe9 … UTF-8 … UTF-8"),
        (b'File type = "ooTextFile"\n\0', ":2: … NUL … character"),
    ],
)
def test_not_text(tmp_path, content, message):
    path = tmp_path / "a.TextGrid"
    path.write_bytes(content)
    with refused(bc.FormatError, f"{path}{message}"):
        bc.read(path, format="textgrid", grid="10ms")


def test_a_misnamed_file_in_a_folder_is_complained_of(tmp_path):
    write(tmp_path / "a.TextGrid", anna=ANNA)
    (tmp_path / "b.TextGrid").write_text("nothing", encoding="utf-8")
    with refused(bc.FormatError, "b.TextGrid:1: … missing"):
        bc.read(tmp_path, format="textgrid", grid="10ms")


def test_unknown_layer(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA, ben=BEN)
    message = "'bne' … intervals … 'anna' … 'ben'"
    with refused(bc.OptionError, message):
        bc.read(path, format="textgrid", grid="10ms", layer="anna,bne")


def test_no_grid(tmp_path):
    path = write(tmp_path / "a.TextGrid", anna=ANNA)
    with refused(bc.OptionError, "times"):
        bc.read(path, format="textgrid")


def test_recordings_of_different_length(tmp_path):
    anna = write(tmp_path / "anna.TextGrid", rain=ANNA)
    ben = tmp_path / "ben.TextGrid"
    ben.write_text(header(xmax="2.5") + tier("rain", ("0", "1", "x")), encoding="utf-8")
    message = f"{ben}: … recording … '1' … 0 … 2.5 … 0 … 2 … {anna}"
    with refused(bc.MismatchError, message):
        bc.read(anna, ben, format="textgrid", grid="10ms", tier="label")


def test_files_are_annotators_and_labels_what_is_written(tmp_path):
    paths = [
        write(tmp_path / f"{name}.TextGrid", words=entries)
        for name, entries in (("anna", ANNA), ("ben", BEN))
    ]
    corpus = bc.read(*paths, format="textgrid", grid="10ms", tier="file")
    assert corpus.annotators_of("1") == ("anna", "ben")
    assert corpus.spans("1", "anna") == [(0, 100, "rain")]
    assert corpus.spans("1", "ben") == [(0, 50, "rain"), (100, 200, 'so-called "wind"')]
    assert corpus.options["tier"] == "file"
