"""Files in a store that fsspec knows: one in memory, which needs no network."""

import fsspec
import pytest

import beyondchance as bc
from beyondchance import FormatError
from beyondchance.io.sources import listed
from refusals import refused

ROWS = "document,annotator,start,end,label,length\n"
ADA = ROWS + "d1,ada,0,2,P,9\nd2,ada,3,4,P,9\n"
BEN = ROWS + "d1,ben,0,2,P,9\nd2,ben,5,6,P,9\n"


@pytest.fixture
def store():
    """A folder of two tables, one of them in a folder of its own."""
    files = {"spans/ada.csv": ADA, "spans/more/ben.csv": BEN, "spans/.hidden": "", "empty/_x": ""}
    system = fsspec.filesystem("memory")
    for name, content in files.items():
        system.pipe(f"/tables/{name}", content.encode())
    yield "memory://tables"
    system.rm("/tables", recursive=True)


def test_files_of_a_store_are_scored_as_those_of_a_disk(store, tmp_path):
    (tmp_path / "both.csv").write_text(ADA + BEN.removeprefix(ROWS), "utf-8")
    fsspec.filesystem("memory").pipe("/tables/both.csv", (tmp_path / "both.csv").read_bytes())
    there, here = (
        bc.agreement(bc.scan(path)) for path in (f"{store}/both.csv", tmp_path / "both.csv")
    )
    assert (there.observed, there.chance) == (here.observed, here.chance)
    assert there.observed == 0.6666666666666666  # two of three tokens of each


def test_a_folder_a_pattern_and_a_file_are_listed(store):
    ada, ben = f"{store}/spans/ada.csv", f"{store}/spans/more/ben.csv"
    assert [name.replace("memory:///", "memory://") for name in listed(f"{store}/spans")] == [
        ada, ben
    ]  # fmt: skip
    for place in (f"{store}/spans/*.csv", ada):
        assert [name.replace("memory:///", "memory://") for name in listed(place)] == [ada]


def test_what_is_not_there_is_refused(store):
    for place in ("nothing.csv", "*.tsv", "empty"):
        with refused(FormatError, f"{store}/{place}: … no such file"):
            listed(f"{store}/{place}")


def test_a_store_that_cannot_be_reached_is_named():
    url = "nosuchstore://bucket/spans.csv"
    with refused(FormatError, f"{url}: … cannot be read"):
        bc.scan(url)
