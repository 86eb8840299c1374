"""Small files that would take all time or memory: every command ends with a result or a sentence.

Each of them, below a megabyte, is given to every command in a process that may have four
gigabytes of addresses.
"""

import io
import json
import os
import re
import resource
import subprocess
import sys
import zipfile
import zlib
from itertools import cycle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import srsly

MOST = 4 * 2**30
"""Bytes of addresses, as ``ulimit -v`` counts them."""
COMMANDS = [
    ["agree"],
    ["rank", "--gold", "ada"],
    ["difficulty"],
    ["disagreements"],
    ["convert", "--to", "table"],
    ["plan", "--half-width", "0.05"],
    ["report", "-o", "page.html"],
]
RUN_ALL = """
import json, os, sys
from beyondchance.cli.main import main
for number, (folder, words) in enumerate(json.loads(sys.argv[1])):
    os.chdir(folder)
    print(f"<{number}>", file=sys.stderr)
    print(main(words), file=sys.stderr)
    print(f"</{number}>", file=sys.stderr, flush=True)
    os.chdir("..")
"""


def table(spans, length=None):
    """Rows of spans in one document: annotator, start, end, label."""
    rows = [f"d,{name},{start},{end},{label}" for name, start, end, label in spans]
    options = ["--length", str(length)] if length else []
    return {"spans.csv": "\n".join(["document,annotator,start,end,label", *rows, ""])}, options


def both(spans):
    marked = list(spans)
    return [(name, *span) for name in ("ada", "ben") for span in marked]


def crossing(n):
    return table(both((i, i + 50, "P") for i in range(n)), 2 * n + 50)


def nested(n):
    return table(both((i, 2 * n - i, "P") for i in range(n)), 2 * n)


def nested_labels(n):
    return table(both((i, 2 * n - i, f"L{i}") for i in range(n)), 2 * n)


def annotators(n):
    return table([(f"p{i}", i % 7, i % 7 + 2, "P") for i in range(n)] + both([(0, 2, "P")]), 10)


def full_text():
    spans = [(25 * i, 25 * i + 25, "P") for i in range(1950)]
    return table(both(spans), 50_000)


def everybody():
    rows = [{"document": f"d{i}", "annotator": f"p{i}", "start": 0, "end": 1} for i in range(9000)]
    return {"spans.jsonl": "".join(f"{json.dumps({**row, 'label': 'P'})}\n" for row in rows)}, []


def own_fields():
    row = {"document": "d", "annotator": "ada", "start": 0, "end": 1, "label": "P"}
    rows = ({**row, f"field {i}": "x"} for i in range(7000))
    return {"spans.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)}, []


def deep(opening, closing, n=100_000):
    return {"ada.json": opening * n + closing * n}, []


def deep_xml(root, n=50_000):
    return {"ada.xml": f"<{root}>{'<a>' * n}x{'</a>' * n}</{root}>"}, []


def quotes(n=15_000):
    text = "Ada saw a tree. " * 20_000
    row = {"id": 1, "text": text, "entities": [{"text": f"a t{i}", "label": "P"} for i in range(n)]}
    return {"ada.jsonl": f"{json.dumps(row)}\n", "ben.jsonl": f"{json.dumps(row)}\n"}, []


def layers(n=30_000):
    head = "".join(f"#T_SP=webanno.custom.L{i}|value\n" for i in range(n))
    return {"ada.tsv": f"#FORMAT=WebAnno TSV 3.3\n{head}\n\n#Text=Ada\n1-1\t0-3\tAda\t_\n"}, []


def columns(n=60_000):
    line = "Ada\t" + "O\t" * n + "B-P\n"
    return {"ada.conll": line}, []


def sets_of_gate(n=9000):
    mark = '<Annotation Id="1" Type="X" StartNode="0" EndNode="3"/>'
    sets = "".join(f'<AnnotationSet Name="p{i}">{mark}</AnnotationSet>' for i in range(n))
    nodes = '<TextWithNodes><Node id="0"/>Ada<Node id="3"/></TextWithNodes>'
    return {"ada.xml": f'<GateDocument version="3">{nodes}{sets}</GateDocument>'}, []


def page(n=9000):
    task = {
        "id": 1,
        "data": {"text": "<a " * n},
        "annotations": [
            {
                "completed_by": 1,
                "result": [
                    {
                        "type": "hypertextlabels",
                        "from_name": "l",
                        "to_name": "t",
                        "value": {
                            "globalOffsets": {"start": 0, "end": 1},
                            "hypertextlabels": ["P"],
                            "text": "a",
                        },
                    }
                ],
            }
        ],
    }
    return {"ada.json": json.dumps([task])}, []


def parquet():
    text = "Ada ran. " * 100_000
    group = {"id": list(range(100)), "tokens": [[text]] * 100, "ner_tags": [["O"]] * 100}
    rows, made = pa.table(group), io.BytesIO()
    with pq.ParquetWriter(made, rows.schema, compression="zstd") as writer:
        for _ in range(33):
            writer.write_table(rows)
    return {"ada.parquet": made.getvalue()}, []


def docbin(n=60_000_000):
    # A list of so many empty maps, each a byte, which take a thousand times that once loaded.
    lists = b"\xdd" + n.to_bytes(4, "big") + b"\x80" * n
    head = srsly.msgpack_dumps({"version": 0.1, "attrs": [], "cats": 0})
    return {"ada.spacy": zlib.compress(head.replace(b"\xa4cats\x00", b"\xa4cats" + lists))}, []


def archive(n=800_000_000):
    made = io.BytesIO()
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened,
        opened.open("ada.jsonl", "w", force_zip64=True) as member,
    ):
        for _ in range(n // 2**20):
            member.write(b" " * 2**20)
    return {"project.zip": made.getvalue()}, []


BOMBS = {
    "comments of XML": lambda: ({"ada.xml": "<?xml version='1.0'?>" + "<!-- a -->" * 90_000}, []),
    "a comment of blanks": lambda: ({"ada.conll": f"#{' ' * 900_000}x\nAda\tB-P\n"}, []),
    "crossing spans": lambda: crossing(1500),
    "nested spans": lambda: nested(1500),
    "nested labels": lambda: nested_labels(1500),
    "annotators of one document": lambda: annotators(3000),
    "a full text": full_text,
    "everybody on everything": everybody,
    "fields of rows": own_fields,
    "deep lists": lambda: deep("[", "]"),
    "deep objects": lambda: deep('{"a":', "}"),
    "deep TEI": lambda: deep_xml("TEI"),
    "deep GATE": lambda: deep_xml("GateDocument"),
    "quotes": quotes,
    "layers": layers,
    "columns": columns,
    "annotation sets": sets_of_gate,
    "a page": page,
    "Parquet": parquet,
    "DocBin": docbin,
    "an archive": archive,
}


def written(name, folder):
    """Write the files of a bomb; what to give to a command."""
    folder.mkdir(exist_ok=True)
    files, options = BOMBS[name]()
    for path, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        assert len(data) < 2**20
        (folder / path).write_bytes(data)
    return [*files, *options]


def check_all_end(calls, folder):
    """Run commands, each in a folder, in a process with few addresses."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(calls)],
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST)),
    )
    assert done.returncode == 0, done.stderr[-600:]
    said = dict(re.findall(r"^<(\d+)>\n(.*?)^</\1>$", done.stderr, re.DOTALL | re.MULTILINE))
    assert len(said) == len(calls), done.stderr[-600:]
    for number, (_, words) in enumerate(calls):
        *messages, code = said[str(number)].splitlines()
        assert code in {"0", "1"}, (words, messages)
        assert "Traceback" not in said[str(number)], words
        assert "a defect of" not in said[str(number)], words
        # Who is refused is told why.
        assert code == "0" or any("beyondchance: " in line for line in messages), words


@pytest.mark.long
@pytest.mark.parametrize("name", BOMBS)
def test_every_command_ends(name, tmp_path):
    given = written(name, tmp_path / "bomb")
    check_all_end([("bomb", [*command, *given]) for command in COMMANDS], tmp_path)


@pytest.mark.slow
def test_a_command_on_each_of_them_ends(tmp_path):
    # Pages take long, and so do these, of which small ones are tested elsewhere.
    bombs = [name for name in BOMBS if name not in {"an archive", "quotes", "DocBin"}]
    calls = [
        (name, [*command, *written(name, tmp_path / name)])
        for name, command in zip(bombs, cycle(COMMANDS[:-1]), strict=False)
    ]
    check_all_end(calls, tmp_path)
