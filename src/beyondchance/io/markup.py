"""XML that other programs wrote: parsed from memory, and refused where it is ambiguous."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET
from xml.parsers import expat

from beyondchance.io.sources import Source, once
from beyondchance.io.values import refusal
from beyondchance.messages import Text

_NUMBER = re.compile(r"\s*[0-9]{1,18}\s*")
_UNICODE = re.compile(r"utf-?8|utf-?16(le|be)?|")


@once
def outermost(source: Source) -> str | None:
    """Return the name of the first element, by the head of a file; None if it is not XML.

    Examples
    --------
    >>> outermost(Source("a.xml", member=b"<?xml version='1.0'?><!-- <b> --><!DOCTYPE a><a>"))
    'a'
    """
    head = source.beginning or source.head.decode("latin-1").lstrip()
    return _first_element(head.encode("utf-8", "replace"), "utf-8")[1] if head[:1] == "<" else None


def without_prefix(name: str | None) -> str:
    """Return the name of an element as it is written, without what stands for its namespace.

    Examples
    --------
    >>> without_prefix("xmi:XMI"), without_prefix(None)
    ('XMI', '')
    """
    return (name or "").rpartition(":")[2]


def is_json(source: Source) -> bool:
    """Return whether a file is JSON rather than XML, by its first sign or else by its name."""
    first = (source.beginning or source.head.decode("latin-1").lstrip())[:1]
    return first in {"{", "["} or (first not in {"", "<"} and source.ending != ".xml")


def safe_xml(source: Source) -> bytes:
    """Return the content of an XML file, refused if it declares entities or default attributes.

    Neither has a place in an annotation; both can make a small file unfold without end,
    and entities can reach for other files. A document type that only names its DTD is
    accepted, and the DTD never fetched.
    """
    data, declared = source.data, source.declared
    if declared.lower() != source.encoding and not _UNICODE.fullmatch(declared.lower()):
        raise refusal(
            f"{source.name}:1", "XML in the encoding {}", declared, remedy="save it as UTF-8"
        )
    # Behind the first element, the same words are part of the text.
    prolog = _without_nul(data[: _first_element(data)[0]])
    for declaration in (b"<!ENTITY", b"<!ATTLIST"):
        if declaration in prolog:
            line = prolog.count(b"\n", 0, prolog.index(declaration)) + 1
            raise refusal(
                f"{source.name}:{line}",
                f"XML with {declaration.decode()}, which an annotation does not need",
                remedy="remove the declaration",
            )
    return data


def _without_nul(data: bytes) -> bytes:
    """Make declarations, which are ASCII, readable in UTF-16 too."""
    return data.replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf")


class _FirstElement(Exception):  # noqa: N818 - not an error
    """Nothing can be declared any more."""


def _first_element(data: bytes, encoding: str | None = None) -> tuple[int, str | None]:
    """Return where the first element of XML begins, and its name.

    Of what is not well-formed before, return the end and None. `encoding` is that of the data,
    whatever they declare.
    """

    def stop(name: str, _: object) -> None:
        raise _FirstElement(name)

    parser = expat.ParserCreate(encoding)
    parser.StartElementHandler = stop
    try:
        parser.Parse(data, True)
    except _FirstElement as found:
        return parser.CurrentByteIndex, found.args[0]
    except (expat.ExpatError, LookupError, ValueError):
        pass
    return len(data), None


def xml_root(source: Source, *, program: str, name: str = "") -> ET.Element:
    """Return the root element of an XML file.

    Parameters
    ----------
    source : Source
    program : str
        What should have saved the file.
    name : str
        The name that the element has to have, if there is only one; with ``{*}`` in any namespace.
    """
    data = safe_xml(source)
    expected = f"a document that {program} saved"
    if name:
        expected += f", with the outermost element <{local_name(name)}>"
    # The parser knows no encoding of several bytes other than those of Unicode.
    content = data if source.encoding.startswith("utf") else source.text
    try:
        root = ET.fromstring(content)  # noqa: S314 - it declares no entities
    except ET.ParseError as error:
        line, column = error.position
        raise refusal(
            f"{source.name}:{line}",
            f"not well-formed XML at column {column + 1}",
            expected=expected,
            remedy="save or export it again",
        ) from None
    except (LookupError, ValueError) as error:  # the encoding is not the declared one
        raise refusal(source.name, "XML that cannot be decoded ({})", (str(error),)) from None
    if name not in {"", root.tag, f"{{*}}{local_name(root.tag)}"}:
        raise refusal(source.name, "found the element {}", root.tag, expected=expected)
    return root


def local_name(tag: str) -> str:
    """Return the name of an element or attribute without its namespace.

    Examples
    --------
    >>> local_name("{http://www.tei-c.org/ns/1.0}persName"), local_name("ENAMEX")
    ('persName', 'ENAMEX')
    """
    return tag.rpartition("}")[2]


def only(parent: ET.Element, name: str, where: str) -> ET.Element:
    """Return the child of a name, which has to be there once."""
    found = parent.findall(name)
    if len(found) != 1:
        raise refusal(where, f"{len(found)} elements {name}", expected="one")
    return found[0]


def number_of(element: ET.Element, key: str, where: Text) -> int:
    """Return the whole number of an attribute, which has to be there."""
    number = number_in(element.get(key))
    if not isinstance(number, int):
        raise refusal(
            where,
            f"{key!r} is {{}}",
            (("missing",) if number is None else number),
            expected="a whole number",
        )
    return number


def number_in(text: str | None) -> int | str | None:
    """Return a whole number; anything else as it is, to be refused where it is needed."""
    return int(text) if text is not None and _NUMBER.fullmatch(text) else text


def check_distinct(names: Iterable[str | None], what: str, where: Text) -> None:
    """Refuse names that are missing or occur twice."""
    listed = list(names)
    for name, count in Counter(listed).items():
        if name is None:
            number = listed.index(None) + 1
            raise refusal(where, f"{what} {number} has no name", expected="one for each")
        if count > 1:
            raise refusal(where, f"{what} {{}} occurs {count} times", name, expected="it once")
