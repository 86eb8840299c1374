"""Folders: a damaged file is refused by its name, and what is no annotation is left out."""

import zlib
from itertools import cycle

import pytest

import beyondchance as bc
from beyondchance.io.formats import conll
from each import each
from every_format import EXAMPLES, FORMATS, Annotations, Example

TEXTS = {
    "d1": "Mia Lund met Bo Li in Oslo , said Bo .",
    "d2": "The fair of Rome opened when Ada Berg came home to Rome",
    "d3": "Nothing to see here today in Paris or in Lima",
}
SPANS = {
    "anna": [(0, 2, "PER"), (4, 6, "LOC")],
    "ben": [(0, 1, "PER"), (4, 6, "LOC")],
}
NOT_IN_FOLDERS = {
    *("hf_jsonl", "hf_layers", "hf_json", "hf_parquet", "langextract"),  # one for each annotator
    *("doccano_zip", "table_of_documents", "esa_appraise", "mqm_json"),  # one file for all
    *("table_of_words", "table_xlsx"),  # likewise
    "comprehend",  # one file of texts
}
_SELECTIVE = (
    *("webanno-tsv", "uima", "bioc", "web-annotation", "refi-qda", "factgenie", "brat", "conllu"),
    *("spacy", "gate", "tei", "pubtator", "medtator", "knowtator", "eaf", "textgrid"),
)
SELECTIVE = [one.__name__ for name in _SELECTIVE for one in FORMATS[name]]
"""Examples of formats that leave out files of other formats; all others refuse them."""
UNIFORM = [name for name in EXAMPLES if name not in {*SELECTIVE, *NOT_IN_FOLDERS}]


def in_folders(name):
    """The files of each document, in a folder for each annotator or in one for all."""
    files, options = {}, {}
    for document, text in TEXTS.items():
        spans = {(document, person): marked for person, marked in SPANS.items()}
        example = EXAMPLES[name](Annotations({document: [text]}, spans))
        options = example.options
        for path, content in example.files.items():
            stem, _, ending = path.partition(".")
            if "/" in path:
                files[path] = content
            elif stem in TEXTS:
                files[f"all/{path}"] = content
            elif stem in SPANS:
                files[f"{stem}/{document}.{ending}"] = content
            elif stem == "TypeSystem":
                files |= {f"{person}/{path}": content for person in SPANS}
            else:
                files[f"all/{document}-{path}"] = content
    folders = dict.fromkeys(path.partition("/")[0] for path in files)
    return Example(files, list(folders), options)


def cut(content):
    """The first half, up to the middle of a line."""
    middle = len(content) // 2
    begin = content.rfind(b"\n", 0, middle) + 1
    end = content.find(b"\n", middle) if b"\n" in content[middle:] else len(content)
    return content[: (begin + end) // 2]


DAMAGES = {
    "its first bytes": lambda content: content[:7],
    "other bytes": lambda content: b"\xff\x00\xfa\x80" * (len(content) // 4),
    "packed": zlib.compress,
    "another page": lambda _: b"<html><body>504 Gateway Time-out</body></html>",
    "half of it": cut,
}
OTHERS = {
    "README.md": b"# Names\n",
    ".DS_Store": b"\0\0\0\1Bud1\0",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0",
    "TypeSystem2.xml": b"<?xml version='1.0'?><typeSystemDescription></typeSystemDescription>",
}
"""What is no annotation, by its name or its content."""


def annotations_of(example):
    """The files of the first folder that can be damaged."""
    own = [path for path in example.files if path.startswith(f"{example.given[0]}/")]
    return [path for path in own if not path.endswith((".txt", "TypeSystem.xml"))] or own


@pytest.mark.slow
@each(["name", "damage"], zip([*SELECTIVE, *UNIFORM], cycle(DAMAGES), strict=False))
def test_a_damaged_file_is_refused_by_its_name(tmp_path, name, damage):
    example = in_folders(name)
    given = example.saved(tmp_path)
    bc.read(*given, **example.options)
    paths = annotations_of(example)
    path = paths[zlib.crc32(name.encode()) % len(paths)]
    (tmp_path / path).write_bytes(DAMAGES[damage](example.files[path]))
    for options in ({}, {"strict": True}):
        with pytest.raises(bc.BeyondChanceError, match=path):
            bc.read(*given, **example.options, **options)


@pytest.mark.slow
@each("name", SELECTIVE)
def test_what_is_no_annotation_is_left_out_and_counted(tmp_path, name):
    example = in_folders(name)
    given = example.saved(tmp_path)
    before = bc.read(*given, **example.options)
    for path, content in OTHERS.items():
        (given[0] / path).write_bytes(content)
    after = bc.read(*given, **example.options)
    assert after.documents == before.documents
    assert len(after.span_start) == len(before.span_start)
    n_before, n_after = (
        sum(n for what, n in corpus.skipped.items() if "files" in what)
        for corpus in (before, after)
    )
    # Hidden files are not looked at, and a type system belongs to what UIMA reads.
    assert n_after - n_before == (2 if name.startswith("uima") else 3)


@pytest.mark.slow
@each(
    ["name", "other"],
    [
        ("factgenie", "esa"),
        ("webanno_tsv", "mqm"),
        ("bioc_json", "label_studio"),
        ("uima_json", "records_of_pairs"),
    ],
)
def test_a_file_of_another_format_is_left_out_even_if_it_ends_alike(tmp_path, name, other):
    example, others = in_folders(name), in_folders(other)
    given = example.saved(tmp_path)
    before = bc.read(*given, **example.options)
    path = annotations_of(others)[0]
    (given[0] / f"other-{path.rpartition('/')[2]}").write_bytes(others.files[path])
    after = bc.read(*given, **example.options, strict=True)
    assert after.documents == before.documents
    assert len(after.span_start) == len(before.span_start)
    assert after.skipped == {**before.skipped, "files of other formats ignored": 1}


@each("name", ["hf_jsonl", "hf_json", "hf_parquet", "langextract", "refi_qda"])
def test_one_damaged_file_of_a_team_is_refused_by_its_name(tmp_path, name):
    spans = {("d1", person): marked for person, marked in SPANS.items()}
    example = EXAMPLES[name](Annotations({"d1": [TEXTS["d1"]]}, spans))
    example.saved(tmp_path)
    assert bc.read(tmp_path, **example.options).annotators == tuple(SPANS)
    path = tmp_path / [*example.files][-1]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(bc.BeyondChanceError, match=path.name):
        bc.read(tmp_path, **example.options)


def test_files_of_annotators_are_read_once_but_for_the_first(tmp_path, monkeypatch):
    names = ["ada", "ben", "cleo"]
    for name in names:
        (tmp_path / f"{name}.conll").write_text("Ada B-PER\nsat O\n\nBo B-PER\n")
    parsed = []
    parse = conll.parsed_file
    monkeypatch.setattr(conll, "parsed_file", lambda file: parsed.append(file.stem) or parse(file))
    corpus = bc.read(tmp_path)
    assert corpus.annotators == tuple(names)
    assert corpus.options["folder"] == "annotators"
    assert sorted(parsed) == ["ada", *names]


def test_files_that_name_their_annotators_are_a_folder_of_documents(tmp_path):
    for name in ("ada", "ben"):
        rows = f"document,annotator,start,end,label,text\nd,{name},0,3,PER,Ada sat\n"
        (tmp_path / f"{name}.csv").write_text(rows)
    corpus = bc.read(tmp_path)
    assert corpus.annotators == ("ada", "ben")
    assert "folder" not in corpus.options


@each("is_first", [True, False])
def test_a_folder_of_which_some_files_name_annotators_is_of_documents(tmp_path, is_first):
    plain, named = ("a", "b") if is_first else ("b", "a")
    (tmp_path / f"{plain}.conll").write_text("Ada B-PER\nsat O\n")
    (tmp_path / f"{named}.conll").write_text("token anna ben\nAda B-PER O\nsat O O\n")
    assert bc.read(tmp_path).documents == ("a", "b")
