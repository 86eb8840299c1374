"""Columns: what is shown of a result, declared once for every output.

A `Column` has a heading for people, a key for JSON and CSV, a value and the kind of value that it
is. Tables (`table_of`), objects of JSON (`data_of`), rows of CSV (`flat_of`) and the schema
(`schema_of`) are made from the same columns; an object within an object is a `Group`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from beyondchance.messages import Text
from beyondchance.reporting.blocks import Below, Cell, Range, Report, Table, in_list, in_one
from beyondchance.results.intervals import ConfidenceInterval
from beyondchance.settings import Settings

Getter: TypeAlias = Callable[[Any], Any]
Ends: TypeAlias = ConfidenceInterval | tuple[float, float]
Data: TypeAlias = dict[str, Any]
"""Plain data: of a row, of a result, of a schema."""


Output: TypeAlias = frozenset[str]
"""Where a column appears: tables for people, the table of a paper, JSON, CSV."""
TABLE, PAPER, JSON, CSV = (frozenset({name}) for name in ("table", "paper", "json", "csv"))
PEOPLE, DATA = TABLE | PAPER, JSON | CSV


# --- Kinds of values ----------------------------------------------------------


def _same(value: Any) -> Any:
    return value


class Kind(NamedTuple):
    """A kind of value in JSON: its schema, and how a value is made plain."""

    schema: Callable[[Data], Mapping[str, Any]]
    make: Getter = _same

    def __call__(self, key: str, *about: Any, **more: Any) -> Column:
        """Declare a column of such values."""
        return Column(key, self, *about, **more)


def kind(**schema: Any) -> Kind:
    """Declare values that are plain already."""
    return Kind(lambda _: schema)


def many(each: AnyKind, **limits: Any) -> Kind:
    """Declare a list."""
    return Kind(
        lambda defs: {"type": "array", "items": each.schema(defs), **limits},
        list if each.make is _same else lambda values: [*map(each.make, values)],
    )


def named(each: AnyKind) -> Kind:
    """Declare an object whose keys are names."""
    return Kind(
        lambda defs: {"type": "object", "additionalProperties": each.schema(defs)},
        lambda values: {name: each.make(value) for name, value in values.items()},
    )


def maybe(known: AnyKind) -> Kind:
    """Declare a value that may be null."""

    def schema(defs: Data) -> Mapping[str, Any]:
        found = known.schema(defs)
        if "type" in found:
            return {**found, "type": [found["type"], "null"]}
        return {"anyOf": [found, {"type": "null"}]}

    return Kind(schema, lambda value: None if value is None else known.make(value))


def ready(known: AnyKind) -> Kind:
    """Declare values that are plain already, of another kind."""
    return Kind(known.schema)


def one_of(*values: str | None) -> Kind:
    """Declare a choice."""
    return kind(enum=list(values))


TEXT, NUMBER, YES_OR_NO = kind(type="string"), kind(type="number"), kind(type="boolean")
COUNT = kind(type="integer", minimum=0)
SHARE = kind(type="number", minimum=0, maximum=1)
FIGURE = maybe(NUMBER)
"""A number that is null where it is undefined."""
TEXTS = many(TEXT)


# --- Columns ------------------------------------------------------------------


class Column(NamedTuple):
    """A column of tables, and a key of JSON and CSV.

    Attributes
    ----------
    key : str
        In JSON and CSV.
    kind : Kind or Group
        In JSON; in CSV, the columns of a group stand side by side.
    about : str
        A short description, for the schema.
    value : function of a row, optional
        What the row has by the name of the key, by default.
    heading : str
        Above tables; the key by default.
    cell : function of a row, optional
        What tables show; the value by default.
    interval : function of a row, optional
        The confidence interval, which tables show in a column of its own.
    flat : function of a row, optional
        Several cells of CSV instead of the value.
    why : function of a row, optional
        The reason why there is no value, which is said below tables.
    is_optional : bool
        Whether it is left out where the value is None; of tables, where all values are.
    outputs : Output
        Where it appears.
    """

    key: str
    kind: AnyKind = FIGURE
    about: str = ""
    value: Getter | None = None
    heading: str | None = None
    cell: Getter | None = None
    interval: Callable[[Any], Ends | None] | None = None
    flat: Callable[[Any], Mapping[str, Any]] | None = None
    why: Getter | None = None
    is_optional: bool = False
    outputs: Output = PEOPLE | DATA

    def of(self, row: Any) -> Any:
        """Return the value in a row; None where a mapping does not have it."""
        if self.value is not None:
            return self.value(row)
        return row.get(self.key) if isinstance(row, Mapping) else getattr(row, self.key)

    def cells(self, rows: Sequence[Any]) -> list[Cell]:
        """Return what a table shows of some rows."""
        return list(map(self.cell or self.of, rows))

    def only(self, outputs: Output, **changed: Any) -> Column:
        """Return the column for some outputs."""
        return self._replace(outputs=outputs, **changed)


def alike(sort: AnyKind, *keys: str, **more: Any) -> list[Column]:
    """Declare columns of one kind, by their keys."""
    return [Column(key, sort, **more) for key in keys]


def picked(columns: Iterable[Column], keys: str) -> list[Column]:
    """Return columns by their keys, in that order."""
    by_key = {column.key: column for column in columns}
    return [by_key[key] for key in keys.split()]


def made(columns: Iterable[Column]) -> list[Column]:
    """Return columns for rows that are plain data already."""
    return [x._replace(value=None, kind=ready(x.kind)) for x in shown_in(JSON, columns)]


def for_people(heading: str, cell: Getter, key: str = "", **more: Any) -> Column:
    """Declare a column of tables alone; the key is for headings that depend on the result."""
    return Column(key, heading=heading, cell=cell, outputs=PEOPLE, **more)


def shown_in(output: Output, columns: Iterable[Column]) -> list[Column]:
    """Return the columns that appear in an output."""
    return [column for column in columns if output <= column.outputs]


class Group(NamedTuple):
    """An object of JSON.

    Attributes
    ----------
    name : str
        In the schema; without one, its schema is written out where it is used.
    columns : list of Column
    about : str
    others : mapping of str to Kind
        Keys that follow a pattern.
    command : str
        Of which it is the result.
    """

    name: str
    columns: list[Column]
    about: str = ""
    others: Mapping[str, Kind] | None = None
    command: str = ""

    def __call__(self, key: str, *about: Any, **more: Any) -> Column:
        """Declare a column of such objects."""
        return Column(key, self, *about, **more)

    def make(self, row: Any) -> Data:
        """Return a row as plain data."""
        return data_of(row, self.columns)

    def schema(self, defs: Data) -> Mapping[str, Any]:
        """Return the schema, or a reference to it."""
        if not self.name:
            return schema_of(self, defs)
        if self.name not in defs:
            defs[self.name] = {}
            defs[self.name] = schema_of(self, defs)
        return {"$ref": f"#/$defs/{self.name}"}


AnyKind: TypeAlias = Kind | Group


# --- Outputs ------------------------------------------------------------------


def attributes(result: object, *keys: str) -> Data:
    """Return what a result has by these keys."""
    return {key: getattr(result, key) for key in keys}


def data_of(row: Any, columns: Iterable[Column]) -> Data:
    """Return a row for JSON; keys that a mapping does not have are left out."""
    keys = row if isinstance(row, Mapping) else None
    data = {}
    for column in columns:
        if column.outputs >= JSON and (column.value or keys is None or column.key in keys):
            value = column.of(row)
            if value is not None or not column.is_optional:
                data[column.key] = column.kind.make(value)
    return data


def flat_of(row: Any, columns: Iterable[Column]) -> Data:
    """Return a row for CSV."""
    flat: Data = {}
    for column in shown_in(CSV, columns):
        if column.flat is not None:
            flat |= column.flat(row)
            continue
        value = column.of(row)
        if isinstance(column.kind, Group):
            flat |= flat_of(value, column.kind.columns)
        elif not (value is None and column.is_optional):
            flat[column.key] = value
    return flat


def rows_from(**lists: Iterable[Any]) -> list[Data]:
    """Return rows from what each column holds."""
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def flat_rows(rows: Iterable[Any], columns: Sequence[Column]) -> list[Data]:
    """Return rows for CSV."""
    return [flat_of(row, columns) for row in rows]


def table_of(
    rows: Iterable[Any],
    columns: Iterable[Column],
    title: str = "",
    remark: str = "",
    *,
    top: int = 0,
    n_rows: int = 0,
    lowest: Getter | None = None,
    settings: Settings | None = None,
    output: Output = TABLE,
    **headings: str,
) -> Table:
    """Return a table for people, with each reason why values are missing, of which rows.

    Parameters
    ----------
    rows : iterable
    columns : iterable of Column
        The first names the row.
    title, remark : str
    top : int
        How many rows are shown at most; 0 shows all.
    n_rows : int
        How many there are, if only those to be shown are given.
    lowest : function of a row, optional
        Of too many rows, those with the lowest are shown; the first by default.
    settings : Settings, optional
        Of the confidence intervals; without them, there are none.
    output : Output
    **headings : str
        Headings that depend on the result, by key.
    """
    listed, remarks = list(rows), ""
    n_all = n_rows or len(listed)
    if 0 < top < n_all:
        remarks = f"{top:,} of {n_all:,}."
        if lowest is not None:
            remarks, listed = f"The {top:,} lowest of {n_all:,}.", sorted(listed, key=lowest)
        listed = listed[:top]
    shown: list[tuple[str, Sequence[Cell]]] = []
    missing: dict[str | None, list[str]] = {}
    for column in shown_in(output, columns):
        found = column.cells(listed)
        if not column.is_optional or any(cell is not None for cell in found):
            heading = column.key if column.heading is None else column.heading
            shown.append((headings.get(column.key, heading), found))
        if settings is not None and column.interval is not None:
            ends = list(map(column.interval, listed))
            if any(ends):
                level = "" if output == PAPER else interval_heading(settings)
                shown.append((level, list(map(cell_of, ends))))
        if column.why is not None and output == TABLE:
            for name, why in zip(shown[0][1], map(column.why, listed), strict=True):
                missing.setdefault(why, []).append(str(name))
    cells = list(zip(*(found for _, found in shown), strict=True))
    floors = {cell.draws: None for row in cells for cell in row if isinstance(cell, Below)}
    bounds = (f"(<: the smallest p-value that {draws})" for draws in floors)
    reasons = (
        f"Undefined{f' ({in_list(names)})' if len(names) < len(listed) else ''}: {why}."
        for why, names in missing.items()
        if why is not None
    )
    remark = in_one(remarks, remark, *bounds, *reasons)
    return Table([heading for heading, _ in shown], cells, title, remark, len(listed) < n_all)


def report_of_rows(
    rows: Sequence[Any],
    columns: Sequence[Column],
    *said: Text,
    settings: Settings | None = None,
    **rest: Any,
) -> Report:
    """Build the report of a result that is one table, and in JSON the first of its rows.

    Parameters
    ----------
    rows : sequence
    columns : sequence of Column
    *said : Text
        What is said below the table.
    settings : Settings, optional
        Of the result.
    **rest
        What else the report has, or has in the place of these.
    """
    usual = {
        "signature": settings and str(settings),
        "make_blocks": lambda: [table_of(rows, columns, settings=settings), *said],
        "make_data": lambda: data_of(rows[0], columns),
        "make_rows": lambda: flat_rows(rows, columns),
    }
    return Report(**(usual | rest))


def interval_heading(settings: Settings) -> str:
    """Return what stands above intervals: ``95 %``."""
    return f"{100 * settings.confidence:.10g} %"


def cell_of(interval: Ends | None) -> Range | None:
    """Return an interval for a table, with a star where it is to be taken with caution."""
    if interval is None:
        return None
    if isinstance(interval, tuple):
        return Range(*interval)
    return Range(interval.low, interval.high, "*" if interval.caution else "")


def schema_of(group: Group, defs: Data) -> Data:
    """Return the schema of a group; what it refers to is added to the definitions."""
    columns = shown_in(JSON, group.columns)
    return {
        "type": "object",
        **({"description": group.about} if group.about else {}),
        "properties": {
            column.key: {
                **column.kind.schema(defs),
                **({"description": column.about} if column.about else {}),
            }
            for column in columns
        },
        **(
            {"patternProperties": {key: each.schema(defs) for key, each in group.others.items()}}
            if group.others
            else {}
        ),
        "required": [column.key for column in columns if not column.is_optional],
        "additionalProperties": False,
    }


# --- What commands have in common ---------------------------------------------

FORMAT = 2
"""The version of the contract. 1: versions 0.1; 2: versions 0.2."""
SIGNATURE = Column("signature", kind(type="string", pattern="^beyondchance\\|"))
_INPUT = Group(
    "input",
    [
        TEXT("name"),
        Column("sha256", kind(type="string", pattern="^[0-9a-f]{64}$")),
        TEXT("format"),
    ],
)
FILES = (SIGNATURE, Column("inputs", many(_INPUT)))
UNSIGNED = (SIGNATURE._replace(is_optional=True), FILES[1])
"""Where the signature is not known of every result."""
METHODS = TEXT(
    "methods",
    "what a paper says about how it was computed; with --methods",
    is_optional=True,
)
NOTES = TEXTS("notes")
TAIL = (
    Column("skipped", named(kind(type="integer")), "what was left out or changed, and how often"),
    NOTES,
)


def command(name: str, *columns: Column, called: str = "") -> Group:
    """Declare the JSON of a command, by its name in the schema; and its own name, if another."""
    head = (
        Column("format", kind(const=FORMAT), "version of this contract"),
        Column("command", kind(const=called or name)),
        TEXT("version", "of beyondchance"),
    )
    return Group(name, [*head, *columns], command=called or name)
