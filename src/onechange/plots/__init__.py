"""Pictures of deltas, slices, questions, trials and planning curves, by matplotlib.

Every function takes plain values and returns a `matplotlib.figure.Figure` that no
global state knows of; `picture` turns it into bytes that are the same every time.
matplotlib is imported on the first call. Colours are told apart by everybody
(Okabe and Ito's blue and vermilion), and a status is never said by colour alone.
"""

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
    "flow_figure",
    "intervals_figure",
    "picture",
    "trials_figure",
]
