"""What a file would take in memory is known before it is taken, and refused if it is too much."""

import gzip
import io
import tracemalloc
import zipfile
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import srsly
from spacy.tokens import DocBin

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io import parquet_rows
from each import each
from refusals import assert_tells, refused

CONLL = b"Mia B-P\nLund I-P\n\nOslo B-L\n"


@pytest.fixture
def refusal(tmp_path):
    """Why a file is refused, and how much memory that took."""

    def refuses(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content)
        tracemalloc.start()
        try:
            with pytest.raises(bc.FormatError) as caught:
                bc.read(path, **options)
            return str(caught.value), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return refuses


class TestSizes:
    @each(("size", "n_bytes"), [("2kB", 2000), ("1.5 MB", 1_500_000), (7, 7), ("3g", 3 * 10**9)])
    def test_sizes(self, size, n_bytes, tmp_path):
        hole = tmp_path / "hole.conll"
        with hole.open("wb") as file:
            file.truncate(n_bytes + 1)
        with refused(bc.FormatError, f"{n_bytes + 1:,} … bytes … {n_bytes:,}:"):
            bc.read(hole, format="conll", max_size=size)

    @each("size", ["", "much", "0", -1, True, "1e400", "4 apples"])
    def test_what_is_no_size(self, size):
        with refused(bc.OptionError, "size"):
            bc.read(io.BytesIO(CONLL), max_size=size)

    def test_the_hole_of_a_sparse_file(self, tmp_path):
        hole = tmp_path / "hole.conll"
        with hole.open("wb") as file:
            file.write(CONLL)
            file.truncate(10 * 10**9)
        with refused(bc.FormatError, "hole.conll: … holds … 10 … allow … max_size='10GB'"):
            bc.read(hole)

    def test_on_the_command_line(self, tmp_path, capsys):
        path = tmp_path / "anna.conll"
        path.write_bytes(CONLL)
        assert main(["agree", str(path), "--max-size", "9"]) == 1
        assert_tells(capsys.readouterr().err, "anna.conll: … 27 … 9 … --max-size")
        assert main(["agree", str(path), "--max-size", "apples"]) == 2
        assert_tells(capsys.readouterr().err, "--max-size … 'apples' … 500MB")


class TestStreams:
    def test_packed_streams_are_read_as_far_as_they_may(self):
        packed = io.BytesIO(gzip.compress(b"\n" * 2 * 10**7))
        tracemalloc.start()
        try:
            with (
                gzip.open(packed) as stream,
                refused(bc.FormatError, "most … 2,000,000"),
            ):
                bc.read(stream, max_size="2MB")
            assert tracemalloc.get_traced_memory()[1] < 10**7
        finally:
            tracemalloc.stop()

    def test_streams_that_give_a_little_at_a_time(self):
        class Slow(io.RawIOBase):
            name = "anna.conll"
            left = CONLL

            def read(self, _=-1):
                part, self.left = self.left[:3], self.left[3:]
                return part

        assert bc.read(Slow(), format="conll").spans("1", "anna") == [(0, 2, "P")]


class TestArchives:
    def test_more_can_be_allowed(self, refusal, tmp_path):
        line = b'{"text": "Mia", "label": [[0, 3, "P"]]}\n'
        with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("anna.jsonl", line + b"\n" * 1_500_000)
        path = tmp_path / "export.zip"
        said, _ = refusal("export.zip", path.read_bytes())
        assert_tells(said, "/export.zip: … unpacks … 1,500,040 … max_size='2MB'")
        assert bc.read(path, max_size="2MB").annotators == ("anna",)


class TestDocBins:
    BASE = srsly.msgpack_loads(zlib.decompress(DocBin().to_bytes()))

    def packed(self, **values):
        return zlib.compress(srsly.msgpack_dumps({**self.BASE, **values}))

    @pytest.mark.slow
    def test_values_that_take_a_byte_each(self, refusal):
        said, memory = refusal(
            "a.spacy", self.packed(cats=[{}] * 900_000), format="spacy", max_size="20MB"
        )
        assert_tells(said, "takes about 72,… max_size='73MB'")
        assert memory < 5 * 10**6

    def test_lists_that_are_declared_and_not_there(self, refusal):
        nested = b"\x81\xa5attrs" + b"\xdd\x00\x0f\x00\x00" * 1000 + b"\0" * 10**6
        said, memory = refusal("a.spacy", zlib.compress(nested), format="spacy", max_size="20MB")
        assert_tells(said, "takes about 23,… max_size=")
        assert memory < 5 * 10**6

    def test_documents_without_tokens(self, refusal):
        n = 5_000
        said, _ = refusal(
            "a.spacy",
            self.packed(lengths=b"\0" * 4 * n, flags=[{}] * n, span_groups=[b""] * n),
            format="spacy",
            max_size="20MB",
        )
        assert_tells(said, "25,000,000 … max_size='25MB'")

    def test_too_little_memory_is_no_damage(self, refusal, monkeypatch):
        def fails(_):
            raise MemoryError

        monkeypatch.setattr(srsly, "msgpack_loads", fails)
        said, _ = refusal("a.spacy", self.packed(), format="spacy")
        assert_tells(said, "enough … memory")


class TestParquet:
    def content(self, **columns):
        file = io.BytesIO()
        pq.write_table(pa.table(columns), file)
        return file.getvalue()

    def one(self, text, n):
        """A text that is written once, and stands in all rows."""
        return pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text]))

    def test_a_text_in_every_row(self, refusal):
        n = 2000
        spans = [[{"start": 0, "end": 1, "label": "L"}]] * n
        rows = self.content(text=self.one("x" * 10**5, n), spans=spans)
        numbers = list(map(str, range(n)))
        table = self.content(
            document=numbers, text=self.one("x" * 10**5, n), start=[0] * n, end=[1] * n,
            label=["L"] * n,
        )  # fmt: skip
        for content in (rows, table):
            assert len(content) < 50_000
            before = pa.total_allocated_bytes()
            said, memory = refusal("a.parquet", content, max_size="50MB")
            assert_tells(said, "columns … 50,000,000 … max_size='200MB'")
            assert memory + pa.total_allocated_bytes() - before < 10**7

    def test_texts_in_lists(self, refusal):
        texts = pa.ListArray.from_arrays([0, 1000], self.one("x" * 10**5, 1000))
        said, _ = refusal(
            "a.parquet", self.content(tokens=texts, ner_tags=[["O"] * 1000]), max_size="50MB"
        )
        assert_tells(said, "columns … 50,000,000 … max_size='200MB'")

    def test_numbers_in_lists(self, refusal):
        numbers = pa.ListArray.from_arrays([0, 10**6], pa.array([0] * 10**6))
        content = self.content(tokens=[["a"]], ner_tags=numbers)
        assert len(content) < 10_000
        said, memory = refusal("a.parquet", content, max_size="5MB")
        assert_tells(said, "columns take 8,000,… max_size=")
        assert memory < 10**6

    def test_large_files_are_weighed_and_read(self, monkeypatch, tmp_path):
        weighed = []
        real = parquet_rows._weight
        monkeypatch.setattr(parquet_rows, "_weight", lambda array: weighed.append(1) or real(array))
        spans = [[{"start": 0, "end": 3, "label": "L"}], []] * 50
        texts = [f"Mia and {number}" for number in range(100)]
        (tmp_path / "anna.parquet").write_bytes(self.content(text=texts, spans=spans))
        found = bc.read(tmp_path / "anna.parquet", max_size="100kB")
        assert weighed
        assert len(found.span_start) == 50
