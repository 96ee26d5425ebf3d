"""How many questions, or trials, a design needs, from the parts of its variance."""

from __future__ import annotations

from onechange.sensitivity.margins import POWER, normal_quantile
from onechange.sensitivity.tipping import first_change
from onechange.stats.projection import Contributions

__all__ = ["questions_of_design", "trials_of_design"]

MOST_QUESTIONS = 10_000_000
MOST_TRIALS = 1000


def questions_of_design(
    now: Contributions,
    gap: float,
    distance: float,
    *,
    confidence_level: float,
    power: float = POWER,
) -> int | None:
    """Questions for 80 % power when whole runs differ.

    Parameters
    ----------
    now : Contributions
        Parts of the variance of the delta with the design at hand.
    gap : float
        From the assumed truth to the threshold, in the metric's unit.
    distance : float
        From the estimate to the end of the interval that decides.
    confidence_level : float
        Two-sided level.
    power : float
        Another power than 80 %.

    Returns
    -------
    int or None
        None when no number of questions is enough, because the runs remain.

    Notes
    -----
    The smallest n with w(n) + z₀.₈·SE(n) ≤ gap, w the half-width expected with n
    questions, stretched as the interval at hand is against the one expected of it.

    Examples
    --------
    >>> parts = Contributions(0.0009, (0.0, 0.0), (0.0, 0.0), 100, (3, 3), 99)
    >>> questions_of_design(parts, 0.05, 0.0595, confidence_level=0.95)
    285
    """

    def design(n: int) -> Contributions:
        return now.scaled(questions=n / now.n_questions)

    def enough(n: int) -> bool:
        return _reaches(design(n), now, (gap, distance), confidence_level, power)

    return first_change(enough, MOST_QUESTIONS, guess=now.n_questions)


def trials_of_design(
    now: Contributions,
    gap: float,
    distance: float,
    *,
    confidence_level: float,
    power: float = POWER,
) -> int | None:
    """Trials of each arm for 80 % power with the questions at hand.

    Parameters
    ----------
    now, gap, distance, confidence_level, power
        As for `questions_of_design`.

    Returns
    -------
    int or None
        None when no number of trials is enough, because the questions remain, or
        when the arms have unequal numbers of trials.
    """
    trials = now.n_trials[0]
    if any(count != trials for count in now.n_trials):
        return None

    def enough(k: int) -> bool:
        if k < 2:
            return False
        design = now.scaled(trials=k / trials)
        return _reaches(design, now, (gap, distance), confidence_level, power)

    return first_change(enough, MOST_TRIALS, guess=trials)


def _reaches(
    design: Contributions,
    now: Contributions,
    gap_and_distance: tuple[float, float],
    confidence_level: float,
    power: float,
) -> bool:
    gap, distance = gap_and_distance
    expected_now = now.half_width(confidence_level)
    expected = design.half_width(confidence_level)
    if expected_now is None or expected is None or expected_now == 0:
        return False
    stretched = expected * distance / expected_now
    return stretched + normal_quantile(power) * design.standard_error <= gap
