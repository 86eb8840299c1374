"""`read` itself: formats told by content, annotators named, options checked."""

import io
import json
from inspect import signature
from pathlib import Path

import beyondchance as bc
from beyondchance.io.formats import table
from beyondchance.io.registry import FORMATS, Upload, required
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions, declared
from each import each
from refusals import assert_tells, refused

CONLL = "Anna\tB-PER\nleft\tO\n"
TABLE = "document,annotator,start,end,label,length\nx,anna,0,4,PER,9\nx,ben,0,4,PER,9\n"
DOCCANO = '{"id": 1, "text": "Anna left", "label": [[0, 4, "PER"]]}\n'
PRODIGY = (
    '{"text": "Anna left", "spans": [{"start": 0, "end": 4, "label": "PER"}], '
    '"_input_hash": 1, "_annotator_id": "anna", "answer": "accept"}\n'
)
RECORDS = '[{"text": "Anna left", "entities": [{"start": 0, "end": 4, "type": "PER"}]}]'
LABEL_STUDIO = json.dumps(
    [
        {
            "id": 1,
            "data": {"text": "Anna left"},
            "annotations": [
                {
                    "id": 2,
                    "completed_by": 3,
                    "result": [
                        {
                            "type": "labels",
                            "value": {"start": 0, "end": 4, "text": "Anna", "labels": ["PER"]},
                            "from_name": "label",
                            "to_name": "text",
                        }
                    ],
                }
            ],
        }
    ]
)
CONLLU = (
    "1\tAnna\tAnna\tPROPN\t_\t_\t0\troot\t_\tNER=B-PER\n"
    "2\tleft\tleave\tVERB\t_\t_\t1\tdep\t_\tNER=O\n\n"
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Name|value\n\n\n"
    "#Text=Anna left\n1-1\t0-4\tAnna\tPER\t\n1-2\t5-9\tleft\t_\t\n"
)
RTTM = "SPEAKER talk 1 0.00 1.00 <NA> <NA> anna <NA> <NA>\n"
BDOCJS = json.dumps(
    {
        "annotation_sets": {
            "anna": {
                "name": "anna",
                "annotations": [{"type": "PER", "start": 0, "end": 4, "id": 0, "features": {}}],
                "next_annid": 1,
            }
        },
        "text": "Anna left",
        "features": {},
        "offset_type": "p",
        "name": "",
    }
)
TEI = (
    '<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>\n'
    "<text><body><p><persName>Anna</persName> left</p></body></text></TEI>\n"
)
REFI_QDA = (
    '<?xml version="1.0" encoding="utf-8"?>\n<Project name="p" xmlns="urn:QDA-XML:project:1.0">'
    '<CodeBook><Codes><Code guid="c" name="PER"/></Codes></CodeBook><Sources>'
    '<TextSource guid="t" name="letter"><PlainTextContent>Anna left</PlainTextContent>'
    '<PlainTextSelection guid="s" startPosition="0" endPosition="4">'
    '<Coding guid="x"><CodeRef targetGUID="c"/></Coding></PlainTextSelection>'
    "</TextSource></Sources></Project>\n"
)
BIOC = json.dumps(
    {
        "documents": [
            {
                "id": "1",
                "passages": [
                    {
                        "offset": 0,
                        "infons": {},
                        "text": "Anna left",
                        "annotations": [
                            {
                                "infons": {"type": "PER"},
                                "text": "Anna",
                                "locations": [{"offset": 0, "length": 4}],
                            }
                        ],
                    }
                ],
            }
        ]
    }
)
PUBTATOR = "1|t|Anna left\n1|a|\n1\t0\t4\tAnna\tPER\n"
MEDTATOR = "<X><TEXT>Anna left</TEXT><TAGS><PER spans='0~4' text='Anna'/></TAGS></X>"
HF = '{"id": "1", "tokens": ["Anna", "left"], "ner_tags": ["B-PER", "O"]}\n'
QUOTES = '{"id": 1, "text": "Anna left", "entities": [{"text": "Anna", "label": "PER"}]}\n'
ARGILLA = json.dumps(
    [
        {
            "id": "1",
            "fields": {"text": "Anna left"},
            "suggestions": {},
            "responses": {
                "spans": [{"value": [{"label": "PER", "start": 0, "end": 4}], "user_id": "anna"}]
            },
        }
    ]
)
LANGEXTRACT = (
    '{"extractions": [{"extraction_class": "PER", "extraction_text": "Anna", "char_interval": '
    '{"start_pos": 0, "end_pos": 4}}], "text": "Anna left", "document_id": "1"}\n'
)
ANSWERS = json.dumps(
    {"id": 1, "text": "Anna left", "output": json.dumps([{"text": "Anna", "label": "PER"}])}
)
MQM = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "one\tnews\t1\t1\tanna\tAnna ging\t<v>Anna</v> left\tStyle/Awkward\tMinor\n"
)
ESA = (
    '{"user_id": "anna", "item_i": 0, "item": [{"item_id": "1", "tgt": {"one": "Anna left"}}], '
    '"annotation": [{"one": {"score": 80, "error_spans": '
    '[{"start_i": 0, "end_i": 3, "severity": "minor", "category": null}]}}]}\n'
)
TOXIC_SPANS = 'spans,text\n"[0, 1, 2, 3]",Anna left\n'
FACTGENIE = (
    '{"dataset": "d", "split": "test", "example_idx": 0, "setup_id": "one", "output": "Anna left", '
    '"annotations": [{"type": 0, "text": "Anna", "start": 0}], "annotator_group": 1}\n'
)
WRITTEN = {
    "conll": CONLL,
    "argilla": ARGILLA,
    "langextract": LANGEXTRACT,
    "hf": HF,
    "table": TABLE,
    "doccano": DOCCANO,
    "prodigy": PRODIGY,
    "records": RECORDS,
    "quotes": QUOTES,
    "answers": ANSWERS,
    "label-studio": LABEL_STUDIO,
    "conllu": CONLLU,
    "webanno-tsv": WEBANNO,
    "rttm": RTTM,
    "gate": BDOCJS,
    "tei": TEI,
    "refi-qda": REFI_QDA,
    "bioc": BIOC,
    "pubtator": PUBTATOR,
    "medtator": MEDTATOR,
    "mqm": MQM,
    "esa": ESA,
    "factgenie": FACTGENIE,
    "toxic-spans": TOXIC_SPANS,
}


@each("name", WRITTEN)
@each("ending", ["txt", "json", "csv"])
def test_the_content_tells_the_format_not_the_ending(tmp_path, name, ending):
    path = tmp_path / f"anna.{ending}"
    path.write_text(WRITTEN[name], encoding="utf-8")
    corpus = bc.read(path, **({"grid": "10ms"} if name == "rttm" else {}))
    assert_tells(corpus.notes[0], f"{path.name}: … read … {name}")
    assert [i.format for i in corpus.inputs] == [name]
    assert len(corpus.inputs[0].sha256) == 64
    assert len(corpus.span_start) >= 1


def test_formats_agree_on_whose_a_file_is():
    for name, content in WRITTEN.items():
        upload = Upload("x", "x", [Source("x", member=content.encode())])
        claimed = [item.name for item in FORMATS.values() if item.detects(upload)]
        assert claimed[0] == name, (name, claimed)


def test_nothing_recognised(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Anna,\nhow are you?\n")
    with refused(bc.FormatError, "letter.txt: … without"):
        bc.read(tmp_path / "letter.txt")


def test_annotators_are_named_after_files(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.conll").write_text(CONLL)
    corpus = bc.read(tmp_path / "anna.conll", tmp_path / "ben.conll")
    assert corpus.annotators == ("anna", "ben")
    assert bc.agreement(corpus).observed == 1


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.conll").write_text(CONLL)
    corpus = bc.read(tmp_path / "anna" / "all.conll", tmp_path / "ben" / "all.conll")
    assert corpus.annotators == ("anna/all", "ben/all")


def test_formats_may_be_mixed_where_both_have_texts(tmp_path):
    (tmp_path / "anna.conll").write_text(CONLL)
    (tmp_path / "ben.jsonl").write_text(DOCCANO)
    paths = (tmp_path / "anna.conll", tmp_path / "ben.jsonl")
    message = "doccano … unit=UNIT"
    with refused(bc.OptionError, message):
        bc.read(*paths)
    corpus = bc.read(*paths, unit="document", positions="tokens")
    assert bc.agreement(corpus).observed == 1


def test_tables_and_times_may_not(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.conll").write_text(CONLL)
    for paths in (("a.csv", "b.conll"), ("b.conll", "a.csv")):
        with refused(bc.OptionError, "together"):
            bc.read(*(tmp_path / p for p in paths), unit="document", positions="tokens")


@each(
    ("options", "message"),
    [
        ({"format": "word"}, "format … 'word'"),
        ({"colour": "red"}, "option … 'colour'"),
        ({"grid": "10ms"}, "grid"),
        ({"positions": "words"}, "positions … 'words'"),
        ({"repair": "fix"}, "repair … 'fix'"),
        ({"predictions": 1}, "predictions … 1"),
        ({"length": -1}, "length … -1 … 0"),
    ],
)
def test_options(tmp_path, options, message):
    (tmp_path / "anna.conll").write_text(CONLL)
    with refused(bc.OptionError, message):
        bc.read(tmp_path / "anna.conll", **options)


def test_gold_is_not_one_more_annotator(tmp_path):
    for name in ("anna", "ben", "truth"):
        (tmp_path / f"{name}.conll").write_text(CONLL)
    paths = [tmp_path / f"{name}.conll" for name in ("anna", "ben", "truth")]
    corpus = bc.read(*paths, gold="truth")
    assert corpus.gold == "truth"
    result = bc.agreement(corpus)
    assert list(result.by_pair) == [("anna", "ben")]
    assert result.settings.gold == "truth"
    # Beside one annotator, the two are compared.
    alone = bc.agreement(bc.read(paths[0], paths[2], gold="truth"))
    assert list(alone.by_pair) == [("truth", "anna")]
    with refused(bc.DataError, "standard … 'nobody'"):
        bc.read(*paths, gold="nobody")


def test_gold_may_be_a_file(tmp_path):
    for name in ("anna", "ben", "truth"):
        (tmp_path / f"{name}.conll").write_text(CONLL)
    anna, ben, truth = (tmp_path / f"{name}.conll" for name in ("anna", "ben", "truth"))
    for gold in (truth, str(truth)):
        for given in ([anna, ben], [truth, anna, ben]):
            corpus = bc.read(*given, gold=gold)
            assert corpus.gold == "truth"
            assert sorted(corpus.annotators) == ["anna", "ben", "truth"]
    missing = tmp_path / "missing.conll"
    with refused(bc.FormatError, "missing.conll: … folder"):
        bc.read(anna, gold=missing)
    with refused(bc.DataError, "' … missing.conll … among"):
        bc.read(anna, gold=str(missing))


def test_a_gold_file_may_name_its_annotator(tmp_path):
    (tmp_path / "anna.csv").write_text(
        "document,annotator,start,end,label,length\n1,anna,0,2,P,9\n"
    )
    gold = tmp_path / "adjudicated.csv"
    gold.write_text("document,annotator,start,end,label,length\n1,expert,0,3,P,9\n")
    assert bc.read(tmp_path / "anna.csv", gold=gold).gold == "expert"
    gold.write_text(
        "document,annotator,start,end,label,length\n1,expert,0,3,P,9\n1,judge,0,3,P,9\n"
    )
    with refused(bc.DataError, "2 … annotators … 'expert' … 'judge'"):
        bc.read(tmp_path / "anna.csv", gold=gold)


def test_a_gold_file_is_read_once(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("anna.csv", "adjudicated.csv")]
    for path, name in zip(paths, ("anna", "expert"), strict=True):
        path.write_text(f"document,annotator,start,end,label,length\n1,{name},0,3,P,9\n")
    uploads = []
    kept = table.read
    monkeypatch.setattr(
        table, "read", lambda given, reading: uploads.extend(given) or kept(given, reading)
    )
    assert bc.read(paths[0], gold=paths[1]).gold == "expert"
    assert [upload.name for upload in uploads] == [str(path) for path in paths]


def test_the_annotator_of_a_gold_file_in_every_kind_of_reader(tmp_path):
    (tmp_path / "anna.txt").write_text("Rome")
    task = {"text": "Rome", "_input_hash": 1, "answer": "accept", "spans": []}
    for number, name in enumerate(("anna", "expert")):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps({**task, "_annotator_id": name}) + "\n")
    assert bc.read(tmp_path / "0.jsonl", gold=tmp_path / "1.jsonl").gold == "expert"


def test_streams(tmp_path):
    (tmp_path / "anna.conll").write_text(CONLL)
    (tmp_path / "ben.conll").write_text(CONLL)
    with (tmp_path / "anna.conll").open("rb") as stream:
        corpus = bc.read(stream, tmp_path / "ben.conll")
    assert corpus.annotators == ("anna", "ben")
    assert bc.agreement(corpus).observed == 1
    assert bc.read(io.BytesIO(CONLL.encode())).annotators == ("stream 1",)
    with refused(bc.OptionError, "stream"):
        bc.read(io.StringIO(CONLL))


def test_a_file_that_breaks_off(tmp_path):
    (tmp_path / "anna.conll").write_text(f"{CONLL}\n{CONLL}")
    (tmp_path / "ben.conll").write_text(CONLL)
    message = "'anna' … 2 … sentences … 'ben' … 1"
    with refused(bc.MismatchError, message):
        bc.read(tmp_path / "anna.conll", tmp_path / "ben.conll")


def test_a_file_without_marks_is_one_document_if_asked_for(tmp_path):
    (tmp_path / "anna.conll").write_text(f"{CONLL}\n{CONLL}")
    corpus = bc.read(tmp_path / "anna.conll", unit="document")
    assert corpus.text_length.tolist() == [4]
    assert corpus.spans("1", "anna") == [(0, 1, "PER"), (2, 3, "PER")]


def test_a_table_has_no_sentences(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    with refused(bc.OptionError, "sentences … unit='document'"):
        bc.read(tmp_path / "a.csv", unit="sentence")


def test_a_file_given_twice(tmp_path):
    (tmp_path / "anna.conll").write_text(CONLL)
    with refused(bc.OptionError, "anna.conll … given"):
        bc.read(tmp_path / "anna.conll", tmp_path / "anna.conll")


@each(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"PK\x03\x04rest", "archive"),
        (
            "document,Jürgen\n".encode("cp1252"),
            ":1: … byte … 0xfc … UTF-8 … UTF-8",
        ),
        (b"\0\1\2", "NUL … character"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with refused(bc.FormatError, message):
        bc.read(tmp_path / "file")


def test_every_choice_that_moves_a_digit_is_signed(tmp_path):
    (tmp_path / "export.json").write_text(LABEL_STUDIO)
    corpus = bc.read(tmp_path / "export.json", predictions=True, offsets="utf16", match="text")
    signed = {"predictions": True, "offsets": "utf16", "match": "text"}
    assert signed.items() <= corpus.options.items()


def test_nothing_to_read():
    with refused(bc.OptionError, "nothing"):
        bc.read()


def test_choices_are_signed(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.jsonl").write_text(DOCCANO)
    paths = (tmp_path / "anna.jsonl", tmp_path / "ben.jsonl")
    corpus = bc.read(*paths, positions="tokens", zero_length="skip", strict="cut_tokens")
    settings = bc.agreement(corpus).settings
    assert (settings.tokens, settings.zero_length, settings.align) == ("rule", "skip", "strict")
    assert bc.Settings.parse(str(settings)) == settings


def test_the_tokeniser_is_signed(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.jsonl").write_text(DOCCANO.replace("left", "left."))
    paths = (tmp_path / "anna.jsonl", tmp_path / "ben.jsonl")
    for positions, origin, length in (("tokens", "rule", 3), ("whitespace", "whitespace", 2)):
        corpus = bc.read(*paths, positions=positions)
        assert corpus.text_length.tolist() == [length]
        settings = bc.agreement(corpus).settings
        assert f"|tokens:{origin}|" in str(settings)
        assert bc.Settings.parse(str(settings)) == settings


@each("name", ["conll", "conllu", "webanno-tsv"])
def test_formats_with_tokens_need_no_white_space(tmp_path, name):
    (tmp_path / "file").write_text(WRITTEN[name], encoding="utf-8")
    corpus = bc.read(tmp_path / "file", positions="whitespace")
    assert corpus.options["tokens"] == "file"
    assert_tells(corpus.notes[-1], "positions='whitespace' … tokens")


@each(
    ("offsets", "message"),
    [
        ("inclusive", "offsets='inclusive' … doccano"),
        ("utf16,bytes", "offsets … 'utf16,bytes'"),
        ("inclusive,exclusive", "offsets … 'inclusive,exclusive'"),
        ("utf8", "offsets 'utf8' … codepoints"),
        (["utf16"], "offsets"),
    ],
)
def test_offsets_that_nothing_can_follow(tmp_path, offsets, message):
    (tmp_path / "anna.jsonl").write_text(DOCCANO)
    with refused(bc.OptionError, message):
        bc.read(tmp_path / "anna.jsonl", offsets=offsets)


def test_times_have_no_tokens(tmp_path):
    (tmp_path / "file").write_text(WRITTEN["rttm"], encoding="utf-8")
    with refused(bc.OptionError, "positions … rttm"):
        bc.read(tmp_path / "file", positions="whitespace")


def test_a_missing_library_is_named_with_the_extra():
    message = "library"
    with refused(bc.MissingLibraryError, message):
        required("nowhere_to_be_found", extra="uima", purpose="reading UIMA files")


def test_every_format_says_what_it_is():
    for item in FORMATS.values():
        assert item.title
        assert item.example
        reader = item.reader()
        assert list(signature(reader.is_format).parameters) == ["upload"]
        assert list(signature(reader.read, follow_wrapped=False).parameters) == [
            "uploads",
            "reading",
        ]
        assert (item.library is None) == (item.extra is None)


def test_the_documentation_lists_every_format_and_every_option():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text("utf-8")
    for item in FORMATS.values():
        extra = f"`{item.extra}`" if item.extra else ""
        assert f"| `{item.name}` | {item.title} | {item.offsets} | {extra}".rstrip() in page
        stays = page[page.index("Random spans stay in") :].split("\n\n")[0]
        assert (item.unit == "document") == (f"`{item.name}`" not in stays.split("*Positions*")[0])
        assert (item.positions == "tokens") == (
            f"`{item.name}`" not in stays.split("*Positions*")[1]
        )
    commands = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")
    listed = commands[commands.index("## Shared options") :]
    for name, option in declared(ReadOptions).items():
        entry = listed[listed.index(f"--{name.replace('_', '-')} ") :]
        assert all(value in entry[:200] for value in option.choices), name
