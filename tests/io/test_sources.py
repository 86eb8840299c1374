"""Files that somebody else wrote: opened, decoded, or refused with the place."""

import contextlib
import gzip
import io
import zipfile

from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io import sources
from beyondchance.io.markup import safe_xml, xml_root
from beyondchance.io.sources import Source, members, opened, parsed_json
from each import each
from refusals import refused


def source(data, name="file.txt"):
    return Source(name, member=data)


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


class TestText:
    @each(
        "data",
        [
            "Zoë 🙂".encode(),
            b"\xef\xbb\xbf" + "Zoë 🙂".encode(),
            "Zoë 🙂".encode("utf-16"),
            b"\xfe\xff" + "Zoë 🙂".encode("utf-16-be"),
        ],
    )
    def test_encodings(self, data):
        assert source(data).text == "Zoë 🙂"

    def test_line_ends(self):
        assert source(b"a\r\nb\n\nc").lines() == ["a", "b", "", "c"]
        assert source(b"a\n").lines() == ["a"]
        assert source(b"a\r\nb").text == "a\r\nb"
        assert source(b"").lines() == []

    def test_not_utf8(self):
        with refused(bc.FormatError, "file.txt:2: … byte … 0xe9 … UTF-8"):
            source(b"ok\nMari\xe9").text  # noqa: B018

    def test_broken_utf16(self):
        with refused(bc.FormatError, "file.txt: … broken … UTF-16 … 2"):
            source(b"\xff\xfe\x00").text  # noqa: B018

    def test_nul(self):
        with refused(bc.FormatError, "file.txt:3: … NUL … character"):
            source(b"a\nb\n\0").text  # noqa: B018

    @given(st.binary(max_size=300))
    def test_heads_never_fail(self, data):
        assert isinstance(source(data).head_text, str)

    def test_a_megabyte_on_one_line(self):
        assert source(b"x" * 2**20).lines() == ["x" * 2**20]

    def test_too_large(self, monkeypatch, tmp_path):
        monkeypatch.setattr(sources, "MOST_BYTES", 3)
        (tmp_path / "large").write_bytes(b"four")
        with refused(bc.FormatError, "4 … bytes … 3"):
            opened(tmp_path / "large").data  # noqa: B018


class TestPaths:
    def test_missing(self, tmp_path):
        with refused(bc.FormatError, "nothing.csv: … such"):
            bc.read(tmp_path / "nothing.csv")

    def test_empty_folder(self, tmp_path):
        with refused(bc.FormatError, "files"):
            bc.read(tmp_path)

    def test_folders_are_walked_in_order_and_hidden_files_left_alone(self, tmp_path):
        for name in ("b.txt", "a.txt", ".hidden", "sub/c.txt"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
        assert [s.stem for s in opened(tmp_path)] == ["a", "b", "c"]

    def test_links_out_of_the_folder(self, tmp_path):
        (tmp_path / "secret.txt").write_text("x")
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "inside.txt").write_text("x")
        (folder / "fine.txt").symlink_to(folder / "inside.txt")
        assert len(opened(folder)) == 2
        (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
        with refused(bc.FormatError, "link.txt: … leads"):
            opened(folder)

    def test_linked_folders(self, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "link").symlink_to(tmp_path / "elsewhere")
        with refused(bc.FormatError, "leads"):
            opened(folder)


class TestJson:
    @each(
        ("text", "message"),
        [
            ('{"a":\n 1,}', "export.json:2: … valid"),
            ("[NaN]", "export.json:1: … value"),
            ("[" * 100_000, "export.json:1: … nested"),
            ("1" * 5000, "export.json:1: … valid"),
            ("", "export.json:1: … valid"),
        ],
    )
    def test_refused(self, text, message):
        with refused(bc.FormatError, message):
            parsed_json(text, "export.json")

    def test_lines(self):
        lines = source(b'{"a": 1}\n\n[2]\n', "x.jsonl").json_lines()
        assert list(lines) == [(1, {"a": 1}), (3, [2])]
        with refused(bc.FormatError, "x.jsonl:2: … valid"):
            list(source(b"{}\n{", "x.jsonl").json_lines())


class TestArchives:
    def test_members(self):
        found = members(source(archive(b="2", a__c="1"), "x.zip"))
        assert [(s.name, s.text) for s in found] == [("x.zip/a/c", "1"), ("x.zip/b", "2")]

    @each("name", ["../x", "a/../../x", "/etc/x", "c:/x", "\\x"])
    def test_paths_that_leave_the_archive(self, name):
        with refused(bc.FormatError, "outside"):
            members(source(archive(**{name: "x"}), "x.zip"))

    def test_bombs(self):
        bomb = archive(zeros=b"\0" * 2**24)
        assert len(bomb) < 2**15
        with refused(bc.FormatError, "member … 'zeros' … 16,777,216"):
            members(source(bomb, "x.zip"))

    def test_many_members_that_unfold_to_too_much(self, monkeypatch):
        monkeypatch.setattr(sources, "MOST_BYTES", 1000)
        with refused(bc.FormatError, "unpacks … 1,200 … 1,000"):
            members(source(archive(a="x" * 600, b="y" * 600), "x.zip"))

    @given(st.data())
    def test_damage(self, data):
        whole = bytearray(archive(a="hello " * 20, b="world"))
        for _ in range(data.draw(st.integers(1, 4))):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        with contextlib.suppress(bc.FormatError):
            assert len(members(source(bytes(whole), "x.zip"))) <= 2


class TestXml:
    def test_plain(self):
        data = b'<?xml version="1.0" encoding="UTF-8"?><a/>'
        assert safe_xml(source(data)) == data

    @each(
        ("text", "declaration"),
        [
            ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "ENTITY"),
            ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "ENTITY"),
            ('<!DOCTYPE a [<!ENTITY % b SYSTEM "http://x.org/y">%b;]><a/>', "ENTITY"),
            ('<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY % b "c"> %b;]><a/>', "ENTITY"),
            ('<!DOCTYPE a [<!-- x --> %z; <!ENTITY b "c">]><a/>', "ENTITY"),
            ('<!DOCTYPE a [<!ELEMENT a ANY><!ATTLIST a b CDATA "c">]><a/>', "ATTLIST"),
            ('<?xml version="1.0"?>\n<!ENTITY b "c"><a/>', "ENTITY"),
            ('<!DOCTYPE a [<!ENTITY b "c">', "ENTITY"),
        ],
    )
    @each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
    def test_declarations_are_refused(self, text, declaration, encoding):
        message = f"{declaration} … annotation"
        with refused(bc.FormatError, message):
            safe_xml(source(text.encode(encoding)))

    @each(
        "text",
        [
            '<!DOCTYPE a SYSTEM "a.dtd"><a/>',
            "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
            '<?xml version="1.0"?><!DOCTYPE a PUBLIC "-//x" "http://x.org/a.dtd">\n<a/>',
            "<!DOCTYPE a><a/>",
            "<!DOCTYPE a [<!ELEMENT a ANY>]><a/>",
            '<a><![CDATA[<!DOCTYPE b [<!ENTITY c "d">]>]]></a>',
            '<a><!-- <!DOCTYPE b [<!ENTITY c "d">]> --></a>',
        ],
    )
    @each("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_a_document_type_without_entities_is_harmless(self, text, encoding):
        data = text.encode(encoding)
        assert safe_xml(source(data)) == data

    def test_the_line_of_a_declaration(self):
        text = '<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ENTITY b "c">\n]>\n<a/>'
        with refused(bc.FormatError, ":3: … XML … <!ENTITY"):
            safe_xml(source(text.encode("utf-16")))

    def test_an_entity_that_the_file_does_not_declare_is_not_looked_up(self):
        text = b'<!DOCTYPE a SYSTEM "a.dtd"><a>&b;</a>'
        with refused(bc.FormatError, "well-formed"):
            xml_root(source(text), program="a program")

    def test_strange_encodings(self):
        # Some parsers decode UTF-7, in which a declaration hides from a plain search.
        with refused(bc.FormatError, "encoding … 'UTF-7' … UTF-8"):
            safe_xml(source(b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE'))


@each("space", [" ", "\n\n", "\t ", "\r\n"])
@each("form", ["records", "label-studio", "doccano"])
def test_white_space_before_a_repeated_key(tmp_path, space, form):
    path = tmp_path / "a.json"
    path.write_text(space + '[{"text": "Mia",\n "text": "x"}]')
    with refused(bc.FormatError, f"a.json:{2 + space.count(chr(10))}: … 'text' … twice"):
        bc.read(path, format=form)


@each("content", [b"BZh", b"\x1f\x8b", b"\xfd7zXZ\0x", gzip.compress(b"a B-X\n")[:-9]])
def test_a_damaged_compressed_file_is_refused_where_it_is_read(content):
    """Not where formats ask for its beginning."""
    source = Source("a.conll.gz", member=content)
    assert source.head == content
    with refused(bc.FormatError, "a.conll.gz: … unpacked"):
        source.data  # noqa: B018
