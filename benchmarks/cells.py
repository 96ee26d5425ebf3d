"""Data of the calibration cells: one replication at a time, with the true delta.

Every generator takes a random generator and the number of questions (of documents
where questions are clustered) and returns one experiment. Metrics are
higher-is-better except latencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, ndtr, ndtri

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BASELINE_ACCURACY = 0.70
ORDINAL_CUTS = ndtri(np.array([0.15, 0.30, 0.45, 0.65]))
TRIALS = 3


@dataclass(frozen=True)
class Draw:
    """One simulated experiment.

    `baseline` and `variant` have shape (n_questions,), or (n_questions, n_trials)
    in the cells with repeated trials; `key` tells draws apart and seeds whatever
    an event samples.
    """

    baseline: FloatArray
    variant: FloatArray
    clusters: IntArray | None = None
    key: tuple[int, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A data-generating process with its true delta and true ratio of means.

    `counted` marks 0/1 data without clusters, whose results depend on the four
    counts alone: equal tables are computed once. `continuous` marks differences
    without ties with the true delta, for which an interval and its one-sided
    p-values at a point say the same without exception.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Draw]
    delta: float
    ratio: float | None = None
    direction: str = "higher"
    counted: bool = False
    continuous: bool = False


def binary(psi: float, delta: float) -> Cell:
    """0/1 answers with discordance `psi`; baseline accuracy 0.70."""
    gained, lost = (psi + delta) / 2, (psi - delta) / 2
    edges = np.cumsum([gained, lost, BASELINE_ACCURACY - lost])

    def draw(rng: np.random.Generator, n: int) -> Draw:
        u = rng.random(n)
        baseline = (u >= edges[0]) & (u < edges[2])
        variant = (u < edges[0]) | ((u >= edges[1]) & (u < edges[2]))
        return Draw(baseline.astype(float), variant.astype(float))

    name = f"binary psi={psi:.2f} delta={delta:.2f}"
    ratio = 1 + delta / BASELINE_ACCURACY
    return Cell(name, draw, delta, ratio, counted=True)


def ordinal(shift: float, *, swapped: bool = False) -> Cell:
    """Five-level scores of a Gaussian copula (0.7); the better arm is shifted."""
    delta = float(np.sum(ndtr(ORDINAL_CUTS) - ndtr(ORDINAL_CUTS - shift))) / 4

    def draw(rng: np.random.Generator, n: int) -> Draw:
        low, high = _correlated(rng, n, 0.7)
        first = np.searchsorted(ORDINAL_CUTS, low) / 4
        second = np.searchsorted(ORDINAL_CUTS, high + shift) / 4
        return Draw(second, first) if swapped else Draw(first, second)

    name = f"ordinal shift={shift:.2f}" if shift else "ordinal delta=0"
    if swapped:
        return Cell(f"ordinal drop, shift={shift:.2f}", draw, -delta)
    return Cell(name, draw, delta)


def faithfulness(before: float, after: float) -> Cell:
    """1 with probability pi, else Beta(4, 2); Gaussian copula (0.6)."""

    def score(z: FloatArray, pi: float) -> FloatArray:
        u = ndtr(z) / (1 - pi)
        below = u < 1
        return np.where(below, betaincinv(4, 2, np.where(below, u, 0.5)), 1.0)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        first, second = _correlated(rng, n, 0.6)
        return Draw(score(first, before), score(second, after))

    name = f"faith pi .{before * 100:.0f}->.{after * 100:.0f}"
    if before == after:
        name = "faith delta=0"
    return Cell(name, draw, (after - before) / 3, continuous=before != after)


def latency(
    ratio: float = 1.0, *, noise: tuple[float, float] = (0.4, 0.4), name: str
) -> Cell:
    """Lognormal seconds: question SD 0.6 and arm noise on the log scale, mean 2 s."""
    mean = (2.0, 2.0 * ratio)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        question = 0.6 * rng.standard_normal(n)
        arms = [
            mean[arm]
            * np.exp(
                question
                + noise[arm] * rng.standard_normal(n)
                - (0.36 + noise[arm] ** 2) / 2
            )
            for arm in (0, 1)
        ]
        return Draw(arms[0], arms[1])

    delta = mean[1] - mean[0]
    return Cell(name, draw, delta, ratio, direction="lower", continuous=True)


def latency_p95(ratio: float) -> Cell:
    """Lognormal latency with the true difference of the 95th percentiles."""
    cell = latency(ratio, name=f"latency p95 ratio{ratio:g}")
    log_sd = (0.36 + 0.16) ** 0.5
    baseline = 2.0 * np.exp(log_sd * ndtri(0.95) - log_sd**2 / 2)
    return Cell(cell.name, cell.draw, float(baseline) * (ratio - 1), ratio, "lower")


def zero_inflated(delta: float) -> Cell:
    """80 % exact ties, else normal changes with SD 0.3 around delta / 0.2."""

    def draw(rng: np.random.Generator, n: int) -> Draw:
        changed = rng.random(n) < 0.2
        change = delta / 0.2 + 0.3 * rng.standard_normal(n)
        baseline = rng.random(n)
        return Draw(baseline, baseline + np.where(changed, change, 0.0))

    name = f"zero-inflated delta={delta:g}"
    return Cell(name, draw, delta, continuous=delta != 0)


def clustered(kind: str, delta: float = 0.0, direction: str = "higher") -> Cell:
    """5-10 questions per document; differences with SD 0.3 and ICC 0.3.

    ``skew``: centred exponential document and question effects; with direction
    ``lower`` the rare large changes are losses.
    """

    def effect(rng: np.random.Generator, size: int) -> FloatArray:
        if kind == "skew":
            return rng.standard_exponential(size) - 1.0
        return rng.standard_normal(size)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        codes = _documents(rng, n)
        document = effect(rng, n)[codes]
        question = effect(rng, codes.size)
        baseline = rng.standard_normal(codes.size)
        change = delta + 0.3 * (0.3**0.5 * document + 0.7**0.5 * question)
        return Draw(baseline, baseline + change, codes)

    name = f"clustered {kind}" + (f" delta={delta:g}" if delta else "")
    return Cell(name, draw, delta, direction=direction, continuous=True)


def clustered_binary(psi: float, delta: float, *, concentrated: bool = False) -> Cell:
    """0/1 answers in documents of 5-10 questions; changes shared by a document.

    The documents differ in the direction of their changes; when `concentrated`,
    also in how many there are: a document has changes with probability 1/2.
    """
    gained, lost = (psi + delta) / 2, (psi - delta) / 2
    tilt = min(gained, lost)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        codes = _documents(rng, n)
        shift = tilt * rng.choice(np.array([-1.0, 1.0]), n)
        weight = 2.0 * (rng.random(n) < 0.5) if concentrated else np.ones(n)
        up = (weight * (gained + shift))[codes]
        down = (weight * (lost - shift))[codes]
        u = rng.random(codes.size)
        baseline = (u >= up) & (u < down + BASELINE_ACCURACY - lost + up)
        variant = (u < up) | (
            (u >= up + down) & (u < down + BASELINE_ACCURACY - lost + up)
        )
        return Draw(baseline.astype(float), variant.astype(float), codes)

    name = "clustered binary" + (" concentrated" if concentrated else "")
    return Cell(f"{name} psi={psi:.2f} delta={delta:.2f}", draw, delta)


def trials_continuous(*, noise: float = 0.2, run: float = 0.0, name: str) -> Cell:
    """3 trials: question effect SD 0.15 on the difference, noise and run per arm."""

    def draw(rng: np.random.Generator, n: int) -> Draw:
        level = 0.2 * rng.standard_normal(n)
        effect = 0.15 * rng.standard_normal(n)

        def arm(means: FloatArray) -> FloatArray:
            answers = noise * rng.standard_normal((n, TRIALS))
            return means[:, None] + answers + run * rng.standard_normal(TRIALS)

        return Draw(arm(level), arm(level + effect))

    return Cell(name, draw, 0.0, continuous=True)


def trials_binary(drop: float, *, spread: float = 1.5) -> Cell:
    """3 trials of 0/1 answers; logit-normal success with SD 1.5 between questions."""
    centre = _logit_centre(BASELINE_ACCURACY, spread)
    lower = _logit_centre(BASELINE_ACCURACY - drop, spread)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        question = spread * rng.standard_normal((n, 1))
        arms = [
            (rng.random((n, TRIALS)) < expit(question + middle)).astype(float)
            for middle in (centre, lower)
        ]
        return Draw(arms[0], arms[1])

    return Cell(f"3-trial binary drop={drop:g}", draw, -drop)


def trials_few_changes(psi: float, delta: float, *, flips: float) -> Cell:
    """3 trials, stable answers but for a few unstable questions.

    An unstable question keeps its baseline answer and takes the other one in the
    share `flips` of the variant's trials; there are psi / flips of them, so that
    each single trial has discordance `psi`.
    """
    gained, lost = (psi + delta) / (2 * flips), (psi - delta) / (2 * flips)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        u = rng.random(n)
        unstable = u < gained + lost
        edge = gained + BASELINE_ACCURACY  # the lost were right before
        right = (u >= gained) & (u < edge)
        flipped = unstable[:, None] & (rng.random((n, TRIALS)) < flips)
        baseline = np.repeat(right[:, None], TRIALS, axis=1)
        return Draw(baseline.astype(float), (baseline != flipped).astype(float))

    name = f"3-trial few changes psi={psi:.2f} delta={delta:.2f}, flips {flips:.2f}"
    return Cell(name, draw, delta)


def rare_collapse(share: float = 0.03, loss: float = 0.7) -> Cell:
    """Scores that hardly change but for a few questions that collapse."""

    def draw(rng: np.random.Generator, n: int) -> Draw:
        baseline = 0.75 + 0.25 * rng.random(n)
        change = 0.03 * rng.standard_normal(n)
        collapse = loss * (rng.random(n) < share)
        return Draw(baseline, baseline + change - collapse)

    name = f"rare collapse {loss:g} in {share:.0%}"
    return Cell(name, draw, -share * loss, continuous=True)


def _correlated(
    rng: np.random.Generator, n: int, correlation: float
) -> tuple[FloatArray, FloatArray]:
    first = rng.standard_normal(n)
    other = rng.standard_normal(n)
    return first, correlation * first + (1 - correlation**2) ** 0.5 * other


def _documents(rng: np.random.Generator, n_documents: int) -> IntArray:
    return np.repeat(np.arange(n_documents), rng.integers(5, 11, n_documents))


def _logit_centre(accuracy: float, spread: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()

    def gap(centre: float) -> float:
        return float(weights @ expit(centre + spread * nodes)) - accuracy

    root: Any = brentq(gap, -10.0, 10.0)
    return float(root)
