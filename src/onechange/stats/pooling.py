"""Deltas of slices taken together, and drawn towards their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Pooled", "pooled"]


@dataclass(frozen=True, slots=True)
class Pooled:
    """Deltas of slices taken together, weighted by the inverse of their variances.

    Parameters
    ----------
    delta, standard_error : float
        Weighted mean and its standard error, if all slices have one delta.
    q : float
        Σ w(delta − weighted mean)².
    df : int
        Number of slices less one.
    tau2 : float
        Variance of the true deltas between slices (DerSimonian-Laird), 0 or more.
    i2 : float
        Share of Q beyond its expectation, in percent, 0 or more.
    shrunken : tuple of float
        Delta of each slice drawn towards the mean by what its own noise is worth.
    """

    delta: float
    standard_error: float
    q: float
    df: int
    tau2: float
    i2: float
    shrunken: tuple[float, ...]


def pooled(deltas: Sequence[float], variances: Sequence[float]) -> Pooled:
    """Take the deltas of slices together (Cochran 1954).

    Parameters
    ----------
    deltas : sequence of float
        At least two.
    variances : sequence of float
        Squared standard errors, above 0.

    Returns
    -------
    Pooled

    Notes
    -----
    w = 1/variance; tau² = max(0, (Q − df)/(Σw − Σw²/Σw)); I² = max(0, (Q − df)/Q).
    Shrunken: (tau²·delta + v·μ)/(tau² + v), μ the mean weighted by 1/(v + tau²).

    Examples
    --------
    >>> found = pooled([0.05, -0.02, 0.11, 0.03], [0.0004, 0.0009, 0.0016, 0.000625])
    >>> round(found.q, 4), found.df, round(found.i2, 2)
    (7.4393, 3, 59.67)
    """
    d, v = np.asarray(deltas, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    w = 1 / v
    mean = float(np.sum(w * d) / np.sum(w))
    q = float(np.sum(w * (d - mean) ** 2))
    df = d.size - 1
    scale = float(np.sum(w) - np.sum(w * w) / np.sum(w))
    tau2 = max(0.0, (q - df) / scale)
    around = float(np.sum(d / (v + tau2)) / np.sum(1 / (v + tau2)))
    return Pooled(
        delta=mean,
        standard_error=1 / math.sqrt(float(np.sum(w))),
        q=q,
        df=df,
        tau2=tau2,
        i2=100 * max(0.0, (q - df) / q) if q > 0 else 0.0,
        shrunken=tuple(((tau2 * d + v * around) / (tau2 + v)).tolist()),
    )
