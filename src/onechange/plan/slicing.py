"""Breakdowns by columns: one, crossed, or cut points of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onechange.plan.keys import PlanKeyError, comma_list

__all__ = ["SliceSpec", "as_slices", "parse_slice"]


@dataclass(frozen=True, slots=True)
class SliceSpec:
    """One breakdown: one column, several crossed columns, or cut points of a number."""

    columns: tuple[str, ...]
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        if not self.columns or not all(self.columns):
            raise PlanKeyError(("slices",), "a slice names no column; name one.")
        if len(set(self.columns)) < len(self.columns):
            raise PlanKeyError(
                ("slices",),
                f'"{self.name}" crosses a column with itself; name it once.',
            )
        if self.cuts and len(self.columns) > 1:
            raise PlanKeyError(
                ("slices",),
                f'"{self.name}" has cut points on a crossing; cut one column only.',
            )
        rising = all(a < b for a, b in zip(self.cuts, self.cuts[1:], strict=False))
        if not rising or not all(math.isfinite(cut) for cut in self.cuts):
            raise PlanKeyError(
                ("slices",),
                f'cut points of "{self.name}" are {comma_list(self.cuts)}; give finite '
                "numbers in rising order.",
            )

    @property
    def name(self) -> str:
        """Name shown in reports, for example ``qtype × level``."""
        return " × ".join(self.columns)

    @property
    def text(self) -> str:
        """Form that `parse_slice` reads: ``qtype,level`` or ``tokens:100,300``."""
        cuts = ",".join(f"{cut:g}" for cut in self.cuts)
        return ",".join(self.columns) + (f":{cuts}" if cuts else "")


def parse_slice(text: str) -> SliceSpec:
    """Read a breakdown from its text form.

    Parameters
    ----------
    text : str
        ``a`` (one column), ``a,b`` (crossed) or ``a:100,300`` (cut points).

    Returns
    -------
    SliceSpec

    Raises
    ------
    PlanError
        When a column is empty or a cut point is not a number.

    Examples
    --------
    >>> parse_slice("qtype,level").name
    'qtype × level'
    >>> parse_slice("input_tokens:100,300").cuts
    (100.0, 300.0)
    """
    column, colon, rest = text.rpartition(":")
    if not colon:
        return SliceSpec(tuple(part.strip() for part in text.split(",")))
    cuts = []
    for part in rest.split(","):
        try:
            cuts.append(float(part))
        except ValueError:
            raise PlanKeyError(
                ("slices",),
                f'"{text}": cut point "{part.strip()}" is not a number; write '
                "COLUMN:CUT,CUT such as input_tokens:100,300.",
            ) from None
    return SliceSpec((column.strip(),), tuple(cuts))


def as_slices(
    slices: Sequence[SliceSpec | str | Sequence[str]],
    every_slice: Iterable[str] = (),
    weights: Iterable[str] = (),
) -> tuple[SliceSpec, ...]:
    """Return each breakdown once, with those that rules or a mix need."""
    specs: list[SliceSpec] = []
    for item in slices:
        if isinstance(item, str):
            specs.append(parse_slice(item))
        elif isinstance(item, SliceSpec):
            specs.append(item)
        else:
            specs.append(SliceSpec(tuple(item)))
    specs += [parse_slice(text) for text in every_slice]
    for text in weights:
        if text not in [spec.text for spec in specs]:
            specs.append(parse_slice(text))
    return tuple(dict.fromkeys(specs))
