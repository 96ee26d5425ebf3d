"""Tables and plots of repeated trials, for reports of one arm and of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from onechange.display import (
    MISSING,
    decimals_for,
    escape_terminal,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_pvalue,
    shorten,
    text_width,
)
from onechange.display.lines import dot_line, dot_scale, padded
from onechange.report.document import Bullets, Column, Plot, Table
from onechange.stats.components import Component
from onechange.stats.projection import Contributions
from onechange.trials import ArmTrials

__all__ = [
    "ArmRow",
    "arms_table",
    "components_table",
    "flips_list",
    "means_text",
    "part_cells",
    "part_columns",
    "pass_table",
    "projection_table",
    "same_arm_table",
    "spread",
    "spread_text",
    "strip_plot",
]

MAX_MEANS = 8
MAX_FLIPS = 10
MAX_STRIP = 24
STRIP_WIDTH = 41
NARROW, NARROWEST = 80, 15


@dataclass(frozen=True, slots=True)
class ArmRow:
    """The trials of one metric in one arm, with the decimals of its figures."""

    metric: str
    arm: str
    trials: ArmTrials
    decimals: int


def arms_table(rows: Sequence[ArmRow], *, compact: bool = False) -> Table:
    """Give means per trial, their spread, and how stable answers are.

    Compact: without what stands in the table of components as well.
    """
    columns = (
        Column("metric"),
        Column("arm"),
        Column("mean per trial"),
        Column("between-trial SD", "r", "spread of the trial means"),
        Column("within-question SD", "r", "spread of one question's scores"),
        Column("ICC", "r", "share of the variance that lies between questions"),
        Column("flip rate", "r", "questions whose answer changes between trials"),
        Column("p, runs equal", "r", "F test that whole runs do not differ"),
    )
    table = Table(
        columns,
        tuple(
            (
                row.metric,
                row.arm,
                means_text(row.trials, row.decimals),
                spread_text(row.trials, row.decimals),
                spread(row.trials.within_question_sd, row.decimals),
                format_number(row.trials.icc, 3),
                format_percent(row.trials.flip_rate, 1),
                format_pvalue(
                    row.trials.trial_test.pvalue if row.trials.trial_test else None
                ),
            )
            for row in rows
        ),
    )
    return _without(table, {"within-question SD", "ICC"}) if compact else table


def components_table(rows: Sequence[ArmRow], *, compact: bool = False) -> Table | None:
    """Give the variance components as standard deviations, and all four ICCs."""
    kept = [row for row in rows if row.trials.components.residual is not None]
    if not kept:
        return None
    judged = any(row.trials.components.judge for row in kept)
    columns = [
        Column("metric"),
        Column("arm"),
        Column("SD of questions", "r"),
        Column("SD of runs", "r", "what a whole run adds to every score"),
        Column("SD of answers", "r", "what is left within a question and run"),
        *([Column("SD of gradings", "r", "of the same answer")] if judged else []),
        Column("ICC(1,1)", "r"),
        Column("ICC(1,k)", "r"),
        Column("ICC(2,1)", "r"),
        Column("ICC(2,k)", "r"),
    ]
    cells = []
    for row in kept:
        parts = row.trials.components
        cells.append(
            (
                row.metric,
                row.arm,
                _component(parts.question, row.decimals, ends=not compact),
                _component(parts.trial, row.decimals),
                _component(
                    parts.answer or parts.residual, row.decimals, ends=not compact
                ),
                *([_component(parts.judge, row.decimals)] if judged else []),
                *(
                    _correlation(row.trials, name)
                    for name in ("icc_1_1", "icc_1_k", "icc_2_1", "icc_2_k")
                ),
            )
        )
    table = Table(tuple(columns), tuple(cells), "Variance components, as SDs")
    return _without(table, {"ICC(1,k)", "ICC(2,k)"}) if compact else table


def same_arm_table(rows: Sequence[ArmRow], level: str) -> Table | None:
    """Give the deltas between single trials of the same arm."""
    cells, few = [], list[str]()
    for row in rows:
        found = row.trials.same_arm
        if found is None:
            continue
        alarms = MISSING
        if found.false_alarm_share is not None:
            share = format_percent(found.false_alarm_share, 1)
            alarms = f"{found.n_alarms} ({share})"
        else:
            few.append(found.reason or "")
        low, high = (
            format_number(end, row.decimals, signed=True)
            for end in (found.low, found.high)
        )
        n_deltas = format_count(found.n_deltas)
        cells.append((row.metric, row.arm, n_deltas, f"{low} … {high}", alarms))
    if not cells:
        return None
    columns = (
        Column("metric"),
        Column("arm"),
        Column("pairs of trials", "r"),
        Column("deltas from … to"),
        Column(f"{level} intervals without 0", "r", "false alarms: nothing changed"),
    )
    caption = (
        "A/A: every two single trials of an arm, compared as if one were a variant"
    )
    if few:
        caption += f" ({'; '.join(dict.fromkeys(few))})"
    return Table(columns, tuple(cells), caption)


def pass_table(rows: Sequence[ArmRow]) -> Table | None:
    """Give pass@k and pass^k of 0/1 answers, for up to eight k."""
    kept = [row for row in rows if len(row.trials.pass_rates) > 1]
    if not kept:
        return None
    cells = []
    for row in kept:
        rates = row.trials.pass_rates
        shown = (
            rates if len(rates) <= MAX_MEANS else (*rates[: MAX_MEANS - 1], rates[-1])
        )
        for rate in shown:
            cells.append(
                (
                    row.metric,
                    row.arm,
                    str(rate.k),
                    format_number(rate.any_right, 3),
                    format_number(rate.all_right, 3),
                    format_count(rate.n_questions),
                )
            )
    columns = (
        Column("metric"),
        Column("arm"),
        Column("k", "r"),
        Column("pass@k", "r", "at least one of k trials is right"),
        Column("pass^k", "r", "all of k trials are right"),
        Column("questions", "r", "with at least k trials"),
    )
    return Table(columns, tuple(cells), "Right at least once, and every time")


def flips_list(rows: Sequence[ArmRow]) -> Bullets | None:
    """Name the questions whose answer is least settled."""
    items = []
    for row in rows:
        flips = row.trials.flips
        if not len(flips):
            continue
        shown = ", ".join(
            f"{question} ({right} of {trials})"
            for question, right, trials in islice(flips.rows(), MAX_FLIPS)
        )
        more = len(flips) - MAX_FLIPS
        rest = f" and {format_count(more)} more" if more > 0 else ""
        some = "question is" if len(flips) == 1 else "questions are"
        items.append(
            f"{row.metric}, {row.arm}: {format_count(len(flips))} {some} right in some "
            f"trials and wrong in others: {shown}{rest}."
        )
    return Bullets(tuple(items)) if items else None


def projection_table(
    parts: Contributions, metric: str, level: float, decimals: int
) -> Table:
    """Give the half-width of the interval for more questions and more trials."""
    factors = (1, 2, 4)
    designs = [[parts.scaled(questions=n, trials=k) for k in factors] for n in factors]
    columns = (
        Column("questions", "r", "Questions of such a design."),
        *(
            Column(f"{_trials_text(design.n_trials)} trials", "r")
            for design in designs[0]
        ),
    )
    cells = tuple(
        (
            format_count(row[0].n_questions),
            *(spread(design.half_width(level), decimals) for design in row),
        )
        for row in designs
    )
    caption = (
        f"{metric}: expected half-width of the {format_percent(level)} interval with "
        "more questions (down) and more trials (across)"
    )
    return Table(columns, cells, caption)


def part_columns(whole: str, *, judged: bool) -> tuple[Column, ...]:
    """Head the shares of the variance of a delta or a mean."""
    columns = (
        Column("questions", "r", f"share of the {whole}'s variance from questions"),
        Column("answers", "r", "share from answers that vary between trials"),
        Column("gradings", "r", "share from gradings of one answer that differ"),
        Column("runs", "r", "share from runs that differ as wholes"),
    )
    return columns if judged else (*columns[:2], columns[3])


def part_cells(parts: Contributions | None, *, judged: bool) -> tuple[str, ...]:
    """Give the shares of the variance of a delta or a mean."""
    names = ("questions", "answers", *(("gradings",) if judged else ()), "runs")
    shares = None if parts is None else parts.shares
    return tuple(
        format_percent(None if shares is None else shares[name], 0) for name in names
    )


def strip_plot(rows: Sequence[ArmRow], *, columns: int | None = None) -> Plot | None:
    """Draw the mean of every trial on one scale, arm by arm.

    Parameters
    ----------
    rows : sequence of ArmRow
        One metric in each arm.
    columns : int, optional
        Columns of the terminal, to which the scale is drawn.
    """
    lines = [
        (row, label, mean, count)
        for row in rows
        for label, mean, count in zip(
            row.trials.labels,
            row.trials.means,
            row.trials.n_scored or [0] * len(row.trials.means),
            strict=True,
        )
        if mean is not None
    ]
    if len(lines) < 2 or len(lines) > MAX_STRIP * max(len(rows), 1):
        return None
    means = [mean for _, _, mean, _ in lines]
    low, high = min(means), max(means)
    decimals = rows[0].decimals
    narrow = columns is not None and columns < NARROW
    most = 12 if narrow else 24
    names = [
        f"{shorten(escape_terminal(row.arm), most)} "
        f"{shorten(escape_terminal(label), 12)}"
        for row, label, _, _ in lines
    ]
    counts = [format_count(count) for *_, count in lines]
    texts = [
        padded(["trial", *names]),
        *([padded(["n", *counts], right=True)] if any(n for *_, n in lines) else []),
        padded(
            ["mean", *(format_number(mean, decimals) for mean in means)], right=True
        ),
    ]
    width = STRIP_WIDTH
    if columns is not None:
        left = columns - sum(text_width(column[0]) + 2 for column in texts)
        width = max(min(width, left), NARROWEST)
    scale = [
        dot_scale(low, high, decimals, width),
        *(dot_line(mean, low, high, width) for mean in means),
    ]
    drawn = tuple(
        "  ".join(parts).rstrip() for parts in zip(*texts, scale, strict=True)
    )
    return Plot(drawn, f"{rows[0].metric}: mean of each trial")


def means_text(arm: ArmTrials, decimals: int) -> str:
    """Write the means per trial, or their range when there are many."""
    texts = [format_number(mean, decimals) for mean in arm.means]
    if len(texts) > MAX_MEANS:
        known = sorted(mean for mean in arm.means if mean is not None)
        if not known:
            return MISSING
        low, high = (format_number(end, decimals) for end in (known[0], known[-1]))
        return f"{len(texts)} trials, {low} … {high}"
    return " ".join(texts) or MISSING


def spread_text(arm: ArmTrials, decimals: int) -> str:
    """Write the between-trial SD, or why it is unknown."""
    if arm.between_trial_sd is None:
        return arm.reason or "not measured"
    shown = spread(arm.between_trial_sd, decimals)
    return f"{shown} (uneven)" if arm.uneven else shown


def spread(value: float | None, decimals: int) -> str:
    """Write a standard deviation with at least two digits of its own."""
    own = decimals_for([value], significant=2, at_most=6) if value else 0
    return format_number(value, max(decimals, own))


def _without(table: Table, titles: set[str]) -> Table:
    """Leave out columns by their titles."""
    keep = [i for i, column in enumerate(table.columns) if column.title not in titles]
    return Table(
        tuple(table.columns[i] for i in keep),
        tuple(tuple(row[i] for i in keep) for row in table.rows),
        table.caption,
    )


def _component(part: Component | None, decimals: int, *, ends: bool = True) -> str:
    """Write the SD of a component, with the ends of its interval."""
    if part is None:
        return MISSING
    shown = spread(part.sd, decimals)
    if not ends:
        return shown
    places = len(shown.rpartition(".")[2]) if "." in shown else 0
    return f"{shown} ({format_interval(part.sd_interval, places, signed=False)})"


def _correlation(arm: ArmTrials, name: str) -> str:
    found = arm.iccs.get(name)
    return MISSING if found is None else format_number(found.value, 3)


def _trials_text(n_trials: Sequence[int]) -> str:
    return " and ".join(str(k) for k in dict.fromkeys(n_trials))
