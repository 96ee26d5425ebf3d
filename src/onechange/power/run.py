"""One power analysis: which designs are simulated, and what they add up to."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from onechange.display import format_percent
from onechange.errors import MethodError
from onechange.plan import Analysis, Guardrail, Primary
from onechange.power.closed import (
    HIGH_MISSING_SHARE,
    ClosedForm,
    closed_form,
    why_impossible,
)
from onechange.power.pilot import Pilot
from onechange.power.result import PowerPoint, PowerResult
from onechange.power.search import crossing
from onechange.power.simulate import Design, needed_margins, pass_probability
from onechange.power.tables import trial_source
from onechange.power.units import units_of
from onechange.stats.cluster import design_effect
from onechange.stats.estimate import Note

__all__ = ["PowerRun", "Progress", "rule_text"]

Progress = Callable[[int, int], None]

STEPS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5)  # of the questions that the formula names
DELTA_STEPS = (0.6, 0.8, 1.0, 1.25, 1.6)  # of the delta that the formula names
FURTHER_STEPS = (2.0, 2.6, 3.4)  # where none of these is found
MANY_MISSING = 0.12  # from here on some experiments lose over 20 %
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
        self.true_sd: float | None = None
        self.true_discordance: float | None = None

    def result(
        self, questions: tuple[int, ...], trials: tuple[int, ...]
    ) -> PowerResult:
        """Simulate everything that is asked for; nothing where nothing can pass."""
        pilot = self.pilot
        n_at_hand = questions[0] if len(questions) == 1 else pilot.n_pairs
        reason = why_impossible(self.rule, self.delta, pilot.direction)
        points: list[PowerPoint] = []
        trial_points: list[PowerPoint] = []
        needed = smallest = formula = None
        if reason is None:
            law = units_of(pilot, pilot.n_pairs, self.delta).spread(pilot.difference)
            self.true_sd, self.true_discordance = law.sd, self._discordance(law.share)
            formula = self._formula(n_at_hand)
            grid = _question_counts(questions, formula, pilot)
            counts = trials or _trial_counts(pilot)
            self.total = len(grid) + len(counts) + len(DELTA_STEPS)
            points = [self._point(n, None, self.delta) for n in grid]
            points, needed = self._reach(points, extend=not questions)
            trial_points = [self._point(n_at_hand, k, self.delta) for k in counts]
            if needed is None and self.missing_rate > HIGH_MISSING_SHARE:
                reason = self._too_many_missing()
        elif isinstance(self.rule, Guardrail):
            self.total = len(DELTA_STEPS)
        if reason is None or isinstance(self.rule, Guardrail):
            smallest = self._smallest(n_at_hand)
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
            discordance=self._discordance(float(np.mean(pilot.difference != 0))),
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
            notes=self._notes(beyond=not points),
            reason=reason,
            true_sd=self.true_sd,
            true_discordance=self.true_discordance,
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

    def _smallest(self, n: int) -> float | None:
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
        sizes: list[float] = []
        powers: list[float] = []
        for step in (*DELTA_STEPS, *FURTHER_STEPS):
            if step in FURTHER_STEPS:
                if not powers or powers[-1] >= self.target:
                    break
                self.total += 1
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
        clustered = self.pilot.clusters is not None
        sd = self.true_sd or 0.0
        return closed_form(
            self.rule,
            self.delta,
            self.pilot.direction,
            sd=sd * math.sqrt(self._deff()),
            discordance=None if clustered else self.true_discordance,
            n_questions=n,
            confidence_level=self.analysis.confidence_level,
            target=self.target,
            missing_rate=self.missing_rate,
        )

    def _deff(self) -> float:
        if self.pilot.clusters is None:
            return 1.0
        found = design_effect(self.pilot.difference, self.pilot.clusters)
        return 1.0 if found is None else found

    def _discordance(self, share: float) -> float | None:
        """Share of pairs that differ, where all question means are 0 or 1."""
        pilot = self.pilot
        means = np.concatenate([pilot.baseline, pilot.variant])
        if not pilot.binary or not np.all((means == 0) | (means == 1)):
            return None
        return share

    def _too_many_missing(self) -> str:
        told = (
            f"{format_percent(self.missing_rate, 0)} of the questions end without a "
            "pair, and with over 20 % a pass needs the same status"
        )
        if self.pilot.score_range is None or self.pilot.parts is not None:
            return f"{told} under bounds, which are not simulated here"
        return f"{told} with every missing score at its worst"

    def _notes(self, *, beyond: bool) -> tuple[Note, ...]:
        notes = []
        pilot = self.pilot
        if pilot.same_arm:
            text = (
                "The pilot is two trials of the baseline (A/A): a change that moves "
                "answers more than a rerun does needs more questions."
            )
            notes.append(Note("same-arm-pilot", text))
        if beyond:
            text = (
                "The delta is not on the passing side of the rule: more questions do "
                "not help."
            )
            notes.append(Note("beyond-threshold", text))
        if not beyond and pilot.score_range is None and pilot.parts is None:
            text = (
                f"{pilot.metric} has no declared range: the variant was shifted by a "
                "constant instead of drawing other questions."
            )
            notes.append(Note("shifted-pilot", text))
        if not beyond and self.missing_rate >= MANY_MISSING:
            text = (
                "An experiment of which over 20 % of the questions lack a pair passes "
                "only if it does so with every missing score at its worst."
            )
            notes.append(Note("high-missing-share", text))
        run_sd = 0.0
        if pilot.parts is None:
            paired = self.analysis.trials_paired
            run_sd = trial_source(pilot, None, paired=paired).run_sd
        if run_sd > 0:
            text = (
                f"Whole runs of the pilot differ (SD between runs {run_sd:.3g}), and "
                "so do those of every simulated experiment: more questions do not make "
                "up for it, more trials do. The formula is of questions alone."
            )
            notes.append(Note("runs-differ", text))
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
    questions: tuple[int, ...], formula: ClosedForm | None, pilot: Pilot
) -> list[int]:
    if questions:
        return sorted(set(questions))
    centre = float(pilot.n_pairs if formula is None else formula.questions)
    centre = min(max(centre, FEWEST_QUESTIONS / STEPS[0]), MOST_QUESTIONS / STEPS[-1])
    return sorted({round(step * centre) for step in STEPS})


def _trial_counts(pilot: Pilot) -> tuple[int, ...]:
    return tuple(range(1, MOST_TRIALS + 1)) if pilot.n_trials > 1 else ()
