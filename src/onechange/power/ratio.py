"""Simulated experiments of a ratio metric: questions with numerator and denominator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.plan import Analysis, Guardrail, Primary
from onechange.power.pilot import Pilot
from onechange.power.units import units_of
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.ratio import RatioPair
from onechange.stats.signflip import n_min
from onechange.status import (
    Status,
    equivalence_status,
    margin_status,
    primary_status,
)

__all__ = [
    "Ratios",
    "interval_status",
    "ratio_interval",
    "ratio_passes",
    "simulated_ratios",
]

IntArray = NDArray[np.int64]

HIGH_MISSING_SHARE = 0.2  # above it a pass needs bounds, which are not simulated


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """One simulated experiment.

    Parameters
    ----------
    baseline, variant : RatioPair
        Numerators and denominators of the questions that have all four.
    direction : str
        ``higher`` or ``lower`` is better.
    clusters : ndarray of int, shape (n_questions,), or None
    score_range : tuple of float or None
        Declared range of the ratio.
    share_missing : float
        Share of the questions that lack a part.
    """

    baseline: RatioPair
    variant: RatioPair
    direction: str
    clusters: IntArray | None
    score_range: tuple[float, float] | None
    share_missing: float


def simulated_ratios(
    pilot: Pilot,
    n_questions: int,
    delta: float,
    *,
    missing_rate: float,
    n_simulations: int,
    seed: int,
) -> Iterator[Ratios]:
    """Draw experiments like the pilot.

    Parameters
    ----------
    pilot : Pilot
        With the parts of a ratio.
    n_questions : int
    delta : float
        True difference of the ratios.
    missing_rate : float
        Share of the questions that end without a part.
    n_simulations, seed : int

    Yields
    ------
    Ratios
    """
    rng = np.random.default_rng([seed, n_questions])
    units = units_of(pilot, n_questions, delta)
    for _ in range(n_simulations):
        chosen, clusters = units.draw(rng)
        kept = rng.random(chosen.size) >= missing_rate
        chosen = chosen[kept]
        before, after = (
            RatioPair(arm.numerator[chosen], arm.denominator[chosen])
            for arm in pilot.parts or ()
        )
        yield Ratios(
            before,
            after,
            pilot.direction,
            None if clusters is None else clusters[kept],
            pilot.score_range,
            1 - float(kept.mean()),
        )


def ratio_interval(drawn: Ratios, analysis: Analysis) -> Interval | None:
    """Interval of the delta of a ratio, as `compare` computes it.

    Parameters
    ----------
    drawn : Ratios
    analysis : Analysis
        Its level.

    Returns
    -------
    Interval or None
        None for too few questions, and where it does not exist.
    """
    level, n = analysis.confidence_level, drawn.baseline.numerator.size
    if n < n_min(level):
        return None
    return choose.ratio_delta(
        drawn.baseline,
        drawn.variant,
        clusters=drawn.clusters,
        confidence_level=level,
        score_range=drawn.score_range,
    ).interval


def ratio_passes(rule: Primary | Guardrail, drawn: Ratios, analysis: Analysis) -> bool:
    """Apply a rule to an experiment.

    Parameters
    ----------
    rule : Primary or Guardrail
        With an absolute margin.
    drawn : Ratios
    analysis : Analysis

    Returns
    -------
    bool
        Never with over a fifth of the questions missing.
    """
    if drawn.share_missing > HIGH_MISSING_SHARE:
        return False
    interval = ratio_interval(drawn, analysis)
    return interval_status(rule, interval, drawn.direction) is Status.PASS


def interval_status(
    rule: Primary | Guardrail, interval: Interval | None, direction: str
) -> Status:
    """Apply a primary, or an absolute margin, to an interval.

    Parameters
    ----------
    rule : Primary or Guardrail
    interval : Interval or None
        Of variant minus baseline.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
    """
    if isinstance(rule, Primary):
        return primary_status(interval, rule.min_improvement, direction)
    if rule.role == "equivalence":
        return equivalence_status(interval, float(rule.margin or 0))
    return margin_status(interval, float(rule.margin or 0), direction)
