"""One power analysis: which designs are simulated, and what they add up to."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from onechange.errors import MethodError
from onechange.plan import Analysis, Guardrail, Primary
from onechange.power.closed import ClosedForm, closed_form, gap_to_threshold
from onechange.power.pilot import Pilot
from onechange.power.result import PowerPoint, PowerResult
from onechange.power.search import crossing
from onechange.power.simulate import Design, needed_margins, pass_probability
from onechange.stats.cluster import design_effect
from onechange.stats.estimate import Note

__all__ = ["PowerRun", "Progress", "rule_text"]

Progress = Callable[[int, int], None]

STEPS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5)  # of the questions that the formula names
DELTA_STEPS = (0.6, 0.8, 1.0, 1.25, 1.6)  # of the delta that the formula names
MOST_TRIALS = 8
FEWEST_QUESTIONS = 8
MOST_QUESTIONS = 50_000
EXTENSIONS = 3
MOST_MARGINS = 400  # each takes a whole interval, which is slower than a p-value


class PowerRun:
    """One power analysis: counts the designs it simulates for the progress bar."""

    def __init__(
        self,
        *,
        pilot: Pilot,
        rule: Primary | Guardrail,
        delta: float,
        analysis: Analysis,
        target: float,
        missing_rate: float,
        n_simulations: int,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.pilot, self.rule, self.delta = pilot, rule, delta
        self.analysis, self.target = analysis, target
        self.missing_rate = missing_rate
        self.n_simulations, self.seed = n_simulations, seed
        self.progress = progress
        self.done = self.total = 0

    def result(
        self, questions: tuple[int, ...], trials: tuple[int, ...]
    ) -> PowerResult:
        """Simulate everything that is asked for."""
        pilot = self.pilot
        gap = gap_to_threshold(self.rule, self.delta, pilot.direction)
        formula = self._formula(questions[0] if questions else pilot.n_pairs)
        n_at_hand = questions[0] if len(questions) == 1 else pilot.n_pairs
        grid = _question_counts(questions, formula, self.missing_rate, pilot)
        counts = trials or _trial_counts(pilot)
        self.total = len(grid) + len(counts) + len(DELTA_STEPS)
        points = [self._point(n, None, self.delta) for n in grid]
        needed = None
        if gap > 0:
            points, needed = self._reach(points, extend=not questions)
        trial_points = [self._point(n_at_hand, k, self.delta) for k in counts]
        smallest = self._smallest(n_at_hand, formula)
        return PowerResult(
            metric=pilot.metric,
            direction=pilot.direction,
            rule=rule_text(self.rule),
            delta=self.delta,
            target=self.target,
            n_pairs=pilot.n_pairs,
            n_clusters=None
            if pilot.clusters is None
            else int(np.unique(pilot.clusters).size),
            n_trials=pilot.n_trials,
            pilot_delta=float(np.mean(pilot.difference)),
            pilot_sd=float(np.std(pilot.difference, ddof=1)),
            discordance=_discordance(pilot),
            same_arm=pilot.same_arm,
            missing_rate=self.missing_rate,
            confidence_level=self.analysis.confidence_level,
            points=tuple(points),
            trial_points=tuple(trial_points),
            questions_needed=needed,
            trials_needed=next(
                (p.n_trials for p in trial_points if p.power >= self.target), None
            ),
            smallest_delta=smallest,
            n_questions=n_at_hand,
            closed_form=formula,
            n_simulations=self.n_simulations,
            seed=self.seed,
            notes=self._notes(gap),
        )

    def _point(self, n: int, trials: int | None, delta: float) -> PowerPoint:
        point = pass_probability(
            self.pilot,
            self.rule,
            Design(n, trials, self.missing_rate),
            delta,
            self.analysis,
            n_simulations=self.n_simulations,
            seed=self.seed,
        )
        self._tick()
        return point

    def _tick(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, max(self.total, self.done))

    def _reach(
        self, points: list[PowerPoint], *, extend: bool
    ) -> tuple[list[PowerPoint], int | None]:
        """Go on until the target is bracketed, and interpolate in it."""
        for _ in range(EXTENSIONS if extend else 0):
            largest = max(p.n_questions for p in points)
            smallest = min(p.n_questions for p in points)
            best = max(p.power for p in points)
            if best < self.target and 2 * largest <= MOST_QUESTIONS:
                self.total += 1
                points.append(self._point(2 * largest, None, self.delta))
            elif (
                min(p.power for p in points) > self.target
                and smallest > FEWEST_QUESTIONS
            ):
                self.total += 1
                fewer = max(FEWEST_QUESTIONS, smallest // 2)
                points.append(self._point(fewer, None, self.delta))
            else:
                break
        points = sorted(points, key=lambda point: point.n_questions)
        found = crossing(
            [math.sqrt(p.n_questions) for p in points],
            [p.power for p in points],
            self.target,
        )
        return points, None if found is None else math.ceil(found**2 - 1e-9)

    def _smallest(self, n: int, formula: ClosedForm | None) -> float | None:
        """Delta that is found, or margin that passes unchanged, with the target."""
        if isinstance(self.rule, Guardrail):
            margins = needed_margins(
                self.pilot,
                Design(n, None, self.missing_rate),
                self.analysis,
                n_simulations=min(self.n_simulations, MOST_MARGINS),
                seed=self.seed,
            )
            self.done += len(DELTA_STEPS) - 1
            self._tick()
            found = float(np.quantile(margins, self.target, method="higher"))
            return found if math.isfinite(found) else None
        better = 1.0 if self.pilot.direction == "higher" else -1.0
        sd = float(np.std(self.pilot.difference, ddof=1))
        guess = 2.8 * sd * math.sqrt(self._deff() / n)
        if formula is not None and formula.smallest_delta is not None:
            guess = formula.smallest_delta
        sizes, powers = [], []
        for step in DELTA_STEPS:
            size = self.rule.min_improvement + step * guess
            try:
                point = self._point(n, None, better * size)
            except MethodError:  # the pilot has no such large differences
                self._tick()
                continue
            sizes.append(size)
            powers.append(point.power)
        return crossing(sizes, powers, self.target)

    def _formula(self, n: int) -> ClosedForm | None:
        pilot = self.pilot
        discordance = _discordance(pilot) if pilot.clusters is None else None
        return closed_form(
            self.rule,
            self.delta,
            pilot.direction,
            sd=float(np.std(pilot.difference, ddof=1)) * math.sqrt(self._deff()),
            discordance=discordance,
            n_pairs=n,
            confidence_level=self.analysis.confidence_level,
            target=self.target,
        )

    def _deff(self) -> float:
        if self.pilot.clusters is None:
            return 1.0
        found = design_effect(self.pilot.difference, self.pilot.clusters)
        return 1.0 if found is None else found

    def _notes(self, gap: float) -> tuple[Note, ...]:
        notes = []
        if self.pilot.same_arm:
            text = (
                "The pilot is two trials of the baseline (A/A): a change that moves "
                "answers more than a rerun does needs more questions."
            )
            notes.append(Note("same-arm-pilot", text))
        if not gap > 0:
            text = (
                "The delta is not on the passing side of the rule: more questions do "
                "not help."
            )
            notes.append(Note("beyond-threshold", text))
        if self.pilot.score_range is None:
            text = (
                f"{self.pilot.metric} has no declared range: the variant was shifted "
                "by a constant instead of drawing other questions."
            )
            notes.append(Note("shifted-pilot", text))
        return tuple(notes)


def rule_text(rule: Primary | Guardrail) -> str:
    """Say a rule in words.

    Examples
    --------
    >>> rule_text(Guardrail("faithfulness", margin=0.03))
    'faithfulness worsens by at most 0.03'
    """
    if isinstance(rule, Primary):
        least = (
            f" by more than {rule.min_improvement:g}" if rule.min_improvement else ""
        )
        return f"{rule.metric} improves{least}"
    if rule.role == "equivalence":
        return f"{rule.metric} changes by at most {rule.margin:g} either way"
    return f"{rule.metric} worsens by at most {rule.margin:g}"


def _question_counts(
    questions: tuple[int, ...],
    formula: ClosedForm | None,
    missing_rate: float,
    pilot: Pilot,
) -> list[int]:
    if questions:
        return sorted(set(questions))
    centre = float(pilot.n_pairs)
    if formula is not None:
        centre = formula.questions / (1 - missing_rate)
    centre = min(max(centre, FEWEST_QUESTIONS / STEPS[0]), MOST_QUESTIONS / STEPS[-1])
    return sorted({round(step * centre) for step in STEPS})


def _trial_counts(pilot: Pilot) -> tuple[int, ...]:
    return tuple(range(1, MOST_TRIALS + 1)) if pilot.n_trials > 1 else ()


def _discordance(pilot: Pilot) -> float | None:
    means = np.concatenate([pilot.baseline, pilot.variant])
    if not pilot.binary or not np.all((means == 0) | (means == 1)):
        return None
    return float(np.mean(pilot.difference != 0))
