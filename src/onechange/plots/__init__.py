"""Pictures of deltas, slices, questions, trials and planning curves, by matplotlib.

Every `..._figure` takes plain values and returns a `matplotlib.figure.Figure` that no
global state knows of; `picture` turns it into bytes that are the same every time.
matplotlib is imported on the first call. Colours are told apart by everybody (Okabe and
Ito's blue and vermilion), and a status is never said by colour alone. Every `..._lines`
shows the same with characters.
"""

from onechange.plots.characters import (
    differences_lines,
    flow_lines,
    intervals_lines,
    trials_lines,
)
from onechange.plots.counts import flow_figure, trials_figure
from onechange.plots.curves import curve_figure
from onechange.plots.differences import differences_figure
from onechange.plots.intervals import IntervalRow, intervals_figure
from onechange.plots.style import FORMATS, picture

__all__ = [
    "FORMATS",
    "IntervalRow",
    "curve_figure",
    "differences_figure",
    "differences_lines",
    "flow_figure",
    "flow_lines",
    "intervals_figure",
    "intervals_lines",
    "picture",
    "trials_figure",
    "trials_lines",
]
