"""What `onechange power` prints: the design that is needed, and the power curve."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from onechange import __version__
from onechange.display import (
    decimals_for,
    format_count,
    format_number,
    format_percent,
)
from onechange.errors import OnechangeError
from onechange.power.result import PowerPoint, PowerResult
from onechange.report.document import Block, Bullets, Paragraph, Plot
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "power_figure", "render_power"]

FORMATS = ("text", "markdown", "json")
BAR = 50  # columns of a power of 1
FAR = 1.2  # a formula off by this factor is explained


def render_power(result: PowerResult, *, format: str = "text", width: int = 100) -> str:
    """Write a power analysis.

    Parameters
    ----------
    result : PowerResult
        What `power` returned.
    format : str
        ``text``, ``markdown`` or ``json``.
    width : int
        Columns to which running text is wrapped.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format == "json":
        content = {"schema": 1, "onechange": __version__, "power": asdict(result)}
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    blocks = _blocks(result)
    if format == "markdown":
        return "\n\n".join(block_markdown(block) for block in blocks) + "\n"
    if format != "text":
        raise OnechangeError(
            f'format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    return "\n\n".join(block_text(block, width) for block in blocks) + "\n"


def power_figure(result: PowerResult) -> Figure:
    """Draw the power curve.

    Parameters
    ----------
    result : PowerResult
        With simulated points.

    Returns
    -------
    Figure

    Raises
    ------
    OnechangeError
        When nothing was simulated.
    """
    if not result.points:
        raise OnechangeError(
            "there is no curve to draw without a pilot; name a baseline and a variant."
        )
    from onechange.plots import curve_figure

    name = "power"
    ends = [
        (
            max(0.0, p.power - 2 * p.monte_carlo_error),
            min(1.0, p.power + 2 * p.monte_carlo_error),
        )
        for p in result.points
    ]
    return curve_figure(
        [float(p.n_questions) for p in result.points],
        {name: [p.power for p in result.points]},
        xlabel="questions",
        ylabel="probability to pass",
        bands={name: ends},
        target=result.target,
        title=f"{result.rule}, true delta {_delta(result, result.delta)}",
    )


def _blocks(result: PowerResult) -> list[Block]:
    blocks: list[Block] = [
        Paragraph(_headline(result)),
        Paragraph(_pilot_text(result), "Pilot"),
    ]
    for label, points, unit in (
        ("questions", result.points, "n_questions"),
        ("trials", result.trial_points, "n_trials"),
    ):
        if points:
            caption = f"Probability to pass by {label}"
            if label == "trials":
                caption += f", with {format_count(result.n_questions)} questions"
            blocks.append(Plot(tuple(_curve(points, unit, result.target)), caption))
    facts = [*_facts(result), *(note.text for note in result.notes)]
    if facts:
        blocks.append(Bullets(tuple(facts)))
    return blocks


def _headline(result: PowerResult) -> str:
    share = format_percent(result.target, 0)
    case = f"{result.rule}, if the true delta is {_delta(result, result.delta)}"
    if result.questions_needed is None:
        if result.reason is not None:
            return f"{case}: no number of questions shows it: {result.reason}."
        if result.points:
            most = max(point.n_questions for point in result.points)
            return f"{case}: not shown with {share} power by {most} questions."
        return f"{case}: no number of questions shows it."
    about = "" if result.n_simulations == 0 else "about "
    needed = f"{about}{format_count(result.questions_needed)} questions"
    return f"{case}: {needed} show it with {share} power."


def _pilot_text(result: PowerResult) -> str:
    if result.n_pairs is None:
        given = []
        if result.pilot_sd is not None:
            given.append(f"SD of one paired difference {result.pilot_sd:g}")
        if result.discordance is not None:
            given.append(f"{format_percent(result.discordance, 1)} of the pairs differ")
        if result.missing_rate:
            rate = format_percent(result.missing_rate, 1)
            given.append(f"{rate} of the questions without a pair")
        return f"none; given: {', '.join(given)}."
    kind = (
        "two trials of the baseline (A/A)" if result.same_arm else "baseline, variant"
    )
    parts = [f"{kind}: {format_count(result.n_pairs)} pairs"]
    if result.n_clusters is not None:
        parts.append(f"{format_count(result.n_clusters)} clusters")
    parts.append(f"{result.n_trials} trial{'s' * (result.n_trials != 1)}")
    if result.pilot_sd is not None:
        sd = format_number(result.pilot_sd, _decimals(result))
        parts.append(f"SD of the differences {sd}")
    if result.discordance is not None:
        parts.append(f"{format_percent(result.discordance, 1)} of the pairs differ")
    parts.append(f"{format_percent(result.missing_rate, 1)} without a pair")
    return "; ".join(parts) + "." + _under_truth(result)


def _under_truth(result: PowerResult) -> str:
    """Say what the true delta makes of the pilot's spread, which it changes."""
    changed = []
    if result.true_discordance is not None and result.discordance is not None:
        share = format_percent(result.true_discordance, 1)
        if share != format_percent(result.discordance, 1):
            changed.append(f"{share} of the pairs differ")
    elif result.true_sd is not None and result.pilot_sd is not None:
        sd = format_number(result.true_sd, _decimals(result))
        if sd != format_number(result.pilot_sd, _decimals(result)):
            changed.append(f"the SD of the differences is {sd}")
    if not changed:
        return ""
    true = _delta(result, result.delta)
    return f" Drawn so that the true delta is {true}: {changed[0]}."


def _curve(points: tuple[PowerPoint, ...], unit: str, target: float) -> list[str]:
    counts = [format_count(getattr(point, unit)) for point in points]
    widest = max(len(count) for count in counts)
    mark = round(target * BAR)
    lines = []
    for point, count in zip(points, counts, strict=True):
        filled = round(point.power * BAR)
        bar = ["█" if at < filled else " " for at in range(BAR + 1)]
        bar[mark] = "┃" if filled > mark else "│"
        error = format_percent(point.monte_carlo_error, 1)
        lines.append(
            f"{count:>{widest}}  {''.join(bar)}  "
            f"{format_percent(point.power, 0):>5} ± {error}"
        )
    return lines


def _facts(result: PowerResult) -> list[str]:
    facts = []
    share = format_percent(result.target, 0)
    if result.smallest_delta is not None and result.n_questions is not None:
        size = format_number(result.smallest_delta, _decimals(result))
        n = format_count(result.n_questions)
        guardrail = "worsens" in result.rule or "changes by" in result.rule
        facts.append(
            f"With {n} questions the margin {size} passes with {share} power if "
            "nothing changed."
            if guardrail
            else f"With {n} questions the smallest delta found with {share} power is "
            f"{size}."
        )
    if result.trial_points:
        n = format_count(result.n_questions)
        facts.append(
            f"With {n} questions, {result.trials_needed} trial"
            f"{'s' * (result.trials_needed != 1)} of each arm are enough."
            if result.trials_needed is not None
            else f"With {n} questions, no number of trials up to "
            f"{result.trial_points[-1].n_trials} is enough."
        )
    formula = result.closed_form
    if formula is not None:
        text = f"By formula ({formula.method}): {format_count(formula.questions)} "
        text += "questions"
        if formula.power is not None:
            text += (
                f"; power {format_percent(formula.power, 0)} with "
                f"{format_count(result.n_questions or result.n_pairs)}"
            )
        needed = result.questions_needed
        if needed and abs(math.log(needed / formula.questions)) > math.log(FAR):
            text += (
                ". The simulated figure counts: the formula knows nothing of rare "
                "changes, runs that differ, or experiments that lack many scores"
            )
        facts.append(text + ".")
    if result.points or (result.smallest_delta is not None and result.n_simulations):
        level = format_percent(result.confidence_level, 1)
        facts.append(
            f"{format_count(result.n_simulations)} experiments per design, each "
            f"decided as decide would, at level {level}; seed {result.seed}."
        )
    return facts


def _delta(result: PowerResult, value: float) -> str:
    return format_number(value, _decimals(result), signed=True)


def _decimals(result: PowerResult) -> int:
    sizes = [
        abs(value)
        for value in (result.delta, result.pilot_sd, result.smallest_delta)
        if value
    ]
    return decimals_for([min(sizes)] if sizes else [])
