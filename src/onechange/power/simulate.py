"""Simulated experiments like the pilot -> how often a rule passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.plan import Analysis, Guardrail, Primary
from onechange.power.pilot import Pilot
from onechange.power.result import PowerPoint
from onechange.power.tilt import tilted_shares
from onechange.sensitivity import Scores, mean_status
from onechange.stats import choose
from onechange.status import Status, worsening_ends

__all__ = ["Design", "needed_margins", "pass_probability", "simulated_scores"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CLOSE = 1e-3  # of the level: nearer p-values leave the word to the interval
HIGH_MISSING_SHARE = 0.2  # above it a pass needs the same status under the bounds


@dataclass(frozen=True, slots=True)
class Design:
    """An experiment to be simulated.

    Parameters
    ----------
    n_questions : int
        Questions that are asked.
    n_trials : int or None
        Trials of each arm; None: as in the pilot.
    missing_rate : float
        Share of the questions that end without a pair, at random.
    """

    n_questions: int
    n_trials: int | None = None
    missing_rate: float = 0.0


def pass_probability(
    pilot: Pilot,
    rule: Primary | Guardrail,
    design: Design,
    delta: float,
    analysis: Analysis,
    *,
    n_simulations: int = 1000,
    seed: int = 7,
) -> PowerPoint:
    """Simulate how often a rule passes when the true delta is a given one.

    Parameters
    ----------
    pilot : Pilot
        Pairs that further questions are like.
    rule : Primary or Guardrail
        A rule on the mean of the pilot's metric.
    design : Design
        Questions, trials, missing scores.
    delta : float
        True variant minus baseline, in the metric's unit.
    analysis : Analysis
        Level and name of the interval.
    n_simulations : int
        Experiments that are simulated.
    seed : int
        Seed of the simulation.

    Returns
    -------
    PowerPoint

    Raises
    ------
    MethodError
        When the delta cannot be made of the pilot, or more trials are asked for than
        one trial can tell about.

    Notes
    -----
    Questions (whole clusters, where there are some) are drawn from the pilot with
    the shares of `tilted_shares`; without declared range the variant is shifted
    instead. The status of each draw is that of `decide`.
    """
    passed = 0
    for scores, lost in simulated_scores(
        pilot, design, delta, n_simulations=n_simulations, seed=seed
    ):
        passed += _passes(rule, scores, lost, analysis)
    share = passed / n_simulations
    return PowerPoint(
        n_questions=design.n_questions,
        n_trials=design.n_trials or pilot.n_trials,
        delta=delta,
        power=share,
        monte_carlo_error=math.sqrt(max(share * (1 - share), 0.0) / n_simulations),
    )


def needed_margins(
    pilot: Pilot,
    design: Design,
    analysis: Analysis,
    *,
    n_simulations: int = 1000,
    seed: int = 7,
) -> FloatArray:
    """Smallest margin that would pass, in each experiment without a change.

    Parameters
    ----------
    pilot, design, analysis, n_simulations, seed
        As for `pass_probability`.

    Returns
    -------
    ndarray of float, shape (n_simulations,)
        Infinite where there is no interval.
    """
    found = np.full(n_simulations, np.inf)
    drawn = simulated_scores(pilot, design, 0.0, n_simulations=n_simulations, seed=seed)
    for index, (scores, _) in enumerate(drawn):
        sample = scores.sample()
        chosen = choose.decision_interval(
            sample,
            name=choose.fitting_interval(analysis.interval, sample),
            confidence_level=analysis.confidence_level,
            n_resamples=analysis.n_resamples,
            seed=analysis.seed,
        )
        if chosen.interval is not None and chosen.enough:
            found[index] = worsening_ends(chosen.interval, pilot.direction)[1]
    return found


def simulated_scores(
    pilot: Pilot, design: Design, delta: float, *, n_simulations: int, seed: int
) -> Iterator[tuple[Scores, Scores | None]]:
    """Draw experiments like the pilot.

    Parameters
    ----------
    pilot, design, delta, n_simulations, seed
        As for `pass_probability`.

    Yields
    ------
    scores : Scores
        Of the questions that are scored in both arms.
    lost : Scores or None
        Of all questions, a missing variant at its worst; None where few are missing
        or the metric has no range.
    """
    rng = np.random.default_rng([seed, design.n_questions])
    codes = np.arange(pilot.n_pairs) if pilot.clusters is None else pilot.clusters
    codes = np.unique(codes, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes.astype(int)))
    shifted = pilot.score_range is None
    gap = delta - float(np.mean(pilot.difference)) if shifted else 0.0
    totals = np.bincount(codes, weights=pilot.difference).astype(np.float64)
    shares = np.full(sizes.size, 1.0 / sizes.size)
    if not shifted:
        shares = tilted_shares(totals, sizes, delta)
    n_units = max(1, round(design.n_questions / float(shares @ sizes)))
    template = Scores(
        baseline=pilot.baseline,
        variant=pilot.variant,
        direction=pilot.direction,
        score_range=pilot.score_range,
        tie=pilot.tie,
    )
    for _ in range(n_simulations):
        units = rng.choice(sizes.size, size=n_units, p=shares)
        if pilot.clusters is None:
            chosen, clusters = units, None
        else:
            chosen = np.concatenate([members[unit] for unit in units])
            clusters = np.repeat(np.arange(n_units), sizes[units].astype(int))
        before, after, binary = _means(pilot, design, chosen, rng)
        drawn = replace(
            template,
            baseline=before,
            variant=after + gap,
            clusters=clusters,
            binary=binary and not gap,
        )
        yield _with_losses(drawn, design.missing_rate, rng)


def _passes(
    rule: Primary | Guardrail, scores: Scores, lost: Scores | None, analysis: Analysis
) -> bool:
    if scores.n_pairs == 0:
        return False
    # The quick interval lies within the full one: what it does not pass, does not.
    if mean_status(rule, scores, analysis, quick=True) is not Status.PASS:
        return False
    if not _passes_in_full(rule, scores, analysis):
        return False
    return lost is None or mean_status(rule, lost, analysis) is Status.PASS


def _passes_in_full(
    rule: Primary | Guardrail, scores: Scores, analysis: Analysis
) -> bool:
    """Judge by the p-value at the threshold, which is quicker than the interval.

    Close calls, and methods whose p-value has to be searched, take the interval.
    """
    sample = scores.sample()
    tail = (1 - analysis.confidence_level) / 2
    chosen = choose.automatic_interval(
        sample, confidence_level=analysis.confidence_level
    )
    if analysis.interval == "auto" and chosen == "sign-flip+guarded-t":
        pvalues = [
            choose.margin_pvalue(
                sample,
                threshold,
                alternative=alternative,
                confidence_level=analysis.confidence_level,
            )
            for threshold, alternative in _thresholds(rule, scores.direction)
        ]
        if None not in pvalues:
            largest = max(p for p in pvalues if p is not None)
            if abs(largest - tail) > CLOSE * tail:
                return largest < tail
    return mean_status(rule, scores, analysis) is Status.PASS


def _thresholds(rule: Primary | Guardrail, direction: str) -> list[tuple[float, str]]:
    """Return the deltas to be excluded, each with the side on which the truth lies."""
    higher = direction == "higher"
    side = "greater" if higher else "less"
    if isinstance(rule, Primary):
        return [(rule.min_improvement if higher else -rule.min_improvement, side)]
    margin = float(rule.margin or 0)
    if rule.role == "equivalence":
        return [(-margin, "greater"), (margin, "less")]
    return [(-margin if higher else margin, side)]


def _with_losses(
    scores: Scores, missing_rate: float, rng: np.random.Generator
) -> tuple[Scores, Scores | None]:
    if missing_rate == 0:
        return scores, None
    kept = rng.random(scores.n_pairs) >= missing_rate
    clusters = scores.clusters
    complete = replace(
        scores,
        baseline=scores.baseline[kept],
        variant=scores.variant[kept],
        clusters=None if clusters is None else clusters[kept],
    )
    if 1 - kept.mean() <= HIGH_MISSING_SHARE:
        return complete, None
    low, high = scores.score_range or (-np.inf, np.inf)
    worst = low if scores.direction == "higher" else high
    if not math.isfinite(worst):
        return replace(complete, baseline=np.empty(0), variant=np.empty(0)), None
    return complete, scores.with_variant(np.where(kept, scores.variant, worst))


def _means(
    pilot: Pilot, design: Design, chosen: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, bool]:
    """Question means of the chosen questions over the wanted number of trials."""
    wanted = design.n_trials
    tables = (pilot.baseline_trials, pilot.variant_trials)
    if wanted is None or all(table.shape[1] == wanted for table in tables):
        before, after = pilot.baseline[chosen], pilot.variant[chosen]
        return before, after, pilot.binary and _binary(before, after)
    if wanted < pilot.n_trials:
        before, after = (_subset_means(table[chosen], wanted, rng) for table in tables)
        return before, after, pilot.binary and _binary(before, after)
    return *_steadied(pilot, wanted, chosen), False


def _binary(*arrays: FloatArray) -> bool:
    return all(bool(np.all((a == 0) | (a == 1))) for a in arrays)


def _subset_means(
    table: FloatArray, wanted: int, rng: np.random.Generator
) -> FloatArray:
    """Mean of some trials of each question, drawn without replacement."""
    keys = np.where(np.isfinite(table), rng.random(table.shape), np.inf)
    order = np.argsort(keys, axis=1)[:, :wanted]
    return np.asarray(np.nanmean(np.take_along_axis(table, order, axis=1), axis=1))


def _steadied(
    pilot: Pilot, wanted: int, chosen: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Differences drawn towards their mean as more trials would draw them."""
    if pilot.n_trials < 2:
        raise MethodError(
            "the pilot has one trial of an arm, which does not say what more would "
            "bring; run it at least twice, or leave the trials out."
        )
    difference = pilot.difference
    noise_now = noise_then = 0.0
    for table in (pilot.baseline_trials, pilot.variant_trials):
        counts = np.sum(np.isfinite(table), axis=1)
        some = counts > 1
        within = float(np.mean(np.nanvar(table[some], axis=1, ddof=1)))
        noise_now += within * float(np.mean(1 / counts))
        noise_then += within / wanted
    now = float(np.var(difference, ddof=1))
    then = max(now - noise_now, 0.0) + noise_then
    factor = math.sqrt(then / now) if now > 0 else 1.0
    centre = float(np.mean(difference))
    moved = centre + factor * (difference - centre)
    return pilot.baseline[chosen], (pilot.baseline + moved)[chosen]
