"""Prediction-powered inference for a mean: few human labels, many judge scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.cluster import bell_mccaffrey_df
from onechange.stats.estimate import Interval
from onechange.stats.student import guard, normal_quantile, t_quantile

__all__ = ["Corrected", "corrected_mean", "effective_number", "tuned_weight"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LEAST_DF = 1e-9  # one question has all the weight: an interval without end


@dataclass(frozen=True, slots=True)
class Corrected:
    """A mean estimated from human labels with the help of judge scores.

    Parameters
    ----------
    estimate : float
        Corrected mean, in the unit of the labels.
    standard_error : float
        Of the estimate, same unit.
    weight : float
        How far the judge is trusted: 0 not at all, 1 fully.
    interval : Interval
        Confidence interval.
    df : float
        Degrees of freedom of the interval; infinite for the normal quantile.
    """

    estimate: float
    standard_error: float
    weight: float
    interval: Interval
    df: float

    def pvalue(self, null: float = 0.0) -> float | None:
        """Two-sided p-value of "the mean is `null`"; None without spread."""
        from scipy.special import ndtr, stdtr

        if self.standard_error == 0:
            return None
        statistic = -abs(self.estimate - null) / self.standard_error
        tail = ndtr(statistic) if math.isinf(self.df) else stdtr(self.df, statistic)
        return max(min(1.0, 2 * float(tail)), 5e-324)


def corrected_mean(
    human: FloatArray,
    judge: FloatArray,
    judge_unlabelled: FloatArray,
    *,
    weight: float | None = None,
    sampling_weights: FloatArray | None = None,
    width: float | None = None,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    method: str = "guarded-ppi++",
) -> Corrected:
    """Estimate the human mean from a labelled sample and judge scores of the rest.

    Parameters
    ----------
    human, judge : ndarray of float, shape (n_labelled,)
        Human label and judge score of the same questions (or their paired
        differences).
    judge_unlabelled : ndarray of float, shape (n_unlabelled,)
        Judge score of the questions without a label.
    weight : float, optional
        Trust in the judge; by default tuned for the smallest variance, between 0
        and 1. With 1 it is plain prediction-powered inference.
    sampling_weights : ndarray of float, shape (n_labelled,), optional
        How many questions each labelled one stands for, when they were not drawn
        with equal chance.
    width : float, optional
        Width of the declared range of the values, for the guard.
    clusters : ndarray of int, shape (n_labelled + n_unlabelled,), optional
        Cluster of each question, the labelled ones first: questions of one cluster
        are not independent. Goes with ``guarded-ppi++``.
    confidence_level : float
        Two-sided level.
    method : {"guarded-ppi++", "ppi++"}
        ``ppi++`` is the published interval (normal quantile, variances with
        denominator n). ``guarded-ppi++``, for small labelled samples, uses Student's
        t with n_labelled − 1 degrees of freedom, variances with denominator n − 1,
        and a guard against a judge that agrees on every labelled question; with
        sampling weights the effective number of questions stands for n_labelled.

    Returns
    -------
    Corrected

    Raises
    ------
    MethodError
        If a value is not finite, shapes differ, weights are not positive, fewer than
        two questions (or, with clusters, two clusters) are labelled, or `method` is
        unknown.

    Notes
    -----
    mean(λ·judge_unlabelled) + mean(human − λ·judge), its variance
    λ²·var(judge_unlabelled)/N + var(human − λ·judge)/n (Angelopoulos et al. 2023;
    power tuning: Angelopoulos, Duchi & Zrnic 2023). With sampling weights w_i the
    first mean is taken over all N + n questions and the second is Σw_i r_i/Σw_i; both
    share the labelled questions, and the variance has their covariance. The guard
    adds 2c²/n² to the variance of the residuals' mean, c the root mean square of the
    residuals that are not 0 (of their possible range when all are 0). With sampling
    weights n is (Σw)²/Σw² in the guard, the denominators and the degrees of freedom:
    one question that stands for a thousand others is one question (Kish 1965).

    With clusters the estimate is the same, and its variance Σ_g ψ_g², ψ_g the sum over
    cluster g of what its questions move both means by, each divided by √(1 − share of
    the cluster in that mean): the CR2 correction (Bell & McCaffrey 2002). Labelled and
    other questions of one cluster thus count together. Student's t has the
    Bell–McCaffrey degrees of freedom of the labelled clusters, each as large as its
    weights, but not more than n − 1.

    Examples
    --------
    >>> import numpy as np
    >>> human, judge = np.array([0.0, 1, 1, 0, 1]), np.array([1.0, 1, 1, 0, 1])
    >>> found = corrected_mean(human, judge, np.tile(judge, 20), method="ppi++")
    >>> round(found.estimate, 3), round(found.weight, 3)
    (0.6, 0.707)
    """
    y, f, rest = _checked(human, judge, judge_unlabelled)
    if method not in ("guarded-ppi++", "ppi++"):
        raise MethodError(f"method {method!r}: expected guarded-ppi++ or ppi++")
    guarded = method == "guarded-ppi++"
    shares = _shares(sampling_weights, y.size)
    codes = None if clusters is None else _codes(clusters, y.size, rest.size)
    if codes is not None and not guarded:
        raise MethodError("clusters go with the method guarded-ppi++")
    if weight is None:
        weight = tuned_weight(y, f, rest)
    parts = _Parts(
        residual=y - weight * f,
        shares=shares,
        scores=rest if sampling_weights is None else np.concatenate([f, rest]),
        shared=sampling_weights is not None,
        weight=weight,
    )
    n = effective_number(shares)
    df = max(n - 1.0, _LEAST_DF) if guarded else math.inf
    if codes is None:
        variance = _variance_of(parts, f, ddof=1 if guarded else 0)
    else:
        variance, between = _cluster_variance(parts, codes)
        df = min(df, between)
        method = f"{method}-cr2"
    if guarded:
        variance += _guard(parts.residual, width) / n**2
    estimate = float(shares @ parts.residual)
    level = parts.scores.mean() if parts.scores.size else shares @ f
    estimate += weight * float(level)
    error = math.sqrt(max(variance, 0.0))
    tail = (1 - confidence_level) / 2
    quantile = t_quantile(tail, df) if guarded else normal_quantile(tail)
    if error == 0:
        quantile = 0.0
    interval = Interval(
        low=estimate - quantile * error,
        high=estimate + quantile * error,
        confidence_level=confidence_level,
        method=method,
        degenerate=error == 0,
    )
    return Corrected(estimate, error, weight, interval, df)


def effective_number(weights: FloatArray) -> float:
    """How many equally weighted questions tell as much as weighted ones.

    Parameters
    ----------
    weights : ndarray of float, shape (n_labelled,)
        Positive weights, or shares.

    Returns
    -------
    float
        From 1 to n_labelled; n_labelled when all weights are equal.

    Notes
    -----
    (Σw)²/Σw² (Kish 1965).

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0, 1.0, 3.0]))
    3.0
    """
    if np.ptp(weights) == 0:
        return float(weights.size)
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def tuned_weight(
    human: FloatArray, judge: FloatArray, judge_unlabelled: FloatArray
) -> float:
    """Trust in the judge that makes the variance smallest, between 0 and 1.

    Parameters
    ----------
    human, judge : ndarray of float, shape (n_labelled,)
    judge_unlabelled : ndarray of float, shape (n_unlabelled,)

    Returns
    -------
    float

    Notes
    -----
    cov(human, judge) / ((1 + n/N)·var(judge)), the covariance with denominator n, the
    variance over all n + N questions with denominator n + N − 1; 0 without unlabelled
    questions or without spread.
    """
    n, total = human.size, judge_unlabelled.size
    if n < 2 or total == 0:
        return 0.0
    spread = float(np.var(np.concatenate([judge, judge_unlabelled]), ddof=1))
    if spread == 0:
        return 0.0
    covariance = float(np.cov(human, judge, ddof=0)[0, 1])
    return min(1.0, max(0.0, covariance / ((1 + n / total) * spread)))


def _checked(
    human: FloatArray, judge: FloatArray, judge_unlabelled: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    y, f, rest = (
        np.asarray(values, dtype=np.float64)
        for values in (human, judge, judge_unlabelled)
    )
    if y.shape != f.shape or y.ndim != 1 or rest.ndim != 1:
        raise MethodError(
            f"human labels have shape {y.shape} and judge scores {f.shape}; expected "
            "one judge score for each human label"
        )
    if y.size < 2:
        raise MethodError(f"{y.size} labelled questions; expected 2 or more")
    if not all(np.isfinite(values).all() for values in (y, f, rest)):
        raise MethodError("human labels and judge scores must be finite numbers")
    return y, f, rest


def _shares(weights: FloatArray | None, n: int) -> FloatArray:
    if weights is None:
        return np.full(n, 1.0 / n)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or not np.all(np.isfinite(w) & (w > 0)):
        raise MethodError("sampling weights must be positive, one a labelled question")
    return np.asarray(w / w.sum(), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The two means that make the estimate: of the residuals, and of the scores.

    `scores` are those of the other questions, or of all (the labelled first) when
    `shared`: then both means rest on the labelled questions.
    """

    residual: FloatArray
    shares: FloatArray
    scores: FloatArray
    shared: bool
    weight: float


def _variance_of(parts: _Parts, judge: FloatArray, *, ddof: int) -> float:
    """Variance of the estimate when the questions are independent."""
    variance = _residual_variance(parts.residual, parts.shares, ddof)
    m = parts.scores.size
    if not m:
        return variance
    variance += parts.weight**2 * _variance(parts.scores, ddof) / m
    if parts.shared:
        shares, residual = parts.shares, parts.residual
        centred = judge - shares @ judge
        shared = float(shares @ (centred * (residual - shares @ residual)))
        variance += 2 * parts.weight * shared / m
    return variance


def _cluster_variance(parts: _Parts, codes: IntArray) -> tuple[float, float]:
    """Variance by CR2 over clusters, and degrees of freedom of the labelled ones."""
    n, n_clusters = parts.residual.size, int(codes.max()) + 1
    labelled = codes[:n]
    df = bell_mccaffrey_df(labelled, parts.shares)
    if df is None:
        raise MethodError(
            "all labelled questions lie in one cluster; label questions of 2 or more"
        )
    moved = _cluster_sums(parts.residual, parts.shares, labelled, n_clusters)
    m = parts.scores.size
    if m and parts.weight:
        everyone = codes if parts.shared else codes[n:]
        equal = np.full(m, 1.0 / m)
        moved += parts.weight * _cluster_sums(parts.scores, equal, everyone, n_clusters)
    return float(np.sum(moved**2)), df


def _cluster_sums(
    values: FloatArray, shares: FloatArray, codes: IntArray, n_clusters: int
) -> FloatArray:
    """Sum up what each cluster moves a weighted mean by, with the CR2 correction."""
    centred = shares * (values - shares @ values)
    sums = np.bincount(codes, weights=centred, minlength=n_clusters)
    size = np.bincount(codes, weights=shares, minlength=n_clusters)
    left = 1.0 - size
    alone = left <= 1e-12  # one cluster is the whole mean: it moves by nothing
    return np.asarray(np.where(alone, 0.0, sums / np.sqrt(np.where(alone, 1.0, left))))


def _codes(clusters: IntArray, n_labelled: int, n_rest: int) -> IntArray:
    if np.shape(clusters) != (n_labelled + n_rest,):
        raise MethodError(
            f"clusters have shape {np.shape(clusters)}; expected one for each of "
            f"{n_labelled} labelled and {n_rest} other questions"
        )
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def _variance(values: FloatArray, ddof: int) -> float:
    return float(np.var(values, ddof=ddof)) if values.size > ddof else 0.0


def _residual_variance(residual: FloatArray, shares: FloatArray, ddof: int) -> float:
    """Variance of the weighted mean of the residuals."""
    n = effective_number(shares)
    spread = shares**2 * (residual - shares @ residual) ** 2
    return float(spread.sum()) * n / max(n - ddof, _LEAST_DF)


def _guard(residual: FloatArray, width: float | None) -> float:
    c = guard(residual, width)
    return 0.0 if c is None else 2.0 * c * c
