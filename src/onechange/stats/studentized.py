"""The studentized (bootstrap-t) interval, listed or sampled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.listed import Cells, ListedLaw, listed_law, listed_resamples
from onechange.stats.units import Units

__all__ = ["studentized_law", "studentized_limits"]

FloatArray = NDArray[np.float64]

LISTED_RESAMPLES = 4e5


def studentized_limits(
    sample: Units, tail: float, n_resamples: int, seed: int
) -> tuple[float, float, int | None]:
    """Limits from (resampled - estimate) / its own standard error.

    Parameters
    ----------
    sample : Units
        In one stratum.
    tail : float
        Half of the error level.
    n_resamples, seed : int
        Used when the resamples are too many to be listed.

    Returns
    -------
    low, high : float
        Infinite when too many resamples have no spread.
    n_resamples : int or None
        None when all resamples were listed.
    """
    law, error, drawn_number = studentized_law(sample, n_resamples, seed)
    low = sample.estimate - law.quantile(1.0 - tail) * error
    high = sample.estimate - law.quantile(tail) * error
    return low, high, drawn_number


def studentized_law(
    sample: Units, n_resamples: int, seed: int
) -> tuple[ListedLaw, float, int | None]:
    """Law of (resampled - estimate) / its own standard error.

    Parameters
    ----------
    sample : Units
        In one stratum.
    n_resamples, seed : int
        Used when the resamples are too many to be listed.

    Returns
    -------
    law : ListedLaw
    error : float
        Standard error of the estimate.
    n_resamples : int or None
        None when all resamples were listed.
    """
    cells = sample.strata[0]
    listed = listed_resamples(cells, most=LISTED_RESAMPLES)
    error = _ratio_error(
        cells, cells.counts[:, None].astype(np.float64), sample.estimate
    )
    if listed is not None:
        drawn, probability = listed
        law = listed_law(
            _studentized_values(cells, drawn, sample.estimate), probability
        )
        return law, float(error[0]), None
    values = _drawn_values(cells, sample.estimate, n_resamples, seed)
    law = listed_law(values, np.full(n_resamples, 1.0 / n_resamples))
    return law, float(error[0]), n_resamples


def _drawn_values(
    cells: Cells, estimate: float, n_resamples: int, seed: int
) -> FloatArray:
    rng = np.random.default_rng(seed)
    share = cells.counts / cells.n_units
    batch = max(1, 4_000_000 // cells.counts.size)
    values = np.empty(n_resamples)
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        drawn = rng.multinomial(cells.n_units, share, size=size).T.astype(np.float64)
        values[start : start + size] = _studentized_values(cells, drawn, estimate)
    return values


def _studentized_values(cells: Cells, drawn: FloatArray, estimate: float) -> FloatArray:
    ratio = (cells.y @ drawn) / (cells.x @ drawn)
    error = _ratio_error(cells, drawn, ratio)
    gap = ratio - estimate
    gap[np.abs(gap) <= 1e-13 * abs(estimate)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = gap / error
    value[np.isnan(value)] = 0.0
    return np.asarray(value)


def _ratio_error(
    cells: Cells, drawn: FloatArray, ratio: FloatArray | float
) -> FloatArray:
    """Linearised standard error of a ratio of sums in each resample."""
    x = cells.x @ drawn
    square = (
        (cells.y**2) @ drawn
        - 2.0 * ratio * ((cells.y * cells.x) @ drawn)
        + ratio**2 * ((cells.x**2) @ drawn)
    )
    noise = 1e-13 * ((cells.y**2) @ drawn)
    return np.asarray(np.sqrt(np.where(square > noise, square, 0.0)) / x)
