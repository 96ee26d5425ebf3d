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
from onechange.power.ratio import (
    interval_status,
    ratio_interval,
    ratio_passes,
    simulated_ratios,
)
from onechange.power.result import PowerPoint
from onechange.power.tables import runs_of, trial_source
from onechange.power.units import units_of
from onechange.sensitivity import Scores, mean_status
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.twoway import run_law
from onechange.status import Status, worsening_ends

__all__ = ["Design", "needed_margins", "pass_probability", "simulated_scores"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

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
    instead. Where the pilot's trials show that whole runs differ, every run of an
    experiment gets an effect of its own (`TrialSource`). The status of each draw is
    that of `decide`.
    """
    if pilot.parts is not None:
        if design.n_trials is not None:
            raise MethodError(
                f"{pilot.metric} is a ratio, whose power is not simulated over trials; "
                "leave the trials out."
            )
        ratios = simulated_ratios(
            pilot,
            design.n_questions,
            delta,
            missing_rate=design.missing_rate,
            n_simulations=n_simulations,
            seed=seed,
        )
        passed = sum(ratio_passes(rule, drawn, analysis) for drawn in ratios)
    else:
        experiments = simulated_scores(
            pilot,
            design,
            delta,
            n_simulations=n_simulations,
            seed=seed,
            trials_paired=analysis.trials_paired,
        )
        passed = sum(
            _passes(rule, scores, lost, analysis) for scores, lost in experiments
        )
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
    if pilot.parts is not None:
        ratios = simulated_ratios(
            pilot,
            design.n_questions,
            0.0,
            missing_rate=design.missing_rate,
            n_simulations=n_simulations,
            seed=seed,
        )
        for index, ratio in enumerate(ratios):
            interval = ratio_interval(ratio, analysis)
            if interval is not None:
                found[index] = worsening_ends(interval, pilot.direction)[1]
        return found
    drawn = simulated_scores(
        pilot,
        design,
        0.0,
        n_simulations=n_simulations,
        seed=seed,
        trials_paired=analysis.trials_paired,
    )
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
    pilot: Pilot,
    design: Design,
    delta: float,
    *,
    n_simulations: int,
    seed: int,
    trials_paired: bool = False,
) -> Iterator[tuple[Scores, Scores | None]]:
    """Draw experiments like the pilot.

    Parameters
    ----------
    pilot, design, delta, n_simulations, seed
        As for `pass_probability`.
    trials_paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.

    Yields
    ------
    scores : Scores
        Of the questions that are scored in both arms.
    lost : Scores or None
        Of all questions, a missing variant at its worst; None where few are missing
        or the metric has no range.
    """
    rng = np.random.default_rng([seed, design.n_questions])
    units = units_of(pilot, design.n_questions, delta)
    source = trial_source(pilot, design.n_trials, paired=trials_paired)
    shifted = pilot.score_range is None
    gap = delta - float(np.mean(pilot.difference)) if shifted else 0.0
    template = Scores(
        baseline=pilot.baseline,
        variant=pilot.variant,
        direction=pilot.direction,
        score_range=pilot.score_range,
        tie=pilot.tie,
    )
    several = max(source.n_trials) > 1
    plain = not several and source.run_sd == 0 and source.exact
    for _ in range(n_simulations):
        chosen, clusters = units.draw(rng)
        if plain:
            tables = (pilot.baseline[chosen][:, None], pilot.variant[chosen][:, None])
        else:
            tables = source.draw(chosen, rng)
        before, after = (_row_means(table) for table in tables)
        drawn = replace(
            template,
            baseline=before,
            variant=after + gap,
            clusters=clusters,
            binary=pilot.binary and not gap and _binary(before, after),
        )
        kept = rng.random(before.size) >= design.missing_rate
        runs = arm_runs = None
        if several:
            held = [table if kept.all() else table[kept] for table in tables]
            arm_runs = runs = runs_of(held[0], held[1], paired=False)
            if trials_paired:
                runs = runs_of(held[0], held[1], paired=True)
        yield _with_losses(replace(drawn, runs=runs, arm_runs=arm_runs), kept)


def _passes(
    rule: Primary | Guardrail, scores: Scores, lost: Scores | None, analysis: Analysis
) -> bool:
    if scores.n_pairs == 0:
        return False
    if scores.runs is not None and analysis.interval == "auto":
        # The interval is at each end the wider of two: both of them have to pass.
        alone = replace(scores, runs=None)
        if not _passes_two_way(rule, scores, analysis):
            return False
        return _passes(rule, alone, None, analysis) and (
            lost is None or mean_status(rule, lost, analysis) is Status.PASS
        )
    # The quick interval lies within the full one: what it does not pass, does not.
    if mean_status(rule, scores, analysis, quick=True) is not Status.PASS:
        return False
    if not _passes_in_full(rule, scores, analysis):
        return False
    return lost is None or mean_status(rule, lost, analysis) is Status.PASS


def _passes_two_way(
    rule: Primary | Guardrail, scores: Scores, analysis: Analysis
) -> bool:
    """Whether whole runs that differ leave a pass, where they count."""
    law = run_law(scores.sample(), analysis.interval)
    if law is None:
        return True
    level = analysis.confidence_level
    interval = Interval(*law.limits((1 - level) / 2), level, "two-way")
    return interval_status(rule, interval, scores.direction) is Status.PASS


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


def _with_losses(scores: Scores, kept: BoolArray) -> tuple[Scores, Scores | None]:
    """Leave questions out; over a fifth, give all of them at their worst as well."""
    if kept.all():
        return scores, None
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


def _binary(*arrays: FloatArray) -> bool:
    return all(bool(np.all((a == 0) | (a == 1))) for a in arrays)


def _row_means(table: FloatArray) -> FloatArray:
    if table.shape[1] == 1:
        return table[:, 0]
    return np.asarray(np.nanmean(table, axis=1))
