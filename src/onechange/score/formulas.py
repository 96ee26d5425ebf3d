"""Values of formulas: openpyxl writes formulas without, and they are put back here."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["with_values"]

# A cell with a formula and an empty value, as openpyxl writes it.
_CELL = re.compile(
    rb'<c r="(?P<place>[A-Z]+[0-9]+)"(?P<style>(?: s="[0-9]+")?)>'
    rb"(?P<formula><f(?:[^>]*/>|[^>]*>[^<]*</f>))<v ?(?:/>|></v>)</c>"
)


def with_values(content: bytes, book: Any, computed: Any) -> bytes:
    """Put the values of formulas into a saved workbook.

    Parameters
    ----------
    content : bytes
        The workbook as openpyxl saved it.
    book : openpyxl.Workbook
        What was saved.
    computed : openpyxl.Workbook
        The same workbook opened for its values.

    Returns
    -------
    bytes
        `content`, with the value of each formula that has one in `computed`.
    """
    parts = {}
    for number, sheet in enumerate(book.worksheets, 1):
        values = _values(sheet, computed[sheet.title])
        if values:
            parts[f"xl/worksheets/sheet{number}.xml"] = values
    if not parts:
        return content
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.infolist():
            data = old.read(member)
            if member.filename in parts:
                data = _filled(data, parts[member.filename])
            new.writestr(member, data)
    return buffer.getvalue()


def _values(sheet: Any, computed: Any) -> dict[bytes, bytes]:
    """Place of each formula -> type attribute and value, as XML."""
    found = {}
    for row in sheet.iter_rows():
        for cell in row:
            if cell.data_type != "f":
                continue
            shown = computed[cell.coordinate]
            if shown.value is not None:
                found[cell.coordinate.encode()] = _xml(shown.value, shown.data_type)
    return found


def _xml(value: Any, kind: str) -> bytes:
    from openpyxl.utils.datetime import to_excel

    if isinstance(value, bool):
        return b' t="b">%d' % value
    if isinstance(value, int | float):
        return f">{value!r}".encode()
    if isinstance(
        value, datetime.datetime | datetime.date | datetime.time | datetime.timedelta
    ):
        return b">%r" % to_excel(value)  # type: ignore[no-untyped-call]
    sort = "e" if kind == "e" else "str"
    return f' t="{sort}">{escape(str(value))}'.encode()


def _filled(data: bytes, values: Mapping[bytes, bytes]) -> bytes:
    def one(match: re.Match[bytes]) -> bytes:
        place, value = match["place"], values.get(match["place"])
        if value is None:
            return match[0]
        kind, _, text = value.partition(b">")
        return b'<c r="%s"%s%s>%s<v>%s</v></c>' % (
            *(place, match["style"], kind, match["formula"], text),
        )

    return _CELL.sub(one, data)
