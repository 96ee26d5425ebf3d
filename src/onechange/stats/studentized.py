"""The studentized (bootstrap-t) interval, listed or sampled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Note
from onechange.stats.listed import Cells, ListedLaw, listed_law, listed_resamples
from onechange.stats.resample import quantile_error
from onechange.stats.units import Units

__all__ = ["StudentizedLaw", "studentized_law", "studentized_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LISTED_RESAMPLES = 4e5
BATCH_DRAWS = 2**18  # numbers at a time: they stay in the cache
COUNT_COST = 12  # how much longer the count of a cell takes to draw than one unit
NOISE = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class StudentizedLaw:
    """Law of (resampled - estimate) / its own standard error.

    Parameters
    ----------
    law : ListedLaw
    error : float
        Standard error of the estimate.
    n_resamples : int or None
        None when all resamples were listed.
    values : ndarray of float, shape (n_resamples,)
        The sampled values in ascending order; empty when all were listed.
    """

    law: ListedLaw
    error: float
    n_resamples: int | None
    values: FloatArray


def studentized_limits(
    sample: Units, tail: float, n_resamples: int, seed: int
) -> tuple[float, float, int | None, tuple[Note, ...]]:
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
        Infinite when too many resamples have no spread, or when they are too few for
        the level: fewer than 1/tail - 1.
    n_resamples : int or None
        None when all resamples were listed.
    notes : tuple of Note
        ``sampled``, with the Monte Carlo error of the limits, when they were not.
    """
    found = studentized_law(sample, n_resamples, seed)
    if found.n_resamples is not None and (n_resamples + 1) * tail < 1.0 - 1e-9:
        low, high = -np.inf, np.inf
    else:
        low = sample.estimate - found.law.quantile(1.0 - tail) * found.error
        high = sample.estimate - found.law.quantile(tail) * found.error
    if found.n_resamples is None:
        return low, high, None, ()
    return low, high, n_resamples, (_sampled_note(found, tail, seed),)


def studentized_law(sample: Units, n_resamples: int, seed: int) -> StudentizedLaw:
    """Law of (resampled - estimate) / its own standard error.

    Parameters
    ----------
    sample : Units
        In one stratum.
    n_resamples, seed : int
        Used when the resamples are too many to be listed.

    Returns
    -------
    StudentizedLaw

    Notes
    -----
    With r = y - estimate·x of each unit, a resample has the ratio estimate + δ,
    δ = Σr/Σx, and the linearised standard error √Σ(r - δx)²/Σx. Sums over a resample
    come from the counts of its cells where there are few, else from the units drawn,
    in batches of bounded size.
    """
    cells = sample.strata[0]
    terms = _terms(cells, sample.estimate)
    scale = float(np.sqrt(terms[2] @ cells.counts / cells.n_units))
    error = _errors(terms @ cells.counts[:, None].astype(np.float64))
    listed = listed_resamples(cells, most=LISTED_RESAMPLES)
    if listed is not None:
        drawn, probability = listed
        law = listed_law(_studentized(terms @ drawn, scale), probability)
        return StudentizedLaw(law, float(error[0]), None, np.empty(0))
    sums = _drawn_sums(terms, cells.counts, n_resamples, seed)
    values = np.sort(_studentized(sums, scale))
    law = listed_law(values, np.full(n_resamples, 1.0 / n_resamples))
    return StudentizedLaw(law, float(error[0]), n_resamples, values)


def _terms(cells: Cells, estimate: float) -> FloatArray:
    """Of each cell: r, x, r², rx and x², which a resample adds up."""
    rest = cells.y - estimate * cells.x
    return np.stack((rest, cells.x, rest**2, rest * cells.x, cells.x**2))


def _drawn_sums(
    terms: FloatArray, counts: IntArray, n_resamples: int, seed: int
) -> FloatArray:
    """Add up the terms over each sampled resample, shape (5, n_resamples)."""
    n_units = int(np.sum(counts))
    if COUNT_COST * counts.size <= n_units:
        batches = _counted_sums(terms, counts, n_resamples, seed)
    else:
        batches = _unit_sums(np.repeat(terms, counts, axis=1), n_resamples, seed)
    return np.concatenate(list(batches), axis=1)


def _counted_sums(
    terms: FloatArray, counts: IntArray, n_resamples: int, seed: int
) -> Iterator[FloatArray]:
    rng = np.random.default_rng(seed)
    n_units = int(np.sum(counts))
    rows = max(1, BATCH_DRAWS // counts.size)
    for start in range(0, n_resamples, rows):
        size = min(rows, n_resamples - start)
        drawn = rng.multinomial(n_units, counts / n_units, size=size)
        yield terms @ drawn.T.astype(np.float64)


def _unit_sums(terms: FloatArray, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    rng = np.random.default_rng(seed)
    rest, x = np.ascontiguousarray(terms[0]), np.ascontiguousarray(terms[1])
    same = bool(np.all(x == 1.0))
    rows = max(1, BATCH_DRAWS // rest.size)
    for start in range(0, n_resamples, rows):
        size = min(rows, n_resamples - start)
        units = rng.integers(0, rest.size, size=(size, rest.size))
        r = rest[units]
        total, square = np.sum(r, axis=1), np.einsum("ij,ij->i", r, r)
        if same:
            n = np.full(size, float(rest.size))
            yield np.stack((total, n, square, total, n))
            continue
        w = x[units]
        products = np.einsum("ij,ij->i", r, w), np.einsum("ij,ij->i", w, w)
        yield np.stack((total, np.sum(w, axis=1), square, *products))


def _studentized(sums: FloatArray, scale: float) -> FloatArray:
    """Return δ over its standard error; 0 where neither differs from 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = sums[0] / sums[1]
        gap[np.abs(gap) <= NOISE * scale] = 0.0
        value = gap / _errors(sums)
    value[np.isnan(value)] = 0.0
    return np.asarray(value)


def _errors(sums: FloatArray) -> FloatArray:
    """Linearised standard error of the ratio in each resample."""
    rest, x, square, product, x_square = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = rest / x
        left = square - 2.0 * gap * product + gap**2 * x_square
        return np.asarray(np.sqrt(np.where(left > NOISE * square, left, 0.0)) / x)


def _sampled_note(found: StudentizedLaw, tail: float, seed: int) -> Note:
    n = found.n_resamples
    text = f"Sampled with {n} resamples (seed {seed}); "
    with np.errstate(invalid="ignore"):
        errors = [quantile_error(found.values, p) for p in (tail, 1.0 - tail)]
    finite = [error * found.error for error in errors if np.isfinite(error)]
    if finite:
        text += f"Monte Carlo standard error of the limits {max(finite):.2g}."
    else:
        text += "too many of them have no spread to tell the Monte Carlo error."
    return Note("sampled", text)
