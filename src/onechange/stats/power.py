"""Closed-form planning: power, questions needed, smallest detectable delta."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError

__all__ = [
    "mcnemar_power",
    "mcnemar_questions",
    "mcnemar_size",
    "normal_questions",
    "paired_t_power",
    "paired_t_questions",
    "paired_t_smallest_delta",
]

FloatArray = NDArray[np.float64]

MCNEMAR_METHODS = ("mcnemar-exact", "mcnemar-midp", "normal")
MOST_QUESTIONS = 1e9


def paired_t_power(n_pairs: float, effect: float, *, alpha: float = 0.05) -> float:
    """Power of the two-sided paired t test.

    Parameters
    ----------
    n_pairs : float
        Number of pairs, at least 2; a real number is allowed for root finding.
    effect : float
        Standardised effect d_z: true delta over the SD of the differences.
    alpha : float
        Two-sided level.

    Returns
    -------
    float

    Notes
    -----
    P(|T| > t) for T noncentral t with n − 1 degrees of freedom and noncentrality
    d_z·√n. d_z takes the SD of the *differences*, not that of the scores.

    Examples
    --------
    >>> round(paired_t_power(50, 0.3), 4)
    0.5477
    """
    from scipy.special import nctdtr, stdtrit

    _check_level(alpha)
    if not n_pairs >= 2:
        raise MethodError(f"n_pairs is {n_pairs}; a paired t test needs at least 2.")
    df = n_pairs - 1
    noncentrality = abs(effect) * math.sqrt(n_pairs)
    critical = float(stdtrit(df, 1 - alpha / 2))
    upper = 1 - float(nctdtr(df, noncentrality, critical))
    return min(1.0, upper + float(nctdtr(df, noncentrality, -critical)))


def paired_t_questions(
    effect: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Questions that the two-sided paired t test needs; round up.

    Parameters
    ----------
    effect : float
        Standardised effect d_z, not 0.
    power : float
        Wanted probability to find it.
    alpha : float
        Two-sided level.

    Returns
    -------
    float
        Real-valued, at least 2.

    Examples
    --------
    >>> round(paired_t_questions(0.5), 3)
    33.367
    """
    from scipy.optimize import brentq

    _check_level(power)
    if effect == 0 or not math.isfinite(effect):
        raise MethodError(f"effect is {effect}; give the d_z that is to be found.")
    if paired_t_power(2, effect, alpha=alpha) >= power:
        return 2.0
    high = 4.0
    while paired_t_power(high, effect, alpha=alpha) < power:
        high *= 2
        if high > MOST_QUESTIONS:
            raise MethodError(
                f"effect {effect} needs over {MOST_QUESTIONS:.0e} questions; it is too "
                "small to be planned for."
            )
    return float(
        brentq(
            lambda n: paired_t_power(n, effect, alpha=alpha) - power,
            high / 2,
            high,
            xtol=1e-9,
        )
    )


def paired_t_smallest_delta(
    n_pairs: int, sd: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Smallest true delta that the two-sided paired t test finds with a given power.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    sd : float
        SD of the paired differences, in the metric's unit.
    power : float
        Wanted probability to find it.
    alpha : float
        Two-sided level.

    Returns
    -------
    float
        In the metric's unit.

    Examples
    --------
    >>> round(paired_t_smallest_delta(150, 0.35), 5)
    0.08058
    """
    from scipy.optimize import brentq

    _check_level(power)
    high = 1.0
    while paired_t_power(n_pairs, high, alpha=alpha) < power:
        high *= 2
    effect = brentq(
        lambda d: paired_t_power(n_pairs, d, alpha=alpha) - power, 0, high, xtol=1e-13
    )
    return float(effect) * sd


def normal_questions(
    variance: float, delta: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Questions by the normal approximation; round up.

    Parameters
    ----------
    variance : float
        Variance of one paired difference: ω², or with K trials in each arm
        ω² + (σ_b² + σ_v²)/K.
    delta : float
        True delta, not 0, in the metric's unit.
    power : float
        Wanted probability to find it.
    alpha : float
        Two-sided level.

    Returns
    -------
    float
        (z_{α/2} + z_β)²·variance/delta² (Miller 2024).

    Examples
    --------
    >>> round(normal_questions(1 / 9, 0.03))
    969
    """
    if delta == 0:
        raise MethodError("delta is 0; give the delta that is to be found.")
    z = _upper_quantile(alpha / 2) + _upper_quantile(1 - power)
    return z**2 * variance / delta**2


def mcnemar_power(
    n_pairs: int,
    only_variant: float,
    only_baseline: float,
    *,
    method: str = "mcnemar-midp",
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Unconditional power of McNemar's test.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    only_variant, only_baseline : float
        Probability that a question is right in one arm only.
    method : str
        ``mcnemar-exact``, ``mcnemar-midp`` or ``normal`` (Connor 1987).
    alpha : float
        Level.
    alternative : str
        ``two-sided``, ``greater`` (the variant is better) or ``less``.

    Returns
    -------
    float

    Notes
    -----
    The number of discordant pairs m is binomial(n, ψ); given m the gains are
    binomial(m, only_variant/ψ). The power is the probability of all (m, gains) that
    reject. The normal approximation is two-sided only.

    Examples
    --------
    >>> round(mcnemar_power(150, 0.15, 0.07, method="mcnemar-exact"), 4)
    0.4858
    """
    _check_mcnemar(n_pairs, only_variant, only_baseline, method, alternative)
    _check_level(alpha)
    discordant = only_variant + only_baseline
    if method == "normal":
        return _connor_power(n_pairs, discordant, only_variant - only_baseline, alpha)
    if discordant == 0:
        return 0.0
    weights = _binomial(n_pairs, discordant)
    total = 0.0
    for m in np.flatnonzero(weights > 1e-18):
        gains = _binomial(int(m), only_variant / discordant)
        rejected = _mcnemar_pvalues(int(m), method, alternative) <= alpha * (1 + 1e-12)
        total += float(weights[m]) * float(np.sum(gains[rejected]))
    return min(1.0, total)


def mcnemar_size(
    n_pairs: int,
    discordant: float,
    *,
    method: str = "mcnemar-midp",
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Actual level of McNemar's test when nothing changed on average.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    discordant : float
        Probability that a question is right in one arm only.
    method, alpha, alternative
        As in `mcnemar_power`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(mcnemar_size(150, 0.22, method="mcnemar-exact"), 4)
    0.0319
    """
    half = discordant / 2
    return mcnemar_power(
        n_pairs, half, half, method=method, alpha=alpha, alternative=alternative
    )


def mcnemar_questions(
    discordant: float, delta: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Questions that the two-sided McNemar test needs; round up.

    Parameters
    ----------
    discordant : float
        Probability that a question is right in one arm only.
    delta : float
        True difference of the shares, not 0, at most `discordant` in size.
    power : float
        Wanted probability to find it.
    alpha : float
        Two-sided level.

    Returns
    -------
    float
        (z_{α/2}·√ψ + z_β·√(ψ − δ²))²/δ² (Connor 1987).

    Examples
    --------
    >>> round(mcnemar_questions(0.2, 0.1), 2)
    154.6
    """
    _check_level(power)
    if delta == 0 or abs(delta) > discordant * (1 + 1e-12):
        raise MethodError(
            f"delta is {delta} with a share of {discordant} discordant pairs; it must "
            "not be 0, nor larger than that share."
        )
    first = _upper_quantile(alpha / 2) * math.sqrt(discordant)
    second = _upper_quantile(1 - power) * math.sqrt(max(0.0, discordant - delta**2))
    return ((first + second) / delta) ** 2


def _connor_power(n: int, discordant: float, delta: float, alpha: float) -> float:
    from scipy.special import ndtr

    if discordant == 0:
        return 0.0
    spread = math.sqrt(max(discordant - delta**2, 0.0))
    reach = abs(delta) * math.sqrt(n) - _upper_quantile(alpha / 2) * math.sqrt(
        discordant
    )
    if spread == 0:
        return 1.0 if reach > 0 else 0.0
    return float(ndtr(reach / spread))


def _mcnemar_pvalues(m: int, method: str, alternative: str) -> FloatArray:
    """p-value of each count of gains 0 … m among m discordant pairs."""
    law = _binomial(m, 0.5)
    at_least = np.minimum(np.cumsum(law[::-1])[::-1], 1.0)
    half = 0.5 * law if method == "mcnemar-midp" else np.zeros_like(law)
    greater = at_least - half
    less = greater[::-1]
    two_sided = np.minimum(1.0, 2 * np.minimum(greater, less))
    chosen = {"greater": greater, "less": less, "two-sided": two_sided}[alternative]
    return np.asarray(chosen, dtype=np.float64)


def _binomial(n: int, share: float) -> FloatArray:
    """Probabilities of 0 … n."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    law = np.exp(log_choose + xlogy(k, share) + xlog1py(n - k, -share))
    return np.asarray(law, dtype=np.float64)


def _upper_quantile(tail: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(tail))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise MethodError(f"a level or power of {level} is not between 0 and 1.")


def _check_mcnemar(
    n_pairs: int, gain: float, loss: float, method: str, alternative: str
) -> None:
    if method not in MCNEMAR_METHODS:
        raise MethodError(
            f'method is "{method}"; choose one of {", ".join(MCNEMAR_METHODS)}.'
        )
    if alternative not in ("two-sided", "greater", "less"):
        raise MethodError(
            f'alternative is "{alternative}"; choose "two-sided", "greater" or "less".'
        )
    if method == "normal" and alternative != "two-sided":
        raise MethodError("the normal approximation is two-sided only.")
    if n_pairs < 1 or gain < 0 or loss < 0 or gain + loss > 1 + 1e-12:
        raise MethodError(
            f"n_pairs {n_pairs} with shares {gain} and {loss} is not possible; give at "
            "least one pair and shares of 0 or more that sum to at most 1."
        )
