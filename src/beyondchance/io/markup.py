"""XML that other programs wrote: parsed from memory, and refused where it is ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.sources import Source, safe_xml
from beyondchance.messages import Quote, Text


def xml_root(source: Source, *, program: str) -> ET.Element:
    """The root element of an XML file; `program` is what should have saved the file."""
    data = safe_xml(source)
    try:
        return ET.fromstring(data)  # noqa: S314 - it declares no entities
    except ET.ParseError as error:
        line, column = error.position
        raise FormatError(
            f"not well-formed XML at column {column + 1}",
            where=f"{source.name}:{line}",
            expected=f"a document that {program} saved",
        ) from None
    except (LookupError, ValueError) as error:  # the encoding is not the declared one
        raise FormatError(f"XML that cannot be decoded ({error})", where=source.name) from None


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
