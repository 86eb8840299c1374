"""Change valid input into input that may no longer be valid.

What changes, and how, follows from dice, so that every change can be repeated.
"""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from xml.sax.saxutils import quoteattr

import pyarrow.parquet as pq
import srsly

from every_format import Annotations, as_parquet, lines, zipped

Path = tuple[Any, ...]
Dice = random.Random

MARK = "Zqx"
"""What every word of every text holds, and no name: on a stream it is text that got out."""
# Quotes and brackets, open and closed, for a message may put such around a word. One name
# of a document is a number, which some formats do not write as text.
MARKED = Annotations(
    {
        "1": [
            'Zqx01 Zqx02\'s "Zqx03" (Zqx04 Zqx05',
            "Zqx06) Zqx07\" Zqx08' Zqx09\\ Zqx10",
            "[Zqx11] {Zqx12} <Zqx13> Zqx14😀",
        ],
        "doc2": ["Zqx15 Zqx16 Zqx17 Zqx18", "[Zqx19] Zqx20 {Zqx21} <Zqx22> Zqx23😀"],
    },
    {
        ("1", "ada"): [(0, 2, "PER"), (4, 5, "LOC"), (6, 8, "PER"), (10, 13, "LOC")],
        ("1", "ben"): [(1, 2, "PER"), (4, 5, "LOC"), (11, 14, "PER")],
        ("doc2", "ada"): [(0, 1, "LOC"), (5, 8, "PER")],
        ("doc2", "ben"): [(0, 1, "PER"), (6, 8, "PER")],
    },
)
LONG = " ".join(f"{MARK}{number}" for number in range(30, 50))

# --- Values -------------------------------------------------------------------

# What may stand where something else is expected: other types, and text in the wrong place.
ODD = [None, True, -1, 3, 1.5, 10**9, "", "odd", f"{MARK}30", LONG, [LONG], {f"{MARK}30": LONG}]
ODD += [[], {}, 0, -0.0, 2**31, 2**63, 10**400, 1e308, "0", "-1", "1e5", "٣", " ", "\t", "\0", "O"]
ODD += ["\ud800", "é", "e\u0301", "😀", "\u2028", "\ufeff", "None", "nan", "<b>", "B-PER", [[]]]
ODD += [[None], [{}], [1, [2, [3]]], {"": ""}, {"start": 0}, {"text": LONG}]


def places(content: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in JSON, the whole of it first."""
    yield path
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, inner in items:
            yield from places(inner, (*path, key))


def value_at(content: Any, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        content = content[key]
    return content


def replaced(content: Any, path: Path, new: Any) -> Any:
    """The same JSON with another value at a path."""
    if not path:
        return new
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def removed(content: Any, path: Path) -> Any:
    """The same JSON without what is at a path."""
    holder = value_at(content, path[:-1])
    if isinstance(holder, dict):
        rest: Any = {key: value for key, value in holder.items() if key != path[-1]}
    else:
        rest = [value for place, value in enumerate(holder) if place != path[-1]]
    return replaced(content, path[:-1], rest)


def renamed(content: Any, path: Path, name: str) -> Any:
    """The same JSON, in which a key has another name."""
    holder = value_at(content, path[:-1])
    if not isinstance(holder, dict):
        return content
    rest = {name if key == path[-1] else key: value for key, value in holder.items()}
    return replaced(content, path[:-1], rest)


def retold(content: Any, dice: Dice) -> Any:
    """JSON in which one value is another, is missing, is there twice or is elsewhere."""
    paths = list(places(content))
    path = dice.choice(paths)
    value, holder = value_at(content, path), value_at(content, path[:-1])
    new = dice.choice(ODD)
    match dice.choice(["odd", "odd", "odd", "none", "name", "near", "twice", "elsewhere"]):
        case "none" if path:
            return removed(content, path)
        case "name" if path:
            name = dice.choice(["odd", "", "label", "text", f"{path[-1]}s"])
            return renamed(content, path, name)
        case "twice" if path and isinstance(holder, list):
            return replaced(content, path[:-1], [*holder, value])
        case "near":
            new = _near(value, dice)
        case "elsewhere":
            new = value_at(content, dice.choice(paths))
    return replaced(content, path, new)


def _near(value: Any, dice: Dice) -> Any:
    """A number or a string that differs a little."""
    if isinstance(value, str):
        return damaged(value, dice)
    is_number = isinstance(value, int | float)
    with suppress(OverflowError):  # of a whole number that no other number is near
        return value + dice.choice([-1, 1, 7, -100, 0.5]) if is_number else None
    return None


# --- Text ---------------------------------------------------------------------

SPECIAL = "\t\n\r\"'(){}[]<>,;:=#|&-_*\\\0\u2028é😀0"
NUMBERS = ["-1", "0", "1", "00", "1.5", "1e9", "9" * 20, "٣", "NaN", "", "0x1F", "1_0"]
_NUMBER = re.compile(r"\d+")
_CELL_END = re.compile(r"([\t ,;|])")


def _without_some(content: str, dice: Dice) -> str:
    place = dice.randrange(len(content))
    return content[:place] + content[place + dice.randint(1, 9) :]


def _with_a_letter(content: str, dice: Dice) -> str:
    place = dice.randrange(len(content))
    return content[:place] + dice.choice(SPECIAL) + content[place + dice.randrange(2) :]


def _cut_off(content: str, dice: Dice) -> str:
    return content[: dice.randrange(len(content))]


def _with_a_piece_twice(content: str, dice: Dice) -> str:
    place = dice.randrange(len(content))
    piece = content[dice.randrange(len(content)) :][: dice.randint(1, 30)]
    return content[:place] + piece + content[place:]


def _with_another_number(content: str, dice: Dice) -> str:
    return one_of(_NUMBER, content, dice, lambda _: dice.choice(NUMBERS))


def _with_other_rows(content: str, dice: Dice) -> str:
    """One line is gone, is there twice, has changed places, or is another."""
    rows = content.split("\n")
    row, other = dice.randrange(len(rows)), dice.randrange(len(rows))
    match dice.randrange(4):
        case 0:
            del rows[row]
        case 1:
            rows.insert(row, rows[other])
        case 2:
            rows[row], rows[other] = rows[other], rows[row]
        case 3:
            rows[row] = dice.choice(["", LONG, f"{LONG}\t", "'", '"', rows[row] * 2])
    return "\n".join(rows)


def _with_other_cells(content: str, dice: Dice) -> str:
    """One cell of a line has changed places, or is another."""
    rows = content.split("\n")
    row = dice.randrange(len(rows))
    cells = _CELL_END.split(rows[row])
    cell, other = (2 * dice.randrange(len(cells) // 2 + 1) for _ in range(2))
    if dice.randrange(2):
        cells[cell], cells[other] = cells[other], cells[cell]
    else:
        cells[cell] = str(dice.choice(ODD))
    rows[row] = "".join(cells)
    return "\n".join(rows)


_CHANGES = (
    *(_without_some, _with_a_letter, _cut_off, _with_a_piece_twice, _with_another_number),
    *[_with_other_rows] * 4,
    *[_with_other_cells] * 3,
)


def damaged(content: str, dice: Dice) -> str:
    """Text with one thing deleted, added, moved, exchanged or cut off."""
    return dice.choice(_CHANGES)(content, dice) if content else dice.choice(SPECIAL)


def one_of(pattern: re.Pattern[str], content: str, dice: Dice, new: Callable[[str], str]) -> str:
    """Text in which one match of a pattern is replaced."""
    found = list(pattern.finditer(content))
    if not found:
        return content
    chosen = dice.choice(found)
    return content[: chosen.start()] + new(chosen[0]) + content[chosen.end() :]


# --- XML ----------------------------------------------------------------------

_TOKEN = re.compile(r"<[^<>]*>|[^<]+|<")
_OPENING = re.compile(r"<\w")
_ATTRIBUTE = re.compile(r"\w+=\"[^\"]*\"")
INSERTED = ["<!-- -- -->", "<![CDATA[ ]]>", "<?odd?>", "&odd;", "&#0;", "<odd/>", "<odd>", "</odd>"]


def damaged_xml(content: str, dice: Dice) -> str:
    """XML with other elements, attributes or text, most of it well-formed."""
    tokens = _TOKEN.findall(content)
    place, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    first, last = _element(tokens, place)
    element = tokens[first : last + 1]
    match dice.randrange(8):
        case 0:
            tokens[place : place + 1] = []
        case 1:
            tokens[place:place] = [dice.choice(INSERTED)]
        case 2:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 3:
            tokens[first : last + 1] = []
        case 4:
            tokens[first : last + 1] = []
            tokens[other:other] = element
        case 5:
            tokens[other:other] = element
        case 6:
            return damaged(content, dice)
        case 7:
            return one_of(_ATTRIBUTE, content, dice, lambda old: _attribute(old, dice))
    return "".join(tokens)


def _attribute(old: str, dice: Dice) -> str:
    """An attribute that is gone, is there twice, or has another value."""
    value = quoteattr(str(dice.choice([*map(str, ODD), *NUMBERS])))
    return dice.choice(["", f"{old} {old}", *[f"{old.partition('=')[0]}={value}"] * 4])


def _element(tokens: list[str], place: int) -> tuple[int, int]:
    """The first and the last token of the element that begins at or after a place."""
    opening = [i for i, token in enumerate(tokens) if _OPENING.match(token)]
    if not opening:
        return place, place
    first = next((i for i in opening if i >= place), opening[-1])
    depth = 0
    for i in range(first, len(tokens)):
        if tokens[i].startswith("</"):
            depth -= 1
        elif _OPENING.match(tokens[i]) and not tokens[i].endswith("/>"):
            depth += 1
        if depth <= 0:
            return first, i
    return first, len(tokens) - 1


# --- Files --------------------------------------------------------------------

ENCODINGS = ["utf-8"] * 30 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"]


def mutant(path: str, content: bytes, dice: Dice) -> bytes:
    """The content of a file, changed somewhere, by what its name ends in."""
    ending = path.rpartition(".")[2].lower()
    if ending in {"zip", "qdpx", "xlsx"}:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = dice.choice(list(members))
        return zipped({**members, chosen: mutant(chosen, members[chosen], dice)})
    is_text = ending not in {"spacy", "parquet"}
    if ending in _RETOLD and not (is_text and dice.randrange(3) == 0):
        return _RETOLD[ending](content, dice)
    if not is_text or dice.randrange(40) == 0:
        return _broken(content, dice)
    text = content.decode()
    is_xml = text.lstrip().startswith("<")
    made = damaged_xml(text, dice) if is_xml else damaged(text, dice)
    if dice.randrange(40) == 0:
        made = made.replace("\n", dice.choice(["\r\n", "\r", "\n\n", "\u2028"]))
    return made.encode(dice.choice(ENCODINGS), "backslashreplace")


def _broken(content: bytes, dice: Dice) -> bytes:
    """Bytes that were cut off, or of which one is another."""
    place = dice.randrange(len(content) or 1)
    if dice.randrange(2):
        return content[:place]
    return content[:place] + bytes([dice.randrange(256)]) + content[place + 1 :]


def _retold_json(content: bytes, dice: Dice) -> bytes:
    try:
        value = json.loads(content)
    except ValueError:  # an object in each line
        return _retold_line(content, dice)
    return json.dumps(retold(value, dice)).encode()


def _retold_line(content: bytes, dice: Dice) -> bytes:
    """Lines of JSON with another value in one of them."""
    rows = [json.loads(line) for line in content.splitlines()]
    chosen = dice.randrange(len(rows))
    rows[chosen] = retold(rows[chosen], dice)
    return _lines(rows)


def _lines(rows: list[Any]) -> bytes:
    try:
        return lines(rows)
    except UnicodeEncodeError:  # half a character can only be written as \ud800
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _retold_docbin(content: bytes, dice: Dice) -> bytes:
    message = retold(srsly.msgpack_loads(zlib.decompress(content)), dice)
    try:
        return zlib.compress(srsly.msgpack_dumps(message))
    except (OverflowError, UnicodeEncodeError, TypeError):  # nothing that a message can hold
        return _broken(content, dice)


def _retold_parquet(content: bytes, dice: Dice) -> bytes:
    """Rows with two columns exchanged, without one, or with another value in one or in all rows."""
    rows = pq.read_table(io.BytesIO(content)).to_pylist()
    one, other = dice.sample(list(rows[0]), 2)
    value, chosen = dice.choice(ODD), dice.choice(rows)
    kind = dice.choice(["exchanged", "exchanged", "all", "all", "one", "none"])
    for row in rows:
        if kind == "exchanged":
            row[one], row[other] = row[other], row[one]
        elif kind == "all" or (kind == "one" and row is chosen):
            row[one] = value
        elif kind == "none":
            del row[one]
    try:
        return as_parquet(rows)
    except Exception:
        return _broken(content, dice)


_RETOLD: dict[str, Callable[[bytes, Dice], bytes]] = {
    "json": _retold_json,
    "bdocjs": _retold_json,
    "jsonl": _retold_line,
    "spacy": _retold_docbin,
    "parquet": _retold_parquet,
}
