"""XML that other programs wrote: parsed from memory, and refused where it is ambiguous."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.sources import Source, safe_xml
from beyondchance.messages import Quote, Text

_BEFORE = re.compile(r"\s+|<\?|<!--|<!DOCTYPE\b")
_AFTER = {"<?": "?>", "<!--": "-->"}
_NAME = re.compile(r"<([A-Za-z_][\w:.-]*)")


def outermost(head: str) -> str | None:
    """The name of the first element, by the head of a file; None if it is not XML.

    Examples
    --------
    >>> outermost("<?xml version='1.0'?><!-- <b> --><!DOCTYPE a><a>")
    'a'
    """
    place = 0
    while (skipped := _BEFORE.match(head, place)) is not None:
        place = skipped.end()
        if skipped[0] == "<!DOCTYPE":
            place = _end_of_doctype(head, place)
        elif skipped[0] in _AFTER:
            place = _behind(head, _AFTER[skipped[0]], place)
    name = _NAME.match(head, place)
    return name[1] if name else None


def without_prefix(name: str | None) -> str:
    """The name of an element as it is written, without what stands for its namespace.

    Examples
    --------
    >>> without_prefix("xmi:XMI"), without_prefix(None)
    ('XMI', '')
    """
    return (name or "").rpartition(":")[2]


def _behind(head: str, end: str, place: int) -> int:
    """The place behind the next occurrence; the end of the head if there is none."""
    found = head.find(end, place)
    return len(head) if found < 0 else found + len(end)


def _end_of_doctype(head: str, place: int) -> int:
    """The place behind a document type, whose declarations stand in brackets."""
    close = _behind(head, ">", place)
    bracket = head.find("[", place, close)
    return close if bracket < 0 else _behind(head, ">", _behind(head, "]", bracket))


def is_json(source: Source) -> bool:
    """Whether a file is JSON rather than XML, by its first sign or else by its name."""
    first = (source.head_text or source.head.decode("latin-1")).lstrip()[:1]
    return first in {"{", "["} or (first not in {"", "<"} and source.ending != ".xml")


def xml_root(source: Source, *, program: str, name: str = "") -> ET.Element:
    """Return the root element of an XML file.

    Parameters
    ----------
    source : Source
    program : str
        What should have saved the file.
    name : str
        The name that the element has to have, if there is only one.
    """
    data = safe_xml(source)
    try:
        root = ET.fromstring(data)  # noqa: S314 - it declares no entities
    except ET.ParseError as error:
        line, column = error.position
        raise FormatError(
            f"not well-formed XML at column {column + 1}",
            where=f"{source.name}:{line}",
            expected=f"a document that {program} saved",
            remedy="save or export it again",
        ) from None
    except (LookupError, ValueError) as error:  # the encoding is not the declared one
        raise FormatError(f"XML that cannot be decoded ({error})", where=source.name) from None
    if name not in {"", root.tag}:
        found = ("the root element is ", Quote(root.tag))
        raise FormatError(*found, where=source.name, expected=name)
    return root


def local_name(tag: str) -> str:
    """The name of an element or attribute without its namespace.

    Examples
    --------
    >>> local_name("{http://www.tei-c.org/ns/1.0}persName"), local_name("ENAMEX")
    ('persName', 'ENAMEX')
    """
    return tag.rpartition("}")[2]


def check_distinct(names: Iterable[str | None], what: str, where: Text) -> None:
    """Refuse names that are missing or occur twice."""
    for name, count in Counter(names).items():
        if name is None:
            raise FormatError(f"{what} without an identifier", where=where, expected="one for each")
        if count > 1:
            found = (f"{what} ", Quote(name), f" occurs {count} times")
            raise FormatError(*found, where=where, expected="it once")
