"""Colours and sizes of all pictures, and how a picture becomes bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from onechange.display import escape_terminal
from onechange.display.shortening import shorten_middle
from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
    "key",
    "line_key",
    "literal",
    "named",
    "new_figure",
    "picture",
    "plain_axes",
    "styled",
]

FORMATS = ("svg", "png")
BETTER, WORSE = "#0072B2", "#D55E00"
INK, SOFT, QUIET, ZONE = "#1b2430", "#586474", "#c3cad3", "#d9e8f0"
LONGEST = 40  # characters of a name in a picture
FONT = "DejaVu Sans"  # comes with matplotlib
# Where they are installed they have the letters that it lacks.
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
    "Arial Unicode MS",
)
SETTINGS: dict[Any, Any] = {
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
    data = out.getvalue()
    if format == "svg":  # the reader's machine finds fonts of its own
        for name in _fallbacks():
            data = data.replace(f", '{name}'".encode(), b"")
    return data


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
    """Write a text from outside as it is: no mathematics, no missing letters.

    What is invisible is escaped as in the other reports; so are letters that no font at
    hand can draw.
    """
    drawable = _drawable()
    shown = "".join(
        char if ord(char) in drawable else char.encode("unicode_escape").decode("ascii")
        for char in escape_terminal(text)
    )
    return shown.replace("$", r"\$")


def named(text: str) -> str:
    """Write a name from outside; a long one is cut in its middle."""
    return shorten_middle(_visible(text), LONGEST).replace("$", r"\$")


def key(figure: Figure, handles: Sequence[Artist]) -> None:
    """Say below a figure what its colours mean."""
    if handles:
        figure.legend(
            handles=list(handles),
            loc="outside lower center",
            ncols=len(handles),
            frameon=False,
            fontsize=8.5,
        )


def line_key(color: str, label: str, *, marker: str = "o") -> Artist:
    """Return the sample of a line for `key`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker=marker, linewidth=1.8, label=label)


def _visible(text: str) -> str:
    """Escape what is invisible, and letters that no font at hand can draw."""
    drawable = _drawable()
    return "".join(
        char if ord(char) in drawable else char.encode("unicode_escape").decode("ascii")
        for char in escape_terminal(text)
    )


@lru_cache
def _fallbacks() -> tuple[str, ...]:
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return tuple(name for name in FALLBACKS if name in installed)


@lru_cache
def _drawable() -> frozenset[int]:
    """Code points that the fonts at hand can draw."""
    from matplotlib import font_manager

    found: set[int] = set()
    for name in (FONT, *_fallbacks()):
        path = font_manager.findfont(name, fallback_to_default=False)
        found.update(font_manager.get_font(path).get_charmap())
    return frozenset(found)


@contextmanager
def styled() -> Iterator[None]:
    """Use our settings, and only inside; decorates what makes a figure."""
    import matplotlib as mpl

    fonts: dict[Any, Any] = {"font.family": [FONT, *_fallbacks()]}
    with mpl.rc_context({"path.simplify": True, **SETTINGS, **fonts}):
        yield
