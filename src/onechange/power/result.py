"""The figures of a power analysis; values only."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from onechange.display import TableMixin
from onechange.power.closed import ClosedForm
from onechange.stats.estimate import Note

__all__ = ["PowerPoint", "PowerResult"]


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """Simulated probability to pass of one design.

    Parameters
    ----------
    n_questions, n_trials : int
        The design.
    delta : float
        True variant minus baseline.
    power : float
        Share of simulated experiments whose status is ``pass``.
    monte_carlo_error : float
        Standard error of that share.
    """

    n_questions: int
    n_trials: int
    delta: float
    power: float
    monte_carlo_error: float


@dataclass(frozen=True, slots=True, repr=False)
class PowerResult(TableMixin):
    """Questions and trials that a rule takes, and what can be shown at all.

    Parameters
    ----------
    metric, direction : str
        The metric; ``higher`` or ``lower`` is better.
    rule : str
        The rule in words.
    delta : float
        True variant minus baseline that is assumed.
    target : float
        Probability to pass that is wanted.
    n_pairs : int or None
        Pairs of the pilot.
    n_clusters : int or None
        Clusters of the pilot.
    n_trials : int
        Trials of each arm in the pilot.
    pilot_delta, pilot_sd : float or None
        Mean and SD of the pilot's differences.
    discordance : float or None
        Share of the pilot's pairs whose scores of 0 and 1 differ.
    true_sd, true_discordance : float or None
        The same under the true delta: drawing the pilot's questions with other shares
        changes them. The formula takes these.
    same_arm : bool
        Whether the pilot is two trials of the baseline (A/A).
    missing_rate : float
        Share of questions without a pair that is assumed.
    confidence_level : float
        Level of the interval that decides, multiplicity included.
    points : tuple of PowerPoint
        Over the number of questions, rising.
    trial_points : tuple of PowerPoint
        Over the number of trials, with the pilot's questions.
    questions_needed, trials_needed : int or None
        For the target; None where none that was looked at is enough.
    smallest_delta : float or None
        Size of a delta that is found with the target probability by
        `n_questions` questions (for a guardrail: the margin that then passes if
        nothing changed).
    n_questions : int or None
        Questions that `smallest_delta` is about.
    closed_form : ClosedForm or None
        The textbook figures beside the simulation.
    n_simulations : int
        Experiments of each point; 0 without simulation.
    seed : int
        Their seed.
    notes : tuple of Note
    reason : str or None
        Why no number of questions is enough, where that is so.
    """

    metric: str
    direction: str
    rule: str
    delta: float
    target: float
    n_pairs: int | None
    n_clusters: int | None
    n_trials: int
    pilot_delta: float | None
    pilot_sd: float | None
    discordance: float | None
    same_arm: bool
    missing_rate: float
    confidence_level: float
    points: tuple[PowerPoint, ...]
    trial_points: tuple[PowerPoint, ...]
    questions_needed: int | None
    trials_needed: int | None
    smallest_delta: float | None
    n_questions: int | None
    closed_form: ClosedForm | None
    n_simulations: int
    seed: int
    notes: tuple[Note, ...] = ()
    reason: str | None = None
    true_sd: float | None = None
    true_discordance: float | None = None

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one row per simulated design, or the row of the formula."""
        rows = [asdict(point) for point in (*self.points, *self.trial_points)]
        if rows or self.closed_form is None:
            return rows
        return [asdict(self.closed_form)]
