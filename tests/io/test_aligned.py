"""Files of tagged sentences and of records that are cut, and read part by part, give the whole."""

import json
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import beyondchance as bc
from beyondchance.errors import BeyondChanceError, FormatError, MismatchError, TagError
from beyondchance.io import aligned, scanning
from beyondchance.io.scanning import Scan, batches_of, pieces_of
from each import each
from joined_corpora import joined
from large_tables import packed
from refusals import refused

# Batches have no texts, and files are named with the result of all parts.
APART = {"texts", "token_start", "token_end", "notes", "inputs", "sources", "skipped", "options"}


@pytest.fixture(autouse=True, scope="module")
def every_text():
    """Let pieces begin with every text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligned, "STEP", 1)
        yield


def parts(monkeypatch, at_a_time, *paths, format=None, **options):  # noqa: A002
    monkeypatch.setattr(scanning, "AT_A_TIME", at_a_time)
    scan = Scan(tuple(map(str, paths)), format, options)
    whole, found = None, []
    for part in pieces_of(scan):
        for batch in batches_of(scan, part, whole):
            whole = batch.found if whole is None else whole | batch.found
            found.append(batch.corpus)
    return found


def same(found, whole):
    both = joined(found)
    orders = [np.lexsort((c.span_start, c.span_annotator, c.span_text)) for c in (both, whole)]
    for name in vars(whole).keys() & vars(both).keys() - APART:
        if name.startswith("_"):
            continue
        values = [getattr(corpus, name) for corpus in (both, whole)]
        if name.startswith("span_") and name not in {"span_id", "span_fields", "span_motif"}:
            values = [value[order] for value, order in zip(values, orders, strict=True)]
        np.testing.assert_equal(*values, err_msg=name)
    added = sum((Counter(dict(corpus.skipped)) for corpus in found), Counter())
    assert added == Counter(dict(whole.skipped))
    assert all(corpus.options.get("scheme") == whole.options.get("scheme") for corpus in found)
    assert dict(both.options) == dict(whole.options)


def check(monkeypatch, at_a_time, *paths, **options):
    """Compare parts with the whole; how many parts there are."""
    whole = problem = None
    try:
        whole = bc.read(*paths, **options)
    except BeyondChanceError as error:
        problem = str(error)
    if problem and "texts occur more than once" in problem:
        monkeypatch.setattr("beyondchance.io.scanning.AT_A_TIME", at_a_time)
        with pytest.raises(BeyondChanceError) as caught:
            bc.difficulty(bc.scan(*paths, **options))
        assert problem.endswith(str(caught.value))
        return 0
    if whole is None:
        with pytest.raises(BeyondChanceError) as caught:
            parts(monkeypatch, at_a_time, *paths, **options)
        assert str(caught.value).startswith(problem)
        return 0
    found = parts(monkeypatch, at_a_time, *paths, **options)
    same(found, whole)
    return len(found)


def write(folder, *texts, ending="conll"):
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.{ending}" for name in "abcd"[: len(texts)]]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return paths


# --- CoNLL ----------------------------------------------------------------------------

WORDS = ("a", "b", "#", "-", "-LRB-", "word", "7", "“", "\u3042", "-DOCSTARTS-")
TAGS = ("O", "O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-X")
GAPS = ("\n", "\n", "\n\n", " \n", "\t\n", "\n# sent_id = 3\n", "\n# note\n")
MARKS = ("-DOCSTART- -X- O\n\n", "# newdoc\n", "# newdoc id = {}\n", "# newdoc id = {}\n# k = v\n")

SENTENCES = [f"w{i} B-PER\nx O\ny I-LOC\nz O\n" for i in range(9)]
PLAIN = "\n".join(SENTENCES)
MARKED = "\n".join(
    [
        *("# newdoc id = one\n# genre = news\n", SENTENCES[0], SENTENCES[1]),
        *("# newdoc id = two\n", SENTENCES[2], "-DOCSTART- O\n", SENTENCES[3], SENTENCES[4]),
        *("# newdoc\n", SENTENCES[5], SENTENCES[6], "# newdoc id = six\n", *SENTENCES[7:]),
    ]
)


@each(
    ("at_a_time", "text"),
    [
        (1, PLAIN),
        (20, PLAIN.replace("\n", "\r\n")),
        (64, PLAIN),
        (64, "\ufeff" + PLAIN),
        (10**6, PLAIN),
    ],
)
def test_sentences(tmp_path, monkeypatch, text, at_a_time):
    paths = write(tmp_path, text, PLAIN.replace("B-PER", "B-ORG"))
    n_parts = check(monkeypatch, at_a_time, *paths)
    assert n_parts == {1: 9, 20: 9, 64: 4, 10**6: 1}[at_a_time] or "\r" in text


def test_documents(tmp_path, monkeypatch):
    paths = write(tmp_path, MARKED, MARKED.replace("B-PER", "O"))
    assert check(monkeypatch, 1, *paths) == 5
    assert bc.read(*paths).documents == ("one", "two", "3", "4", "six")


@each("texts", [(MARKED, PLAIN), (PLAIN, MARKED)])
def test_shared_marks(tmp_path, monkeypatch, texts):
    assert check(monkeypatch, 1, *write(tmp_path, *texts)) == 5


def test_marks_that_are_refused(tmp_path, monkeypatch):
    assert check(monkeypatch, 1, *write(tmp_path, MARKED, PLAIN), strict="marks") == 0


def test_shared_marks_of_other_sentences(tmp_path, monkeypatch):
    paths = write(tmp_path, MARKED, "\n".join(SENTENCES[:7]))
    with refused(MismatchError, "b.conll: … 7 … sentences … 9 … sentences"):
        parts(monkeypatch, 1, *paths)
    assert check(monkeypatch, 1, *paths) == 0


def test_what_stands_before_the_first_mark(tmp_path, monkeypatch):
    text = f"{SENTENCES[8]}\n{MARKED}"
    assert check(monkeypatch, 1, *write(tmp_path, text, text)) == 5


def test_documents_in_another_order(tmp_path, monkeypatch):
    first, second, third, fourth = (
        f"# newdoc id = {name}\n{SENTENCES[i]}\n" for i, name in enumerate("pqrs")
    )
    paths = write(tmp_path, first + second + third + fourth, second + first + third + fourth)
    assert check(monkeypatch, 1, *paths) == 3
    paths = write(tmp_path, first + second + third + fourth, first + fourth)
    assert check(monkeypatch, 1, *paths) == 2
    paths = write(tmp_path, first + second + third + fourth, fourth + second + third + first)
    assert check(monkeypatch, 1, *paths) == 1


def test_a_document_in_two_places(tmp_path, monkeypatch):
    names = "pqprs"
    text = "".join(f"# newdoc id = {name}\n{SENTENCES[1]}\n" for name in names)
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 3


@each("header", ["# columns = token ada ben\n", "token ada ben\n", "-DOCSTART- x\ntoken ada ben\n"])
def test_headers(tmp_path, monkeypatch, header):
    sentences = PLAIN.replace(" B-PER", " B-PER O").replace(" O\n", " O O\n")
    sentences = sentences.replace("B-PER O O", "B-PER O").replace(" I-LOC", " I-LOC I-LOC")
    n_parts = check(monkeypatch, 1, *write(tmp_path, header + sentences))
    assert n_parts == (1 if "DOC" in header else 9)


def test_a_header_with_commas(tmp_path, monkeypatch):
    text = 'token,ada\n"a, b",O\n\nc,B-PER\n\n"""",O\n\nd,O\n'
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 1
    text = text.replace('"a, b"', "a").replace('""""', "b")
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 4
    text = 'token,ada\n"a\n\nb",O\n\nc,B-PER\n\nd,O\n'
    assert check(monkeypatch, 1, *write(tmp_path, text), format="conll") == 1


@st.composite
def divided(draw):
    """A file whose columns name sentences, documents or both."""
    which = draw(st.sampled_from([("sentence",), ("document",), ("document", "sentence")]))
    comma = draw(st.booleans())
    lines = [[*which, "token", "ada"]]
    for _ in range(draw(st.integers(1, 12))):
        names = [draw(st.sampled_from(["", "", "p", "q", "r", "s"])) for _ in which]
        lines.append([*names, draw(st.sampled_from(["a", "b", "#"])), draw(st.sampled_from(TAGS))])
        lines += [[line] for line in draw(st.sampled_from([[], [], [""], [MARKS[1].strip()]]))]
    return "\n".join(("," if comma else "\t").join(line) for line in lines)


@given(divided(), st.booleans(), st.integers(1, 60), st.sampled_from([9, 2**21]))
@example("document\ttoken\tada\n\ta\tO\n\n\ta\tO\np\ta\tO", False, 1, 9)
@example("sentence\ttoken\tada\n\ta\tO\n\n\ta\tO\np\ta\tO", False, 1, 9)
def test_columns_of_sentences_and_documents(tmp_path_factory, text, is_both, at_a_time, block):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(aligned, "BLOCK", block)
        texts = [text, text.replace("ada", "ben")] if is_both else [text]
        paths = write(tmp_path_factory.getbasetemp() / "divided", *texts)
        check(monkeypatch, at_a_time, *paths, format="conll")


def test_parts_by_columns(tmp_path, monkeypatch):
    rows = [
        "Sentence #,Word,Tag",
        "Sentence: 1,a,O",
        ",b,B-X",
        "Sentence: 2,c,O",
        "Sentence: 3,d,O",
    ]
    assert check(monkeypatch, 1, *write(tmp_path, "\n".join(rows)), format="conll") == 3
    rows = ["doc\ttoken\tada", "p\ta\tO", "p\tb\tO", "q\tc\tO", "\td\tB-X", "r\te\tO"]
    assert check(monkeypatch, 1, *write(tmp_path, "\n".join(rows)), format="conll") == 3


def test_the_scheme_is_that_of_all_parts(tmp_path, monkeypatch):
    early, late = "a I-X\nb O\n\n", "c O\nd B-X\n\n"
    assert (
        check(monkeypatch, 1, *write(tmp_path, early * 3 + late, early * 3 + "c O\nd I-X\n")) == 4
    )
    for last, number in (("c S-X\nd O\n", 4), ("c I-X\nd B-X\n", 4), ("", 3)):
        (path,) = write(tmp_path, early * 3 + last)
        assert check(monkeypatch, 1, path, repeated="documents") == number


def test_gold_standard_and_system_are_found_in_all_parts(tmp_path, monkeypatch):
    text = "a O O\nb B-X O\n\nc O B-Y\n\nd B-Z B-X\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 3
    text = "a B-NP O\nb B-NP B-X\n\nc B-VP O\n\nd O B-X\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 3


def test_numbers_are_tokens_if_not_all_are_numbers(tmp_path, monkeypatch):
    text = "1 O\n2 B-X\n\nthree O\nfour O\n\n1 O\n"
    assert check(monkeypatch, 1, *write(tmp_path, text, text)) == 3
    numbered = "1 a O\n2 b B-X\n\n1 c O\n\n1 d O\n2 e O\n"
    assert check(monkeypatch, 1, *write(tmp_path, numbered, numbered)) == 3
    assert check(monkeypatch, 1, *write(tmp_path, "1 O\n2 O\n\n1 B-X\n2 O\n")) == 0
    # Where no sentence has two tokens, nothing says what the numbers are.
    lone = "1 a O\n\n2 b B-X\n\n3 c O\n"
    assert check(monkeypatch, 1, *write(tmp_path, lone, lone)) == 0


def test_columns_of_tags_are_those_of_all_rows(tmp_path, monkeypatch):
    text = "token\tother\tada\na\tx\tO\nb\tO\tO\n\nc\tO\tO\nd\ty\tB-X\n\ne\tz\tO\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 3
    assert check(monkeypatch, 1, *write(tmp_path, text), columns="tag=ada") == 3


def test_layers_in_parts_and_columns_without_tags(tmp_path, monkeypatch):
    layers = "1 a B-X O\n2 b I-X B-X\n\n1 c O O\n2 d O O\n\n1 e B-X B-X\n2 f O B-Y\n"
    assert check(monkeypatch, 1, *write(tmp_path, layers), columns="tag=3+4") == 3
    # What a later row has in the last column decides for all.
    text = "1 a B-X -\n2 b O -\n\n1 c O -\n2 d O -\n\n1 e O ada\n2 f B-X -\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 1


def test_a_broken_tag_in_the_last_part_names_its_line(tmp_path, monkeypatch):
    paths = write(tmp_path, PLAIN, PLAIN.replace("w8 B-PER", "w8 ?"))
    with pytest.raises(TagError, match=r"b\.conll:41: "):
        parts(monkeypatch, 1, *paths)
    assert check(monkeypatch, 1, *paths) == 0
    header = "# columns = token tag\n"
    (path,) = write(tmp_path, header + PLAIN.replace("w8 B-PER", "w8 B-PER x"))
    with refused(FormatError, "a.conll:42: … 3 … columns"):
        parts(monkeypatch, 1, path)


def test_other_columns_in_a_later_part_are_refused(tmp_path, monkeypatch):
    (path,) = write(tmp_path, PLAIN + "\n" + PLAIN.replace(" ", " x "))
    assert check(monkeypatch, 1, path) == 0


def test_files_of_different_lengths(tmp_path, monkeypatch):
    paths = write(tmp_path, PLAIN, "\n".join(SENTENCES[:7]))
    with refused(MismatchError, "9 … sentences … 'b' … 7"):
        parts(monkeypatch, 1, *paths)
    assert check(monkeypatch, 1, *paths) == 0
    assert check(monkeypatch, 1, *reversed(paths)) == 0


def test_one_document_is_not_cut(tmp_path, monkeypatch):
    assert check(monkeypatch, 1, *write(tmp_path, PLAIN), unit="document") == 1


@pytest.mark.slow
@each("space", [" ", "\t", "\xa0", "\u3000", "\u2028", "\x1f", "\x85", " \r"])
def test_lines_of_white_space(tmp_path, monkeypatch, space):
    text = f"“a” O\nb B-X\n{space}\nc O\n{space}\n{space}\nd O\n\n\u3042 O\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 4


def test_texts_are_found_behind_those_in_mind(tmp_path, monkeypatch):
    monkeypatch.setattr(aligned, "STEP", 4)
    monkeypatch.setattr(aligned, "BLOCK", 7)
    assert check(monkeypatch, 1, *write(tmp_path, PLAIN, PLAIN)) == 3
    assert check(monkeypatch, 1, *write(tmp_path, MARKED, PLAIN)) == 5


@st.composite
def files(draw):
    """Files of the same tokens, with other tags, comments and line ends."""
    n = draw(st.integers(1, 8))
    lengths = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    words = [draw(st.lists(st.sampled_from(WORDS), min_size=k, max_size=k)) for k in lengths]
    kinds = st.lists(st.sampled_from(("", "", *MARKS)), min_size=n, max_size=n)
    shared = draw(kinds)
    separator = draw(st.sampled_from(" \t"))
    n_columns = draw(st.integers(1, 2))
    few = draw(st.sampled_from([TAGS[:6], TAGS]))
    texts = []
    for number in range(draw(st.integers(1, 3))):
        has_marks = draw(st.booleans())
        names = [f"tags{number}{i}" for i in range(n_columns)]
        header = draw(st.sampled_from(["", "columns", "row"]))
        lines = []
        if header == "columns":
            lines.append("# columns = " + " ".join(["token", *names]) + "\n")
        elif header == "row":
            lines.append(separator.join(["token", *names]) + "\n")
        lines.append(draw(st.sampled_from(["", "", "\n", "# first\n"])))
        for i, sentence in enumerate(words):
            if has_marks:
                lines.append(shared[i].format(f"d{i}"))
            for word in sentence:
                own = [draw(st.sampled_from(few)) for _ in range(n_columns)]
                lines.append(separator.join([word, *own]) + "\n")
                lines.append(draw(st.sampled_from(["", "", "", "", "# inside\n"])))
            lines.append(draw(st.sampled_from(GAPS)))
        text = "".join(lines)
        if draw(st.booleans()):
            text = text.rstrip("\n")
        texts.append(text.replace("\n", "\r\n") if draw(st.booleans()) else text)
    return texts


@example(["a O\n\n# O\n\na O\n"], 1, 5)
@given(files(), st.integers(1, 200), st.sampled_from([5, 64, 2**21]))
def test_any_files(tmp_path_factory, texts, at_a_time, block):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(aligned, "BLOCK", block)
        paths = write(tmp_path_factory.getbasetemp() / "any", *texts)
        # Parts of a single file do not show whether most of its texts recur.
        known = {"repeated": "documents"} if len(paths) == 1 else {}
        check(monkeypatch, at_a_time, *paths, format="conll", **known)


# --- Files looked through in several processes ----------------------------------------


def elsewhere(function, jobs):
    """Results like those of other processes, the last one first."""
    work = sent(function)
    return reversed([sent(work(sent(job))) for job in jobs])


def sent(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301


@each("texts", [(PLAIN, PLAIN), (MARKED, PLAIN), (PLAIN, MARKED)])
def test_processes_do_not_matter(tmp_path, monkeypatch, texts):
    monkeypatch.setattr(scanning, "AT_A_TIME", 1)
    scan = Scan(tuple(map(str, write(tmp_path, *texts))))
    assert pieces_of(scan, elsewhere) == pieces_of(scan)


@pytest.mark.slow
def test_cuts_are_at_the_same_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(aligned, "STEP", 3)
    paths = write(tmp_path, PLAIN * 3, PLAIN.replace("x O", "longer O") * 3)
    for at_a_time in range(1, 130, 9):
        monkeypatch.setattr(scanning, "AT_A_TIME", at_a_time)
        found = pieces_of(Scan(tuple(map(str, paths))))
        assert len(found) > 1
        assert {part.ranges[0].texts_before % 3 for part in found} == {0}


def test_a_file_without_blank_lines_is_one_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(aligned, "BLOCK", 4)
    text = "".join(f"w{i} B-X\n" for i in range(9))
    assert check(monkeypatch, 1, *write(tmp_path, text, text)) == 1


def test_columns_of_tags_in_some_blocks_only(tmp_path, monkeypatch):
    monkeypatch.setattr(aligned, "BLOCK", 4)
    text = "a B-NP O\nb B-X B-X\n\nc NN O\n\nd O B-X\n"
    assert check(monkeypatch, 1, *write(tmp_path, text)) == 3
    assert check(monkeypatch, 1, *write(tmp_path, text.replace("NN", "B-NP"))) == 3


def test_packed_files_are_one_piece(tmp_path):
    paths = write(tmp_path, PLAIN, PLAIN.replace("B-PER", "O"))
    whole = bc.agreement(bc.read(*paths)).score
    found = bc.agreement(bc.scan(*(packed(str(path), "gz") for path in paths))).score
    assert found == whole


# --- Records --------------------------------------------------------------------------


def record(number, *spans, **more):
    text = f"text {number} of all"
    return {
        "text": text,
        "entities": [{"start": s, "end": e, "label": "X"} for s, e in spans],
    } | more


def written(records, *, gap="\n"):
    return gap.join(json.dumps(value) for value in records) + "\n"


@pytest.mark.slow
@each(("gap", "has_ids"), [("\n", True), ("\n\n", False), ("\r\n", True), ("\n  \n", False)])
def test_records(tmp_path, monkeypatch, gap, has_ids):
    ids = [{"id": f"r{i}"} if has_ids else {} for i in range(9)]
    texts = [
        written([record(i, (0, 4), **ids[i]) for i in range(9)], gap=gap),
        written([record(i, (5, 6), **ids[i]) for i in range(9)]),
    ]
    paths = write(tmp_path, *texts, ending="jsonl")
    assert check(monkeypatch, 1, *paths) == 4
    assert check(monkeypatch, 10**6, *paths) == 1
    names = {name for corpus in parts(monkeypatch, 1, *paths) for name in corpus.documents}
    assert names == {f"r{i}" if has_ids else str(i + 1) for i in range(9)}


def test_records_matched_by_their_order(tmp_path, monkeypatch):
    texts = [
        written([record(i, (0, 4), id=f"r{i}") for i in range(9)]),
        written([record(i, (5, 6)) for i in range(9)]),
    ]
    assert check(monkeypatch, 1, *write(tmp_path, *texts, ending="jsonl")) == 4


@each("is_of_spans", [True, False])
def test_records_that_name_annotators(tmp_path, monkeypatch, is_of_spans):
    names = ["ada", "ben", "ada", "cleo", "ada", "ada"]
    if is_of_spans:
        records = [record(i, (0, 4)) for i in range(6)]
        for value, name in zip(records, names, strict=True):
            value["entities"][0]["annotator"] = name
    else:
        records = [record(i // 2, (0, 4), annotator=name) for i, name in enumerate(names)]
        records[-1]["text"] = "another"
    assert check(monkeypatch, 1, *write(tmp_path, written(records), ending="jsonl")) == 1


def test_records_that_are_not_lines(tmp_path, monkeypatch):
    records = [record(i, (0, 4)) for i in range(4)]
    for text in (json.dumps(records), json.dumps(records[0], indent=1), json.dumps(records[0])):
        assert check(monkeypatch, 1, *write(tmp_path, text, ending="json")) == 1


def test_a_record_that_is_a_pair_begins_no_part(tmp_path, monkeypatch):
    records = [record(i, (0, 4)) for i in range(4)]
    pairs = [["text 9 of all", {"entities": []}]] * 2
    (path,) = write(tmp_path, written([*records, *pairs, *records]), ending="jsonl")
    assert check(monkeypatch, 1, path, format="records", repeated="documents") == 4


def test_a_broken_record_names_its_line(tmp_path, monkeypatch):
    lines = written([record(i, (0, 4)) for i in range(8)]).splitlines()
    for number in (4, 6, 7):
        text = "\n".join([*lines[:number], lines[number][:-1], *lines[number + 1 :]])
        (path,) = write(tmp_path, text, ending="jsonl")
        with pytest.raises(FormatError, match=rf"a\.jsonl:{number + 1}: "):
            parts(monkeypatch, 1, path)
    text = "\n".join([*lines[:7], json.dumps(record(7, (0, 99)))])
    assert check(monkeypatch, 1, *write(tmp_path, text, ending="jsonl")) == 0


@each("has_ids", [True, False])
def test_files_of_the_hub(tmp_path, monkeypatch, has_ids):
    texts = [
        written(
            {"tokens": ["a", "b"], "ner_tags": ["B-X", tag]} | ({"id": f"h{i}"} if has_ids else {})
            for i in range(8)
        )
        for tag in ("O", "I-X")
    ]
    assert check(monkeypatch, 1, *write(tmp_path, *texts, ending="jsonl")) == 4
