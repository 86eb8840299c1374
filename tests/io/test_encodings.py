"""XML in the encoding that it declares, whatever program wrote it."""

import re

import beyondchance as bc
from beyondchance.io.markup import xml_root
from beyondchance.io.sources import Source
from each import each
from every_format import EXAMPLES, Annotations
from refusals import refused

DATA = Annotations(
    {"1": ["Jörg saß in Köln"], "2": ["Fräulein Mia ging nach Göteborg"]},
    {
        ("1", "anna"): [(0, 1, "PER"), (3, 4, "LOC")],
        ("1", "ben"): [(0, 1, "PER")],
        ("2", "anna"): [(0, 2, "PER"), (4, 5, "LOC")],
        ("2", "ben"): [(1, 2, "PER"), (4, 5, "LOC")],
    },
)
XML = [name for name, build in EXAMPLES.items() if b"<?xml" in b"".join(build(DATA).files.values())]
DECLARED = re.compile(r"""(<\?xml[^>]*?)\s+encoding=['"][^'"]*['"]""")


def declaring(content, declared, encoding):
    """The same XML in another encoding, which it declares."""
    text = content.decode()
    if not text.startswith("<?xml"):
        return content
    return DECLARED.sub(rf'\1 encoding="{declared}"', text, count=1).encode(encoding)


def read_example(name, folder, change=lambda content: content):
    example = EXAMPLES[name](DATA)
    files = {
        file: content if content[:2] == b"PK" else change(content)
        for file, content in example.files.items()
    }
    paths = type(example)(files, example.given, example.options).saved(folder)
    return bc.read(*paths, **{k: v for k, v in example.options.items() if v not in files})


def test_there_are_readers_of_xml():
    assert {"gate", "tei", "bioc", "knowtator", "medtator", "eaf"} <= {
        name.split("_")[0].split("-")[0] for name in XML
    }


@each("name", XML)
@each(
    ("declared", "encoding"),
    [("ISO-8859-1", "latin-1"), ("UTF-16", "utf-16"), ("UTF-16", "utf-16-le")],
)
def test_the_same_in_other_encodings(tmp_path, name, declared, encoding):
    wanted = read_example(name, tmp_path / "utf-8")
    found = read_example(
        name, tmp_path / "other", lambda content: declaring(content, declared, encoding)
    )
    assert found.texts == wanted.texts
    assert found.labels == wanted.labels
    assert (found.annotators, found.documents) == (wanted.annotators, wanted.documents)
    for columns in ("span_text", "span_annotator", "span_label", "span_start", "span_end"):
        assert getattr(found, columns).tolist() == getattr(wanted, columns).tolist()


@each(
    ("encoding", "word"),
    [("GB2312", "北京"), ("Shift_JIS", "東京"), ("EUC-KR", "서울"), ("KOI8-R", "Рим")],
)
def test_encodings_of_several_bytes(encoding, word):
    data = f'<?xml version="1.0" encoding="{encoding}"?>\n<a>{word}</a>'.encode(encoding)
    assert xml_root(Source("a.xml", member=data), program="a program").text == word


@each("encoding", ["GB2312", "KOI8-R", "ISO-8859-1"])
def test_no_encoding_hides_entities(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with refused(bc.FormatError, "ENTITY"):
        xml_root(Source("a.xml", member=text.encode(encoding)), program="a program")


@each("encoding", ["ISO-8859-12", "windows-1259", "IBM037", "UTF-7", "unicode_escape"])
def test_other_encodings(encoding):
    data = f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode()
    with refused(bc.FormatError, f"a.xml:1: … '{encoding}' … UTF-8"):
        xml_root(Source("a.xml", member=data), program="a program")


def test_bytes_that_are_not_of_the_declared_encoding():
    data = b'<?xml version="1.0" encoding="US-ASCII"?>\n<a>K\xf6ln</a>'
    with refused(bc.FormatError, "a.xml:2: … 0xf6 … US-ASCII"):
        xml_root(Source("a.xml", member=data), program="a program")


def test_a_byte_order_mark_is_believed_more_than_a_declaration():
    data = '\ufeff<?xml version="1.0" encoding="ISO-8859-1"?><a>Köln</a>'
    source = Source("a.xml", member=data.encode())
    assert source.encoding == "utf-8-sig"
    assert source.text.endswith("<a>Köln</a>")
