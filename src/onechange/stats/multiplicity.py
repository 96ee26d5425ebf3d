"""Several tests at once: max-T by shared sign flips, Holm, Benjamini-Hochberg."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.flips import Flips, UnitColumns, flips, numbered, on_grid
from onechange.stats.products import products
from onechange.stats.student import normal_quantile

__all__ = ["MaxT", "adjusted_pvalues", "max_t", "simultaneous_level"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Callable[[FloatArray], FloatArray]

TIE = 1e-9  # relative size of differences that count as ties
STATSMODELS_NAMES = {
    "holm": "holm",
    "bh": "fdr_bh",
    "by": "fdr_by",
    "bonferroni": "bonferroni",
    "hochberg": "simes-hochberg",
}


@dataclass(frozen=True, slots=True, eq=False)
class MaxT:
    """What a family of tests says together.

    Parameters
    ----------
    pvalues : tuple of float or None
        Adjusted p-values in the order of the columns; None for a column without any
        difference, which is no member of the family.
    observed : tuple of float or None
        The statistics.
    critical : float or None
        Quantile of the largest centred statistic, for simultaneous intervals; None
        without any column that varies.
    n_tests : int
        Size of the family.
    n_resamples : int or None
        Number of sampled flips; None when all were enumerated.
    """

    pvalues: tuple[float | None, ...]
    observed: tuple[float | None, ...]
    critical: float | None
    n_tests: int
    n_resamples: int | None

    def monte_carlo_error(self, pvalue: float) -> float | None:
        """Return the standard error of an adjusted p-value; None where it is exact."""
        if self.n_resamples is None:
            return None
        return math.sqrt(pvalue * (1 - pvalue) / self.n_resamples)


def max_t(
    columns: Sequence[UnitColumns],
    *,
    statistic: str = "u",
    step_down: bool = True,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> MaxT:
    """Adjust the tests of all columns by their joint law under sign flips.

    Parameters
    ----------
    columns : sequence of UnitColumns
        The family, slice by slice; units (questions or clusters) flip whole.
    statistic : {"u", "t", "mean"}
        |Σd|/√Σd², |t| or |mean|.
    step_down : bool
        Whether tests already rejected leave the maximum (Westfall & Young 1993).
    confidence_level : float
        Level of `MaxT.critical`.
    n_resamples, seed : int
        For sampling; few units are enumerated.

    Returns
    -------
    MaxT

    Raises
    ------
    MethodError
        For an unknown statistic.

    Notes
    -----
    With U_j = |Σ s_i d_ij|/√Σ d_ij², the adjusted p of the j-th largest is the share
    of flips whose largest U among it and all smaller ones reaches it, made monotone.
    √Σd² is the same for every flip, so U is bounded where |t| is infinite.

    Examples
    --------
    >>> d = np.array([[1.0, 1.0], [2.0, -1.0], [1.0, 1.0], [2.0, 1.0], [1.0, -1.0]])
    >>> column = UnitColumns(np.arange(5), d, np.ones_like(d))
    >>> max_t([column]).pvalues
    (0.125, 1.0)
    """
    if statistic not in ("u", "t", "mean"):
        raise MethodError(
            f'"{statistic}" is not a statistic of max-T; choose u, t or mean.'
        )
    parts, n_units = numbered(columns, seed=seed)
    family = _Family.of(parts, statistic)
    stream = flips(n_units, n_resamples=n_resamples, seed=seed)
    reached = family.observed[family.order] * (1 - TIE)
    extreme = np.zeros(reached.size, dtype=np.int64)
    largest = []
    for signs in stream.batches() if reached.size else ():
        sums, counts = family.flipped(signs)
        ranked = family.statistic(sums)[family.order]
        if step_down:
            ranked = np.maximum.accumulate(ranked[::-1], axis=0)[::-1]
        else:
            ranked = np.broadcast_to(ranked.max(axis=0), ranked.shape)
        extreme += np.count_nonzero(ranked >= reached[:, None], axis=1)
        largest.append(family.centred(sums, counts))
    ranked_p = np.array([stream.pvalue(int(count)) for count in extreme])
    return MaxT(
        pvalues=family.in_order(
            np.maximum.accumulate(ranked_p) if step_down else ranked_p
        ),
        observed=family.in_order(family.observed[family.order]),
        critical=_critical(family, stream, largest, confidence_level),
        n_tests=reached.size,
        n_resamples=None if stream.exact else stream.n_flips,
    )


def simultaneous_level(critical: float, confidence_level: float) -> float:
    """Level of each interval at which all of them hold together.

    Parameters
    ----------
    critical : float
        From `max_t`.
    confidence_level : float
        Joint level.

    Returns
    -------
    float
        1 − 2Φ(−critical), never below `confidence_level`.

    Examples
    --------
    >>> round(simultaneous_level(2.5, 0.95), 4), simultaneous_level(1.0, 0.95)
    (0.9876, 0.95)
    """
    from scipy.special import ndtr

    if critical <= normal_quantile((1 - confidence_level) / 2):
        return confidence_level
    return 1 - 2 * float(ndtr(-critical))


def adjusted_pvalues(
    pvalues: Sequence[float | None], method: str
) -> tuple[float | None, ...]:
    """Adjust p-values by their number and order alone.

    Parameters
    ----------
    pvalues : sequence of float or None
        None for a test that is undefined: it is not counted.
    method : str
        ``holm``, ``bh`` (Benjamini-Hochberg), ``by``, ``bonferroni`` or ``hochberg``.

    Returns
    -------
    tuple of float or None

    Raises
    ------
    MethodError
        For an unknown method.

    Examples
    --------
    >>> adjusted_pvalues([0.01, None, 0.03], "holm")
    (0.02, None, 0.03)
    """
    if method not in STATSMODELS_NAMES:
        raise MethodError(
            f'"{method}" is not an adjustment of p-values; choose one of '
            f"{', '.join(STATSMODELS_NAMES)}."
        )
    defined = [p for p in pvalues if p is not None]
    if not defined:
        return tuple(None for _ in pvalues)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(defined, method=STATSMODELS_NAMES[method])[1])
    return tuple(None if p is None else float(next(adjusted)) for p in pvalues)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One `UnitColumns` made ready: its rows of the signs, and one matrix."""

    rows: slice | IntArray
    matrix: FloatArray  # (n_rows, n_values + n_counts): sums, then pair counts
    n_values: int
    count: IntArray  # which row of pair counts belongs to each column


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """All columns with what does not change under flips."""

    parts: tuple[_Part, ...]
    alive: NDArray[np.bool_]
    statistic: Statistic
    observed: FloatArray
    order: IntArray
    mean: FloatArray
    centred_norm: FloatArray

    @classmethod
    def of(cls, columns: Sequence[UnitColumns], statistic: str) -> _Family:
        """Prepare the columns whose statistic is defined."""
        values = [on_grid(part.values) for part in columns]
        parts = tuple(map(_part, columns, values))
        sums = _joined(v.sum(axis=0) for v in values)
        squares = _joined((v * v).sum(axis=0) for v in values)
        pairs = _joined(part.sizes.sum(axis=0) for part in columns)
        units = _joined((part.sizes > 0).sum(axis=0) for part in columns)
        alive = (squares > 0) & ((units > 1) | (statistic != "t"))
        function = _statistic(statistic, squares[alive], pairs[alive], units[alive])
        observed = function(sums[alive][:, None])[:, 0]
        mean = np.divide(sums, pairs, out=np.zeros_like(sums), where=pairs > 0)
        spread = _joined(
            ((v - m * part.sizes) ** 2).sum(axis=0)
            for v, part, m in zip(values, columns, _split(mean, values), strict=True)
        )
        norm = np.where(spread > 1e-18 * squares, np.sqrt(spread), np.inf)
        return cls(
            parts=parts,
            alive=alive,
            statistic=function,
            observed=observed,
            order=np.argsort(-observed, kind="stable"),
            mean=mean,
            centred_norm=norm,
        )

    def flipped(self, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return sums and signed pair counts of the living columns under some flips."""
        sums, counts = [], []
        for part in self.parts:
            found = products(part.matrix, signs[part.rows])
            sums.append(found[: part.n_values])
            counts.append(found[part.n_values :][part.count])
        return np.vstack(sums)[self.alive], np.vstack(counts)[self.alive]

    def in_order(self, ranked: FloatArray) -> tuple[float | None, ...]:
        """Values of the living columns, by rank, in the order of all columns."""
        found = np.full(self.alive.size, np.nan)
        found[np.flatnonzero(self.alive)[self.order]] = ranked
        return tuple(
            float(value) if alive else None
            for value, alive in zip(found, self.alive, strict=True)
        )

    def centred(self, sums: FloatArray, counts: FloatArray) -> FloatArray:
        """Largest |Σ s(d − mean)|/√Σ(d − mean)² of each flip."""
        centred = np.abs(sums - self.mean[self.alive][:, None] * counts)
        ratio = centred / self.centred_norm[self.alive][:, None]
        return np.asarray(ratio.max(axis=0, initial=0.0))


def _part(columns: UnitColumns, values: FloatArray) -> _Part:
    units = columns.units
    start = int(units[0]) if units.size else 0
    contiguous = bool(np.array_equal(units, np.arange(start, start + units.size)))
    counts, count = _distinct(columns.sizes)
    return _Part(
        slice(start, start + units.size) if contiguous else units,
        np.hstack([values, counts]),
        values.shape[1],
        count,
    )


def _distinct(columns: FloatArray) -> tuple[FloatArray, IntArray]:
    """Keep each column once, and tell which one each was: most often one for all."""
    kept: list[FloatArray] = []
    which = []
    for column in columns.T:
        same = (i for i, other in enumerate(kept) if np.array_equal(other, column))
        place = next(same, len(kept))
        if place == len(kept):
            kept.append(column)
        which.append(place)
    return np.column_stack(kept), np.array(which, dtype=np.int64)


def _statistic(
    name: str, squares: FloatArray, pairs: FloatArray, units: FloatArray
) -> Statistic:
    """Return the statistic as a function of flipped sums, (n_columns, n_flips)."""
    if name == "mean":
        return lambda sums: np.abs(sums) / pairs[:, None]
    if name == "u":
        norm = np.sqrt(squares)[:, None]
        return lambda sums: np.abs(sums) / norm
    n, total = units[:, None], squares[:, None]

    def t(sums: FloatArray) -> FloatArray:
        rest = np.maximum(total - sums * sums / n, 0.0)
        rest[rest < 1e-12 * np.broadcast_to(total, rest.shape)] = 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(sums) * np.sqrt((n - 1) / n / rest))

    return t


def _critical(
    family: _Family, stream: Flips, largest: Sequence[FloatArray], level: float
) -> float | None:
    """Value that the largest centred statistic does not exceed with this chance."""
    if not np.isfinite(family.centred_norm[family.alive]).any():
        return None
    values = np.concatenate(largest)
    size = values.size + (not stream.exact)
    rank = min(math.ceil(level * size * (1 - 1e-12)), values.size)
    return float(np.partition(values, rank - 1)[rank - 1])


def _joined(parts: Iterable[FloatArray]) -> FloatArray:
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])


def _split(values: FloatArray, like: Sequence[FloatArray]) -> list[FloatArray]:
    edges = np.cumsum([part.shape[1] for part in like])[:-1]
    return np.split(values, edges)
