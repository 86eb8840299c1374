"""CoNLL columns: layouts, schemes, documents, repairs, and what is wrong."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import conll
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.messages import Quote
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, assert_tells, refused

PLAIN = "Mira B-PER\nHolt I-PER\nsailed O\n\nLund B-LOC\n. O\n"
WHOLE = """# columns = token anna ben
# newdoc id = first
# round = 1
# sent_id = a
Mira\tB-PER\tB-PER
Holt\tI-PER\tO
# a remark
sailed\tO\tO

#\tO\tB-X
Lund\tB-LOC\tB-LOC

# newdoc id = second
# round = 2
. \tO\tO
"""


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def spans(corpus, document, annotator):
    return [tuple(span) for span in corpus.spans(document, annotator)]


def upload(text, name="a.conll"):
    data = text if isinstance(text, bytes) else text.encode()
    return Upload(name, "a", [Source(name, member=data)])


def everything(corpus):
    return {(d, a): spans(corpus, d, a) for d in corpus.documents for a in corpus.annotators_of(d)}


@each(
    ("text", "encoding"),
    [
        (PLAIN, "utf-8"),
        (PLAIN.replace(" ", "\t"), "utf-8"),
        (PLAIN.replace(" ", "   "), "utf-8"),
        (PLAIN.replace("\n", "\r\n"), "utf-8"),
        (PLAIN.replace("\n\n", "\n \t \n\n\n"), "utf-8"),
        ("\n\n" + PLAIN.rstrip("\n"), "utf-8"),
        (PLAIN, "utf-8-sig"),
        (PLAIN, "utf-16"),
    ],
)
def test_plain(tmp_path, text, encoding):
    path = written(tmp_path / "anna.conll", text, encoding)
    corpus = bc.read(path, format="conll")
    assert corpus.annotators == ("anna",)
    assert everything(corpus) == {("1", "anna"): [(0, 2, "PER")], ("2", "anna"): [(0, 1, "LOC")]}
    assert corpus.text_length.tolist() == [3, 2]
    assert corpus.texts == ("Mira Holt sailed", "Lund .")
    assert (corpus.unit, corpus.positions) == ("sentence", "tokens")
    assert_notes(corpus.notes, f"{path.name}, anna: … IOB2")
    assert corpus.skipped == {}


def test_whole(tmp_path):
    path = written(tmp_path / "both.conll", WHOLE)
    corpus = bc.read(path)
    assert corpus.annotators == ("anna", "ben")
    assert everything(corpus) == {
        ("first", "anna"): [(0, 2, "PER"), (1, 2, "LOC")],
        ("first", "ben"): [(0, 1, "PER"), (0, 1, "X"), (1, 2, "LOC")],
        ("second", "anna"): [],
        ("second", "ben"): [],
    }
    assert corpus.fields == {"round": ("1", "2")}
    assert corpus.text_length.tolist() == [3, 2, 1]
    assert_notes(
        corpus.notes,
        f"{path.name}: … read … conll",
        f"{path.name}, anna: … IOB2",
        f"{path.name}, ben: … IOB2",
    )


def test_example_is_the_packaged_file():
    corpus = bc.read(bc.__path__[0] + "/resources/example.conll")
    assert everything(corpus) == everything(bc.example())
    assert corpus.fields == bc.example().fields


def test_two_files_are_matched_by_number(tmp_path):
    a = written(tmp_path / "anna.conll", PLAIN)
    b = written(tmp_path / "ben.conll", PLAIN.replace("B-LOC", "O"))
    corpus = bc.read(a, b)
    assert corpus.annotators == ("anna", "ben")
    assert spans(corpus, "2", "anna") == [(0, 1, "LOC")]
    assert spans(corpus, "2", "ben") == []


def test_folder_without_marks_has_a_document_for_each_file(tmp_path):
    for annotator in ("anna", "ben"):
        (tmp_path / annotator / "part").mkdir(parents=True)
        written(tmp_path / annotator / "part" / "x.conll", PLAIN)
        written(tmp_path / annotator / "y.conll", f"-DOCSTART- O\n\n{PLAIN}")
        written(tmp_path / annotator / "z.conll", f"# newdoc id = z9\n{PLAIN}")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben", format="conll")
    assert corpus.annotators == ("anna", "ben")
    assert sorted(corpus.documents) == ["part/x", "y/1", "z9"]
    assert spans(corpus, "part/x", "ben") == [(0, 2, "PER"), (0, 1, "LOC")]


def test_docstart_numbers_documents(tmp_path):
    text = f"-DOCSTART- -X- O\n\n{PLAIN}\n-DOCSTART- -X- O\nGo O\n"
    corpus = bc.read(written(tmp_path / "a.conll", text))
    assert corpus.documents == ("1", "2")
    assert corpus.text_length.tolist() == [3, 2, 1]


def test_what_stands_before_the_first_document_is_document_0(tmp_path):
    corpus = bc.read(written(tmp_path / "a.conll", "Go O\n\nOn O\n-DOCSTART- O\nLund B-LOC\n"))
    assert everything(corpus) == {("0", "a"): [], ("1", "a"): [(0, 1, "LOC")]}
    assert corpus.text_length.tolist() == [1, 1, 1]


def test_header_with_sentence_and_document_columns(tmp_path):
    text = (
        "doc\tsent\ttoken\tpos\tanna\tben\n"
        "d1\t0\tMira\tN\tB-PER\tO\nd1\t0\tran\tV\tO\tO\nd1\t1\tLund\tN\tB-LOC\tB-LOC\n"
        "d2\t1\tOslo\tN\tO\tB-LOC\n\t\tnow\tR\tO\tO\n"
    )
    path = written(tmp_path / "a.tsv", text)
    corpus = bc.read(path)
    assert everything(corpus) == {
        ("d1", "anna"): [(0, 1, "PER"), (0, 1, "LOC")],
        ("d1", "ben"): [(0, 1, "LOC")],
        ("d2", "anna"): [],
        ("d2", "ben"): [(0, 1, "LOC")],
    }
    assert corpus.text_length.tolist() == [2, 1, 2]
    assert_tells(corpus.notes[1], f"{path.name}: … columns … 'pos'")


def test_header_with_a_sentence_column_only(tmp_path):
    text = "sent\ttoken\ttag\n7\tMira\tB-PER\n7\tran\tO\n8\tLund\tB-LOC\n"
    corpus = bc.read(written(tmp_path / "a.tsv", text))
    assert corpus.annotators == ("a",)
    assert everything(corpus) == {("1", "a"): [(0, 1, "PER")], ("2", "a"): [(0, 1, "LOC")]}


def test_a_sentence_column_that_is_empty_leaves_the_blank_lines(tmp_path):
    text = "sent\ttoken\ttag\n\tMira\tB-PER\n\n\tran\tO\n"
    corpus = bc.read(written(tmp_path / "a.tsv", text))
    assert corpus.text_length.tolist() == [1, 1]


@each("columns", ["token=3,tag=2", " tag = 2, token = 3", ["token=3", "tag=2"]])
def test_columns_by_number(tmp_path, columns):
    path = written(tmp_path / "a.conll", "1 B-PER Mira x\n2 O ran y\n")
    corpus = bc.read(path, columns=columns)
    assert everything(corpus) == {("1", "a"): [(0, 1, "PER")]}
    assert corpus.texts == ("Mira ran",)


def test_several_columns_by_number_and_by_name(tmp_path):
    plain = written(tmp_path / "a.conll", "Mira B-PER O\nran O B-X\n")
    for columns in ("tag=2,tag=3", ["tag=2", "3"], "tag=2, 3"):
        corpus = bc.read(plain, columns=columns)
        assert corpus.annotators == ("column 2", "column 3")
    assert spans(corpus, "1", "column 3") == [(1, 2, "X")]
    named = written(tmp_path / "b.conll", "word one two\nMira B-PER O\nran O B-X\n")
    assert bc.read(named, columns="tag=two,one").annotators == ("two", "one")
    assert bc.read(named, columns="tag=two,two").annotators == ("b",)


@each("columns", ["document,label,start,end", "1", "token=1,2", "tags=2", ["2"], "=2", "", 2])
def test_columns_of_something_else(tmp_path, columns):
    path = written(tmp_path / "a.conll", "a O O\n")
    with refused(bc.OptionError, "columns … token=1,tag=4"):
        bc.read(path, format="conll", columns=columns)


def test_token_column_by_name(tmp_path):
    path = written(tmp_path / "a.conll", "word lower ner\nMira mira B-PER\nran ran O\n")
    assert bc.read(path, columns="token=lower").texts == ("mira ran",)


@each(
    ("scheme", "tags", "found"),
    [
        ("IOB2", "B-X I-X B-X O", [(0, 2, "X"), (2, 3, "X")]),
        ("IOB1", "I-X I-X B-X O", [(0, 2, "X"), (2, 3, "X")]),
        ("IO", "I-X I-X I-Y O", [(0, 2, "X"), (2, 3, "Y")]),
        ("BIOES", "B-X E-X S-X O", [(0, 2, "X"), (2, 3, "X")]),
        ("BILOU", "B-X L-X U-X O", [(0, 2, "X"), (2, 3, "X")]),
        ("BMES", "B-X M-X E-X S-X", [(0, 3, "X"), (3, 4, "X")]),
        ("IOB2", "O O O O", []),
        ("IOB2", "B I O B", [(0, 2, "_"), (3, 4, "_")]),
    ],
)
def test_schemes_are_detected(tmp_path, scheme, tags, found):
    text = "".join(f"w{i} {tag}\n" for i, tag in enumerate(tags.split()))
    path = written(tmp_path / "a.conll", text)
    corpus = bc.read(path, format="conll")
    assert spans(corpus, "1", "a") == found
    assert_notes(corpus.notes, f"{path.name}, a: … tags … {scheme}")
    assert corpus.options["scheme"] == scheme
    told = bc.read(path, format="conll", scheme=scheme)
    assert spans(told, "1", "a") == found
    assert told.notes == ()


def test_schemes_of_two_annotators_are_signed(tmp_path):
    text = "token anna ben\nMira B-PER S-PER\nran O O\n"
    assert bc.read(written(tmp_path / "a.conll", text)).options["scheme"] == "BIOES+IOB2"


@each(("repair", "found"), [("conlleval", [(0, 1, "X"), (1, 3, "Y")]), ("discard", [(0, 1, "X")])])
def test_repairs_are_counted(tmp_path, repair, found):
    path = written(tmp_path / "a.conll", "a B-X\nb I-Y\nc I-Y\n")
    corpus = bc.read(path, repair=repair)
    assert spans(corpus, "1", "a") == found
    assert corpus.skipped == {f"tags repaired by {repair}": 1}
    assert corpus.options["repair"] == repair


@each("text", ["# O\n#tag B-X\nx O\n", "x O\n# O\n#tag B-X\n"])
def test_tokens_named_with_a_hash(tmp_path, text):
    corpus = bc.read(written(tmp_path / "a.conll", text), format="conll")
    assert sorted(corpus.texts[0].split()) == ["#", "#tag", "x"]


def test_comments_that_look_like_rows(tmp_path):
    text = "x N N O\n# text = I\ny N N B-X\n"
    corpus = bc.read(written(tmp_path / "a.conll", text), format="conll")
    assert corpus.texts == ("x y",)


def test_spaces_inside_tokens(tmp_path):
    text = "New York\tB-LOC\nö\N{NO-BREAK SPACE}ö\tO\n"
    corpus = bc.read(written(tmp_path / "a.conll", text), format="conll")
    assert corpus.text_length.tolist() == [2]
    corpus = bc.read(written(tmp_path / "b.conll", "a\N{NO-BREAK SPACE}b B-X\n"), format="conll")
    assert spans(corpus, "1", "b") == [(0, 1, "X")]


def test_newdoc_without_a_blank_line_ends_the_sentence(tmp_path):
    text = "a O\n# newdoc\nb O\n# newdoc\nc O\n"
    corpus = bc.read(written(tmp_path / "a.conll", text), format="conll")
    assert corpus.documents == ("0", "1", "2")


@each("unit", ["sentence", "document"])
def test_units_and_positions(tmp_path, unit):
    path = written(tmp_path / "a.conll", WHOLE)
    corpus = bc.read(path, unit=unit, positions="characters")
    expected = {"sentence": [16, 6, 2], "document": [23, 2]}
    assert corpus.text_length.tolist() == expected[unit]


MALFORMED = {
    "": "{}: … tokens",
    "\n# only\n\n": "{}: … tokens",
    "token tag\n": "{}: … header",
    "a\nb\n": "{}:1: … column",
    "a O\nb\n": "{}:2: … column … 2",
    "a O\n\nb N O\n": "{}:3: … 3 … columns … 2",
    "# columns = token x\na O O\n": "{}:2: … 3 … columns … 2 … 'token' … 'x'",
    "token x x\na O O\n": "{}: … name … 'x'",
    "token pos\na N\n": "{}: … none … 'token' … 'pos' … columns=tag=COLUMN",
    "a B-Y\n\nb I-X\nc B-X\n": (
        "{}:3: … tag 'I-X' … 'B-X' … breaks … repair='conlleval' … repair='discard'"
    ),
    "a O\nb B_X\n": "{}:2: … tag 'B_X' … scheme",
    "token x y\na O O\nb O O\nc O per\n": "{}:4: … tag 'per' … prefix … scheme='IO'",
    "# newdoc id = x\na O\n# newdoc id = x\nb O\n": (
        "{}:4: … document 'x' … another … 2 … match='text' … match='order'"
    ),
    "a O\0\n": "{}:1: … NUL … character … UTF-16",
}


@each("text", MALFORMED)
def test_malformed(tmp_path, text):
    path = written(tmp_path / "a.conll", text)
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read(path, format="conll", strict=True)
    assert_tells(caught.value, MALFORMED[text].replace("{}", str(path)))


def test_invalid_utf8(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"a O\nb\xff O\n")
    with refused(bc.FormatError, f"{path}:2: … byte … 0xff … UTF-8 … UTF-8"):
        bc.read(path, format="conll")


@each("column", ["0", "3", "-1", "\u00b2", "x", "9" * 5000])
def test_unknown_columns(tmp_path, column):
    path = written(tmp_path / "a.conll", "a O\n")
    with pytest.raises(bc.OptionError) as caught:
        bc.read(path, format="conll", columns=f"tag={column}")
    message = f"{path}: … column … {Quote(str(column))} … 1 … 2"
    assert_tells(caught.value, message)
    named = written(tmp_path / "b.conll", "token tag\na O\n")
    with refused(bc.OptionError, "number … 1 … 2 … 'token' … 'tag'"):
        bc.read(named, format="conll", columns=f"token={column}")


@each("text", [PLAIN, WHOLE, "token tag\nx O\n", "-DOCSTART- O\n\nx B-X\n", "x O N\ny B-P N\n"])
def test_is_format(text):
    assert conll.is_format(upload(text))


@each(
    "text",
    [
        "",
        "Plain text, and nothing else.\nIn two lines.\n",
        "T1\tPER 0 4\tMira\n",
        '{"text": "x", "label": []}\n',
        "document,annotator,start,end,label\n1,a,0,1,X\n",
        "SPEAKER x 1 0.0 1.0 <NA> <NA> anna <NA> <NA>\n",
        "# sent_id = 1\n1\tx\tx\tNOUN\tN\t_\t0\troot\t_\t_\n",
        b"\x00\xff\xfe",
        b"\xff\xfe\x00",
    ],
)
def test_is_not_format(text):
    assert not conll.is_format(upload(text))


def read_bytes(data, **options):
    reading = Reading(ReadOptions(**options))
    given = upload(data)
    conll.is_format(given)
    with suppress(bc.BeyondChanceError):
        assembled(conll.read([given], reading), reading, unit="sentence", positions="tokens")


@pytest.mark.slow
@examples(120)
@given(
    base=st.sampled_from([PLAIN, WHOLE, "sent\ttoken\tx\ty\n0\ta\tO\tB-X\n1\tb\tO\tO\n"]),
    cuts=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4), st.binary(max_size=6)),
                  max_size=6),
    repair=st.sampled_from(["none", "conlleval", "discard"]),
)  # fmt: skip
def test_mutated_bytes(base, cuts, repair):
    data = base.encode()
    for place, n, new in cuts:
        data = data[:place] + new + data[place + n :]
    read_bytes(data, repair=repair)


CELLS = st.sampled_from(
    ["O", "B-X", "I-X", "E-X", "S-Y", "M-X", "a", "#", "# newdoc id = x", "-DOCSTART-", "\t", " ",
     "\n", "\n\n", "\r\n", "token", "sent", "doc", "# columns = token a", "\u3000", "\xa0", "",
     "\u2028", "\x1c", "=", "\ufeff"]
)  # fmt: skip


@pytest.mark.slow
@examples(120)
@given(
    cells=st.lists(CELLS | st.text(max_size=3), max_size=40),
    column=st.none() | st.sampled_from(["1", "2", "a", "1,2"]),
)
def test_random_cells(cells, column):
    columns = None if column is None else f"tag={column}"
    read_bytes("".join(cells).encode("utf-8", "replace"), columns=columns, repair="conlleval")


@each("comma", ",;")
def test_a_header_with_commas(tmp_path, comma):
    header, first = "Sentence #,Word,POS,Tag\n", 'Sentence: 1,Ada,NNP,B-per\n,"*","*",O\n'
    rows = f"{header}{first}Sentence: 2,Oslo,NNP,B-geo\n".replace(",", comma).replace("*", ",")
    corpus = bc.read(written(tmp_path / "ner.csv", rows))
    assert corpus.texts == ("Ada ,", "Oslo")
    assert corpus.spans("2", "ner") == [(0, 1, "geo")]
    assert str(corpus.notes[0]) == "ner.csv: read as conll"


def test_columns_of_several_files_are_several_annotators(tmp_path):
    paths = [
        written(tmp_path / "one.conll", "Ada B-PER O\n"),
        written(tmp_path / "two.conll", "Ada O B-PER\n"),
    ]
    corpus = bc.read(*paths, columns="tag=2,3")
    assert corpus.annotators == ("one, column 2", "one, column 3", "two, column 2", "two, column 3")
    assert bc.read(paths[0], columns="tag=2,3").annotators == ("column 2", "column 3")


class TestNumbersOfTokens:
    NUMBERED = "1 Anna B-PER\n2 met O\n3 Ben B-PER\n\n1 Oslo B-LOC\n"

    @each("first", [0, 1])
    @each("separator", [" ", "\t"])
    @each("comment", ["", "# a comment\n"])
    def test_tokens_are_in_the_second_column(self, tmp_path, first, separator, comment):
        content = self.NUMBERED.replace(" ", separator)
        if not first:
            for number in "123":
                content = content.replace(f"{number}{separator}", f"{int(number) - 1}{separator}")
        corpus = bc.read(written(tmp_path / "a.txt", comment + content))
        assert corpus.texts == ("Anna met Ben", "Oslo")
        assert_tells(corpus.notes[1], "a.txt: … tokens … 2 … 1")

    def test_numbers_that_run_through_the_file(self, tmp_path):
        content = self.NUMBERED.replace("1 Oslo", "4 Oslo")
        assert bc.read(written(tmp_path / "a.txt", content)).texts == ("Anna met Ben", "Oslo")

    def test_other_texts_do_not_match(self, tmp_path):
        one = written(tmp_path / "a.txt", "1 Anna B-PER\n2 met O\n3 Ben B-PER\n")
        other = written(tmp_path / "b.txt", "1 Tokyo B-PER\n2 is O\n3 big O\n")
        with refused(bc.MismatchError, "'Tokyo is b' … instead … 'Anna met B'"):
            bc.read(one, other)

    def test_numbers_and_tags_alone_are_refused(self, tmp_path):
        path = written(tmp_path / "a.txt", "1 B-PER\n2 O\n3 B-PER\n")
        with refused(bc.FormatError, f"{path}:1: … 1 … numbers … columns='token=1'"):
            bc.read(path)
        assert bc.read(path, columns="token=1").texts == ("1 2 3",)

    def test_other_numbers_are_refused(self, tmp_path):
        path = written(tmp_path / "a.txt", "7 Anna B-PER\n7 met O\n\n8 Oslo B-LOC\n")
        with refused(
            bc.FormatError, f"{path}:1: … 1 … numbers … columns='token=2' … columns='token=1'"
        ):
            bc.read(path)
        assert bc.read(path, columns="token=2").texts == ("Anna met", "Oslo")

    def test_a_number_is_a_token_among_others(self, tmp_path):
        corpus = bc.read(written(tmp_path / "a.txt", "1 CD B-N\ndog NN O\n\n2 CD B-N\n"))
        assert corpus.texts == ("1 dog", "2")

    @each("inner", ["B-LOC", "B-ORG", "O"])
    def test_layers_are_refused_until_one_is_chosen(self, tmp_path, inner):
        path = written(tmp_path / "a.tsv", f"1\tBayern\tB-ORG\t{inner}\n2\tist\tO\tO\n")
        for options in ({}, {"strict": True}):
            with refused(
                bc.FormatError,
                f"{path}:1: … 3 … 4 … annotators … columns='tag=3' … "
                "columns='tag=4' … columns='tag=3,4'",
            ):
                bc.read(path, **options)
        assert bc.read(path, columns="tag=3").spans("1", "a") == [(0, 1, "ORG")]
        both = bc.read(path, columns="tag=3,4")
        assert (both.annotators, both.texts) == (("column 3", "column 4"), ("Bayern ist",))


class TestLayers:
    TEXT = (
        "# https://x.org/a [2009-10-17]\n1\tTroia\tB-OTH\tB-LOC\n2\t-\tI-OTH\tO\n"
        "3\tTraum\tI-OTH\tO\n\n1\tin\tO\tO\n2\tBonn\tB-LOC\tB-LOC\n"
    )

    def test_layers_of_one_annotator(self, tmp_path):
        path = written(tmp_path / "a.tsv", self.TEXT)
        with refused(bc.FormatError, f"{path}:2: … 3 … 4 … layers … columns='tag=3+4' … layers"):
            bc.read(path)
        corpus = bc.read(path, columns="tag=3+4")
        assert corpus.annotators == ("a",)
        assert corpus.spans("1", "a") == [(0, 1, "LOC"), (0, 3, "OTH")]
        assert corpus.spans("2", "a") == [(1, 2, "LOC")]
        assert corpus.skipped == {"spans marked twice, second left out": 1}

    def test_a_span_in_two_layers_is_refused(self, tmp_path):
        path = written(tmp_path / "a.tsv", self.TEXT)
        with refused(bc.SpanError, f"{path}:7: … two layers", use="strict"):
            bc.read(path, columns="tag=3+4", strict="duplicates")

    def test_several_annotators_with_layers(self, tmp_path):
        rows = "word a1 a2 b1 b2\nAda B-X O O B-Y\nsat O O O O\n"
        path = written(tmp_path / "a.txt", rows)
        corpus = bc.read(path, columns="tag=a1+a2,b1+b2")
        assert corpus.annotators == ("a1+a2", "b1+b2")
        assert corpus.spans("1", "a1+a2") == [(0, 1, "X")]
        assert corpus.spans("1", "b1+b2") == [(0, 1, "Y")]

    def test_tags_without_labels_are_labelled_by_their_layer(self, tmp_path):
        path = written(tmp_path / "a.txt", "word skill know\nAda B B\nsat I O\n")
        corpus = bc.read(path, columns="tag=skill+know")
        assert corpus.spans("1", "a") == [(0, 1, "know"), (0, 2, "skill")]
        path = written(tmp_path / "b.txt", "Ada B B\nsat I O\n")
        assert bc.read(path, columns="tag=2+3").labels == ("column 2", "column 3")

    def test_a_column_whose_name_has_the_sign(self, tmp_path):
        path = written(tmp_path / "a.txt", "word C++ C\nAda B-X O\nsat O O\n")
        assert bc.read(path, columns="tag=C++").spans("1", "a") == [(0, 1, "X")]

    @each("columns", ["tag=3+9", "tag=3+", "tag=+"])
    def test_layers_that_are_not_there(self, tmp_path, columns):
        with refused(bc.OptionError, "column … 1 … 4"):
            bc.read(written(tmp_path / "a.tsv", self.TEXT), columns=columns)


class TestColumnsWithoutTags:
    """As Universal NER has them behind the tags."""

    TEXT = (
        "# newdoc id = x\n# sent_id = x-1\n# text = Where is Rome?\n1\tWhere\tO\t-\t-\n"
        "2\tis\tO\t-\t-\n3\tRome\tB-LOC\t-\tana\n4\t?\tO\t-\t-\n\n"
        "# sent_id = x-2\n1\tHere\tO\t-\t-\n"
    )

    def test_the_last_column_with_tags_is_read(self, tmp_path):
        corpus = bc.read(written(tmp_path / "a.iob2", self.TEXT))
        assert corpus.documents == ("x",)
        assert corpus.texts == ("Where is Rome ?", "Here")
        assert (corpus.span_text.tolist(), corpus.span_start.tolist()) == ([0], [2])
        told = [note for note in corpus.notes if "column 3" in str(note)]
        assert_notes(told, "a.iob2: … column 3")

    def test_one_tag_is_enough_to_read_the_last_column(self, tmp_path):
        # What is misspelt there must not be replaced by another column in silence.
        path = written(tmp_path / "a.txt", "Ada B-NP PERS\nsat B-VP o\nhere O O\n")
        with refused(bc.TagError, f"{path}:1: … 'PERS'"):
            bc.read(path)

    def test_no_column_holds_tags(self, tmp_path):
        path = written(tmp_path / "a.txt", "Ada x PER\nsat y NONE\n")
        with refused(bc.TagError, f"{path}:1: … 'PER' … prefix", use="scheme"):
            bc.read(path, format="conll")


class TestSwappedColumns:
    TEXT = "B-PER Ada\nO and\nB-PER I\nO took\nO B-52\nB-LOC Oslo\n\nO U\nI-PER Bo\n"

    def test_tags_in_front_of_words(self, tmp_path):
        path = written(tmp_path / "a.txt", self.TEXT)
        for options in ({}, {"scheme": "IO"}):
            with refused(bc.FormatError, f"{path}:1: … 1 … tags … 2 … columns='token=2,tag=1'"):
                bc.read(path, **options)
        corpus = bc.read(path, columns="token=2,tag=1")
        assert corpus.texts == ("Ada and I took B-52 Oslo", "U Bo")

    def test_columns_named_the_wrong_way_round(self, tmp_path):
        path = written(tmp_path / "a.txt", "Ada B-PER\nsat O\nin O\n")
        with refused(bc.FormatError, f"{path}:1: … 2 … tags … 1 … columns='token=1,tag=2'"):
            bc.read(path, columns="token=2,tag=1")

    @each("text", ["I B-PER\nO O\n", "B B-X\nI I-X\nO O\n", "O O\nB B-X\n"])
    def test_words_that_look_like_tags(self, tmp_path, text):
        assert len(bc.read(written(tmp_path / "a.txt", text)).span_start) == 1


class TestLabelsWithoutPrefix:
    @each(
        "content",
        [
            "Anna PER\nmet O\n",
            "met O\nAnna LOC\n",
            "Anna\tperson-actor\nLee\tperson-actor\nmet\tO\n",
        ],
    )
    def test_are_read_if_asked_for(self, tmp_path, content):
        path = written(tmp_path / "a.txt", content)
        assert len(bc.read(path, scheme="IO").span_start) == 1
        with refused(bc.TagError, "prefix … scheme='IO' reads"):
            bc.read(path)

    def test_are_no_parts_of_speech(self, tmp_path):
        with refused(bc.FormatError, "plain"):
            bc.read(written(tmp_path / "a.txt", "Anna NNP\nmet VBD\n"))


@each("comment", ["", "# x\n"])
def test_an_empty_token_is_named_by_its_line(tmp_path, comment):
    path = written(tmp_path / "a.txt", f"{comment}Anna\tB-PER\n\tO\n")
    line = 2 + bool(comment)
    with refused(bc.FormatError, f"{path}:{line}: … token"):
        bc.read(path)


def test_the_last_column_of_any_file(tmp_path):
    path = written(tmp_path / "a.txt", "Anna B-PER B-PER\nmet O O\n")
    corpus = bc.read(path, columns="tag=last", strict=True)
    assert (corpus.annotators, corpus.gold) == (("a",), None)
