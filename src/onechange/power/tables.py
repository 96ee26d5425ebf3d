"""Question × trial tables of simulated experiments, whole runs that differ included."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.power.pilot import Pilot
from onechange.stats.components import fit_table
from onechange.stats.runs import RunVariance, paired_run_variance, run_variance

__all__ = ["TrialSource", "runs_of", "trial_source"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TrialSource:
    """What the trials of simulated questions are made of.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Mean of each question of the pilot, as steady as the wanted trials make it.
    residuals : tuple of ndarray of float, shape (n_pairs, n_trials)
        Scores of each arm less their question's and their run's mean; NaN where
        unscored.
    n_trials : tuple of int
        Wanted trials of each arm.
    run_sd : float
        SD between whole runs, 0 where the pilot's do not differ.
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.
    exact : bool
        Whether the trials are as many as in the pilot, so that the means stay.
    """

    baseline: FloatArray
    variant: FloatArray
    residuals: tuple[FloatArray, FloatArray]
    n_trials: tuple[int, int]
    run_sd: float
    paired: bool
    exact: bool

    def draw(
        self, chosen: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the trials of some questions.

        Parameters
        ----------
        chosen : ndarray of int, shape (n_questions,)
            Questions of the pilot, repeated ones among them.
        rng : numpy.random.Generator

        Returns
        -------
        baseline, variant : ndarray of float, shape (n_questions, n_trials)

        Notes
        -----
        The residuals of a question stay together and are shuffled among its trials;
        fewer trials take some of them, more trials draw them anew, spread by
        √(K/(K − 1)) and centred, around a mean that is as steady as they make it.
        Every run gets an effect of its own, normal with the SD between runs (paired
        trials: the variant's runs, by that of their differences).
        """
        keys = None
        tables = []
        for arm, means in enumerate((self.baseline, self.variant)):
            rows, wanted = self.residuals[arm][chosen], self.n_trials[arm]
            if rows.shape[1] < wanted:
                rows = _drawn_anew(rows, wanted, rng)
            elif rows.shape[1] > 1:
                if keys is None or not self.paired or keys.shape != rows.shape:
                    keys = rng.random(rows.shape)
                first = keys if self.exact else np.where(np.isnan(rows), np.inf, keys)
                order = np.argsort(first, axis=1)[:, :wanted]
                rows = np.take_along_axis(rows, order, axis=1)
            table = means[chosen][:, None] + rows
            if self.run_sd > 0 and (arm == 1 or not self.paired):
                table = table + self.run_sd * rng.normal(size=wanted)
            tables.append(table)
        return tables[0], tables[1]


def trial_source(
    pilot: Pilot, n_trials: int | None, *, paired: bool = False
) -> TrialSource:
    """Part the pilot's scores into questions, runs and what is left.

    Parameters
    ----------
    pilot : Pilot
    n_trials : int or None
        Wanted trials of each arm; None: as in the pilot.
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.

    Returns
    -------
    TrialSource

    Raises
    ------
    MethodError
        When more trials are wanted than one trial can tell about.
    """
    tables = (pilot.baseline_trials, pilot.variant_trials)
    at_hand = (int(tables[0].shape[1]), int(tables[1].shape[1]))
    wanted = at_hand if n_trials is None else (n_trials, n_trials)
    baseline, variant = pilot.baseline, pilot.variant
    if n_trials is not None and n_trials > pilot.n_trials:
        variant = baseline + _steadied(pilot, n_trials)
    runs = runs_of(*tables, paired=paired)
    differ = runs is not None and runs.differ
    variance = runs.variance if runs is not None and differ else 0.0
    return TrialSource(
        baseline=baseline,
        variant=variant,
        residuals=(_residuals(tables[0]), _residuals(tables[1])),
        n_trials=wanted,
        run_sd=math.sqrt(max(0.0, variance)),
        paired=paired,
        exact=wanted == at_hand,
    )


def runs_of(
    baseline: FloatArray, variant: FloatArray, *, paired: bool
) -> RunVariance | None:
    """Variance between whole runs, as a comparison would find it.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_questions, n_trials)
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.

    Returns
    -------
    RunVariance or None
        None where too little is known of the runs.
    """
    if baseline.shape[1] < 2 and variant.shape[1] < 2:
        return None
    if paired and baseline.shape == variant.shape:
        return paired_run_variance(fit_table(variant - baseline))
    return run_variance(fit_table(baseline), fit_table(variant))


def _residuals(table: FloatArray) -> FloatArray:
    """Scores less their question's and their trial's mean."""
    if table.shape[1] < 2:
        return np.where(np.isnan(table), np.nan, 0.0)
    rows = table - np.nanmean(table, axis=1, keepdims=True)
    rows = rows - np.nanmean(rows, axis=0)
    return np.asarray(rows - np.nanmean(rows, axis=1, keepdims=True))


def _drawn_anew(rows: FloatArray, wanted: int, rng: np.random.Generator) -> FloatArray:
    """More residuals than a question has, drawn with replacement and centred."""
    scored = np.isfinite(rows)
    counts = scored.sum(axis=1)
    first = np.take_along_axis(rows, np.argsort(~scored, axis=1, kind="stable"), axis=1)
    picked = (rng.random((rows.shape[0], wanted)) * counts[:, None]).astype(np.int64)
    drawn = np.take_along_axis(first, picked, axis=1)
    spread = np.sqrt(counts / np.maximum(counts - 1, 1))
    drawn = drawn * spread[:, None]
    return np.asarray(drawn - drawn.mean(axis=1, keepdims=True))


def _steadied(pilot: Pilot, wanted: int) -> FloatArray:
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
        rows = _residuals(table)[some]  # runs move all questions, not their spread
        within = float(np.mean(np.nanvar(rows, axis=1, ddof=1)))
        noise_now += within * float(np.mean(1 / counts))
        noise_then += within / wanted
    now = float(np.var(difference, ddof=1))
    then = max(now - noise_now, 0.0) + noise_then
    factor = math.sqrt(then / now) if now > 0 else 1.0
    centre = float(np.mean(difference))
    return np.asarray(centre + factor * (difference - centre))
