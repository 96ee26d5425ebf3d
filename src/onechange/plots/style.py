"""Colours and sizes of all pictures, and how a picture becomes bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BETTER",
    "FORMATS",
    "INK",
    "QUIET",
    "SOFT",
    "WORSE",
    "ZONE",
    "literal",
    "new_figure",
    "picture",
    "plain_axes",
    "styled",
]

FORMATS = ("svg", "png")
BETTER, WORSE = "#0072B2", "#D55E00"
INK, SOFT, QUIET, ZONE = "#1b2430", "#586474", "#c3cad3", "#d9e8f0"
SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "onechange",
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": QUIET,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
}


def picture(figure: Figure, format: str = "svg") -> bytes:
    """Write a figure as bytes that hold no date and no random name.

    Parameters
    ----------
    figure : Figure
        What a function of this package returned.
    format : str
        ``svg`` or ``png``.

    Returns
    -------
    bytes

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format not in FORMATS:
        raise OnechangeError(
            f'picture format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    silent: dict[str, Any] = {"Date": None, "Creator": None}
    out = io.BytesIO()
    with styled():
        figure.savefig(
            out,
            format=format,
            dpi=144,
            metadata=silent if format == "svg" else {"Software": None},
        )
    return out.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that a notebook shows as a picture."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(width, height), layout="constrained")
    # Notebooks look for this method; without pyplot a figure has none.
    figure._repr_png_ = lambda: picture(figure, "png")  # type: ignore[attr-defined]
    return figure


def plain_axes(axes: Axes, *, keep: str = "bottom") -> None:
    """Leave only the named spines of an axes."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in keep.split())
    axes.tick_params(length=3)


def literal(text: str) -> str:
    """Keep matplotlib from reading a text from outside as mathematics."""
    return text.replace("$", r"\$")


@contextmanager
def styled() -> Iterator[None]:
    """Use our settings, and only inside; decorates what makes a figure."""
    import matplotlib as mpl

    with mpl.rc_context({"path.simplify": True, **SETTINGS}):
        yield
