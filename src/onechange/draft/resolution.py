"""What so many questions can show about each metric, without saying what changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from onechange.compare import Comparison
from onechange.delta import Delta, metric_sample
from onechange.sensitivity import margin_check, normal_quantile

__all__ = ["Resolution", "resolution", "rounded_up"]

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Resolution:
    """Margins of one metric at this number of questions.

    Parameters
    ----------
    smallest : float or None
        Smallest margin that could pass with no changed answer; None where the
        interval of unchanged answers needs a declared range.
    likely : float or None
        Margin that passes in four runs of five if nothing changed on average; an
        improvement of this size is found as often.
    """

    smallest: float | None
    likely: float | None


def resolution(
    comparison: Comparison,
    delta: Delta,
    score_range: tuple[float, float] | None = None,
) -> Resolution:
    """Find the margins that the pairs of a metric can show.

    Parameters
    ----------
    comparison : Comparison
        Of one baseline and one variant.
    delta : Delta
        Overall delta of the mean of a metric, or of a built-in rate.
    score_range : tuple of float, optional
        Lowest and highest score that the draft will declare.

    Returns
    -------
    Resolution

    Notes
    -----
    With w the distance from the estimate to the end of the interval on the side of a
    worsening, the margin that passes with 80 % is w + z₀.₈·SE: the delta itself does
    not enter.
    """
    interval = delta.interval
    if interval is None or delta.delta is None or delta.n_pairs == 0:
        return Resolution(None, None)
    sample = metric_sample(comparison.values[delta.variant_name, delta.metric])
    check = margin_check(
        replace(sample, score_range=sample.score_range or score_range),
        0.0,
        delta.direction,
        interval=interval,
        standard_error=delta.standard_error,
        analysis=comparison.plan.analysis,
    )
    end = interval.low if delta.direction == "higher" else interval.high
    distance = abs(end - delta.delta)
    spread = delta.standard_error or 0.0
    likely = distance + normal_quantile(POWER) * spread
    smallest = check.smallest_margin
    if smallest is not None:
        likely = max(likely, smallest)
    return Resolution(smallest, likely if math.isfinite(likely) else None)


def rounded_up(value: float) -> float:
    """Round up to two significant digits.

    Examples
    --------
    >>> rounded_up(0.02519), rounded_up(234.1), rounded_up(0.05)
    (0.026, 240.0, 0.05)
    """
    if value <= 0 or not math.isfinite(value):
        return 0.0
    power = math.floor(math.log10(value)) - 1
    # the digits are text, so that no binary noise is printed
    return float(f"{math.ceil(value / 10.0**power * (1 - 1e-12))}e{power}")
