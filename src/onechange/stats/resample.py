"""Sampled resampling, for statistics whose bootstrap law is not known.

Quantiles and statistics supplied by the user. Everything else in this package is
computed exactly and does not come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, Note, TestResult
from onechange.stats.signflip import tail_probability

__all__ = [
    "draw_batches",
    "expanded_tail",
    "quantile_error",
    "resample_statistic",
    "sampled_pvalue",
    "unexpanded_tail",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Callable[[IntArray], FloatArray]

BATCH_DRAWS = 2_000_000  # 16 MB of row numbers at a time


def resample_statistic(
    statistic: Statistic,
    *,
    n_units: int,
    method: str = "percentile",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> Interval:
    """Bootstrap interval of any statistic, from sampled resamples.

    Parameters
    ----------
    statistic : callable
        Takes unit numbers of shape (n_batch, n_units), one resample a row, and
        returns the statistic of each row, shape (n_batch,).
    n_units : int
        Number of questions, or of clusters, that are resampled.
    method : str
        ``percentile``, ``expanded-percentile`` or ``basic``.
    confidence_level : float
        Two-sided level.
    n_resamples : int
        Number of resamples, 39 or more.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Interval
        With a note ``sampled`` that gives the Monte Carlo error of the limits.

    Raises
    ------
    MethodError
        For another method, or too few resamples.

    Notes
    -----
    With B resamples, the limits are the values of rank ⌊(B+1)α/2⌋ from either end.
    Resamples are drawn and reduced in batches, so the memory does not grow with
    their number.

    Examples
    --------
    >>> import numpy as np
    >>> d = np.array([0.1, 0.2, 0.6, 0.0, 0.8, 0.1])
    >>> interval = resample_statistic(
    ...     lambda drawn: np.median(d[drawn], axis=1), n_units=6, n_resamples=999
    ... )
    >>> interval.n_resamples, [note.code for note in interval.notes]
    (999, ['sampled'])
    """
    if method not in ("percentile", "expanded-percentile", "basic"):
        raise MethodError(
            f"method of a sampled statistic is {method!r}; use "
            "percentile, expanded-percentile or basic"
        )
    tail = tail_probability(confidence_level)
    if method == "expanded-percentile":
        tail = expanded_tail(n_units, tail)
    rank = int((n_resamples + 1) * tail * (1.0 + 1e-12))
    if rank < 1:
        raise MethodError(
            f"n_resamples is {n_resamples}; an interval at {confidence_level:g} needs "
            f"{int(np.ceil(1.0 / tail)) - 1} or more"
        )
    values = np.sort(
        np.concatenate(
            [
                np.asarray(statistic(drawn), dtype=np.float64)
                for drawn in draw_batches(n_units, n_resamples, seed=seed)
            ]
        )
    )
    low, high = float(values[rank - 1]), float(values[n_resamples - rank])
    errors = quantile_error(values, tail), quantile_error(values, 1.0 - tail)
    if method == "basic":
        everyone = np.arange(n_units, dtype=np.int64)[None, :]
        estimate = float(np.asarray(statistic(everyone))[0])
        low, high = 2.0 * estimate - high, 2.0 * estimate - low
    note = Note(
        "sampled",
        f"Sampled with {n_resamples} resamples (seed {seed}); Monte Carlo standard "
        f"error of the limits {max(errors):.2g}.",
    )
    return Interval(
        low=low,
        high=high,
        confidence_level=confidence_level,
        method=method,
        degenerate=low == high,
        n_resamples=n_resamples,
        notes=(note,),
    )


def expanded_tail(n_units: int, tail: float) -> float:
    """Tail of the expanded percentile interval.

    Parameters
    ----------
    n_units : int
        Number of units that are resampled, 2 or more.
    tail : float
        Half of the error level.

    Returns
    -------
    float
        Φ(-√(n/(n-1)) t), t the 1 - tail quantile of Student's law with n - 1
        degrees of freedom (Hesterberg 2015).

    Examples
    --------
    >>> round(expanded_tail(9, 0.025), 9)
    0.007224819
    """
    from scipy.special import ndtr, stdtrit

    t = float(stdtrit(n_units - 1, 1.0 - tail))
    return float(ndtr(-np.sqrt(n_units / (n_units - 1)) * t))


def unexpanded_tail(n_units: int, expanded: float) -> float:
    """Tail that `expanded_tail` turned into the one given.

    Parameters
    ----------
    n_units : int
        Number of units that are resampled, 2 or more.
    expanded : float
        Tail of the bootstrap law.

    Returns
    -------
    float

    Examples
    --------
    >>> round(unexpanded_tail(9, expanded_tail(9, 0.025)), 12)
    0.025
    """
    from scipy.special import ndtri, stdtr

    quantile = float(ndtri(expanded)) * np.sqrt((n_units - 1) / n_units)
    return float(stdtr(n_units - 1, quantile))


def draw_batches(n_units: int, n_resamples: int, *, seed: int) -> Iterator[IntArray]:
    """Draw resamples with replacement, batch by batch.

    Parameters
    ----------
    n_units : int
        Number of units, which is the number of draws of one resample.
    n_resamples : int
        Number of resamples.
    seed : int
        Seed of the random numbers.

    Yields
    ------
    ndarray of int, shape (n_batch, n_units)
        Unit numbers; the batches join to the same stream for every batch size.

    Examples
    --------
    >>> [batch.shape for batch in draw_batches(3, 5, seed=7)]
    [(5, 3)]
    """
    rng = np.random.default_rng(seed)
    size = max(1, BATCH_DRAWS // n_units)
    for start in range(0, n_resamples, size):
        rows = min(size, n_resamples - start)
        yield rng.integers(0, n_units, size=(rows, n_units), dtype=np.int64)


def quantile_error(values: FloatArray, probability: float) -> float:
    """Monte Carlo standard error of a quantile of sampled values.

    Parameters
    ----------
    values : ndarray of float, shape (n_resamples,)
        Sampled values in ascending order.
    probability : float
        Which quantile.

    Returns
    -------
    float
        Half the distance of the values one binomial standard error of rank away.
    """
    n = values.size
    reach = np.sqrt(n * probability * (1.0 - probability))
    below = int(np.clip(np.floor(n * probability - reach), 0, n - 1))
    above = int(np.clip(np.ceil(n * probability + reach), 0, n - 1))
    return float(0.5 * (values[above] - values[below]))


def sampled_pvalue(
    observed: float, sampled: FloatArray, *, method: str, seed: int
) -> TestResult:
    """Two-sided p-value of a statistic among sampled ones.

    Parameters
    ----------
    observed : float
        Statistic of the data; large absolute values speak against the null.
    sampled : ndarray of float, shape (n_resamples,)
        The statistic under resampling from the null.
    method : str
        Name of the test.
    seed : int
        Seed that was used, for the note.

    Returns
    -------
    TestResult
        ``pvalue`` is (r + 1) / (B + 1), r the number of sampled statistics at least
        as extreme up to rounding noise; never 0.

    Examples
    --------
    >>> import numpy as np
    >>> sampled_pvalue(2.0, np.array([-2.0, 0.5, 1.0]), method="x", seed=7).pvalue
    0.5
    """
    size = abs(observed)
    n = sampled.size
    extreme = int(np.count_nonzero(np.abs(sampled) >= size * (1.0 - 1e-12)))
    pvalue = (extreme + 1) / (n + 1)
    error = float(np.sqrt(pvalue * (1.0 - pvalue) / n))
    note = Note(
        "sampled",
        f"Sampled with {n} resamples (seed {seed}); Monte Carlo standard error of the "
        f"p-value {error:.2g}.",
    )
    return TestResult(
        pvalue=pvalue,
        method=method,
        statistic=observed,
        exact=False,
        n_resamples=n,
        monte_carlo_error=error,
        log10_pvalue=float(np.log10(pvalue)),
        notes=(note,),
    )
