"""What `onechange trials` prints: run-to-run variation, of one arm or of two."""

from __future__ import annotations

import json
from collections.abc import Sequence

from onechange import __version__
from onechange.compare import Comparison
from onechange.display import (
    decimals_for,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_pvalue,
)
from onechange.display.shortening import listed_places
from onechange.errors import OnechangeError
from onechange.report.context import NoteList, make_context
from onechange.report.document import Block, Bullets, Column, Paragraph, Table
from onechange.report.json_trials import trials_analysis_json, trials_json
from onechange.report.json_values import notes_json
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text
from onechange.report.runs import trials_blocks
from onechange.report.trial_figures import (
    ArmRow,
    arms_table,
    components_table,
    flips_list,
    part_cells,
    part_columns,
    pass_table,
    projection_table,
    same_arm_table,
    spread,
    strip_plot,
)
from onechange.stats.projection import Contributions, Purchase, cheapest_design
from onechange.trials import SingleMetric, TrialsAnalysis

__all__ = ["FORMATS", "Target", "purchase_sentence", "render_trials"]

FORMATS = ("text", "markdown", "json")
SCHEMA = 1
ABOUT_TRIALS = (
    "identical-trials",
    "selective-rerun",
    "trials-inferred",
    "unequal-trials",
)

Target = tuple[float, float, float]  # half-width, cost of a question, of an answer


def render_trials(
    result: TrialsAnalysis | Comparison,
    *,
    format: str = "text",
    width: int = 100,
    target: Target | None = None,
) -> str:
    """Write the analysis of repeated trials.

    Parameters
    ----------
    result : TrialsAnalysis or Comparison
        One arm, or a baseline and its variants.
    format : str
        ``text``, ``markdown`` or ``json``.
    width : int
        Columns to which running text is wrapped.
    target : tuple of float, optional
        Half-width wanted, cost of a new question, cost of one answer: the cheapest
        way there is said for the first metric.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format not in FORMATS:
        raise OnechangeError(
            f'trials format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    columns = width if format == "text" else None
    if isinstance(result, TrialsAnalysis):
        if format == "json":
            return trials_analysis_json(result)
        title, blocks = _of_one(result, columns)
    else:
        if format == "json":
            return _comparison_json(result)
        title, blocks = _of_two(result, columns)
    wanted = _purchase(result, target)
    if wanted is not None:
        blocks.append(wanted)
    if format == "markdown":
        return "\n\n".join([f"## {title}", *map(block_markdown, blocks)]) + "\n"
    return "\n\n".join([title, *(block_text(block, width) for block in blocks)]) + "\n"


def purchase_sentence(
    found: Purchase | None, now: Contributions, half_width: str
) -> str:
    """Say which design reaches a half-width, and what it costs.

    Parameters
    ----------
    found : Purchase or None
        What `cheapest_design` returned.
    now : Contributions
        The design at hand.
    half_width : str
        The half-width wanted, as text.
    """
    if found is None:
        return f"No number of questions and trials reaches ±{half_width}."
    have = f"{format_count(now.n_questions)} questions × {_trials(now.n_trials)}"
    if (found.n_questions, found.n_trials) == (now.n_questions, now.n_trials):
        return f"{have} reach ±{half_width} already."
    return (
        f"The cheapest way to ±{half_width} is {format_count(found.n_questions)} "
        f"questions × {_trials(found.n_trials)} instead of {have}: further cost "
        f"{format_number(found.cost)}."
    )


def _of_one(analysis: TrialsAnalysis, columns: int | None) -> tuple[str, list[Block]]:
    compact = columns is not None
    title = f"Trials of {analysis.name}"
    rows = [
        ArmRow(row.metric.name, analysis.name, row.trials, _decimals(row))
        for row in analysis.metrics
    ]
    leading = rows[:1]
    level = format_percent(analysis.confidence_level)
    n_trials = len(analysis.labels)
    facts = (
        f"{format_count(analysis.n_rows)} rows, {format_count(analysis.n_questions)} "
        f"questions, {n_trials} trial{'' if n_trials == 1 else 's'}."
    )
    found: list[Block | None] = [Paragraph(facts, "Read"), _means_table(analysis)]
    if n_trials > 1:
        parts = analysis.metrics[0].parts if analysis.metrics else None
        found += [
            arms_table(rows, compact=compact),
            strip_plot(leading, columns=columns),
            None
            if parts is None
            else projection_table(
                parts, rows[0].metric, analysis.confidence_level, rows[0].decimals
            ),
            flips_list(rows),
            pass_table(leading),
            same_arm_table(rows, level),
            components_table(rows, compact=compact),
        ]
    notes = NoteList()
    notes.add(analysis.notes)
    found.append(_notes(notes))
    return title, [block for block in found if block is not None]


def _of_two(comparison: Comparison, columns: int | None) -> tuple[str, list[Block]]:
    context, compact = make_context(comparison), columns is not None
    names = ", ".join(arm.name for arm in comparison.variants)
    blocks: list[Block] = []
    if comparison.trials:
        blocks += trials_blocks(context, compact=compact, columns=columns)
    notes = NoteList()
    for row in comparison.trials:
        notes.add(row.notes, row.metric)
    for delta in comparison.deltas:
        about = [note for note in delta.notes if note.code == "runs-differ"]
        notes.add(about, delta.metric)
    for audit in comparison.audits:
        notes.add(note for note in audit.notes if note.code in ABOUT_TRIALS)
    listed = _notes(notes)
    return (
        f"Trials of {comparison.baseline.name} and {names}",
        [*blocks, *([] if listed is None else [listed])],
    )


def _means_table(analysis: TrialsAnalysis) -> Table:
    level = format_percent(analysis.confidence_level)
    judged = any(row.parts and any(row.parts.gradings) for row in analysis.metrics)
    columns = (
        Column("metric"),
        Column("questions", "r"),
        Column("mean", "r"),
        Column(f"{level} interval"),
        Column("noise floor", "r", "SD of the mean from runs alone"),
        *part_columns("mean", judged=judged),
        Column("p, runs equal", "r"),
    )
    return Table(
        columns, tuple(_mean_cells(row, judged=judged) for row in analysis.metrics)
    )


def _mean_cells(row: SingleMetric, *, judged: bool) -> tuple[str, ...]:
    decimals = _decimals(row)
    interval = row.interval
    return (
        row.metric.name,
        format_count(row.trials.n_questions),
        format_number(row.mean, decimals),
        format_interval(interval, decimals, signed=False),
        spread(row.noise_floor, decimals),
        *part_cells(row.parts, judged=judged),
        format_pvalue(row.runs.pvalue if row.runs else None),
    )


def _decimals(row: SingleMetric) -> int:
    return decimals_for([row.mean, *row.trials.means])


def _purchase(
    result: TrialsAnalysis | Comparison, target: Target | None
) -> Paragraph | None:
    if target is None:
        return None
    name, parts, level = _first_parts(result)
    if parts is None:
        text = (
            f"{name}: what more trials would buy is unknown, as run-to-run variation "
            "is not estimable."
        )
        return Paragraph(text, "Cheapest")
    half_width, question_cost, trial_cost = target
    found = cheapest_design(
        parts,
        half_width,
        question_cost=question_cost,
        trial_cost=trial_cost,
        confidence_level=level,
    )
    text = purchase_sentence(found, parts, f"{half_width:g}")
    return Paragraph(f"{name}: {text}", "Cheapest")


def _first_parts(
    result: TrialsAnalysis | Comparison,
) -> tuple[str, Contributions | None, float]:
    if isinstance(result, TrialsAnalysis):
        if not result.metrics:
            return "no metric", None, result.confidence_level
        first = result.metrics[0]
        return first.metric.name, first.parts, result.confidence_level
    level = result.plan.analysis.confidence_level
    if not result.trials:
        return "no metric", None, level
    row = result.trials[0]
    return row.metric, row.delta.parts if row.delta else None, level


def _comparison_json(comparison: Comparison) -> str:
    level = comparison.plan.analysis.confidence_level
    plain = {
        "schema": SCHEMA,
        "version": __version__,
        "confidence_level": level,
        "trials": trials_json(comparison.trials, level),
        "notes": notes_json(
            dict.fromkeys(note for delta in comparison.deltas for note in delta.notes)
        ),
        "signature": comparison.signature,
    }
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _notes(notes: NoteList) -> Bullets | None:
    items = []
    for note, places in notes.places.items():
        where = f" ({listed_places(places)})" if places else ""
        items.append(f"{note.code}{where}: {note.text}")
    return Bullets(tuple(items)) if items else None


def _trials(n_trials: Sequence[int]) -> str:
    return " and ".join(str(k) for k in dict.fromkeys(n_trials)) + " trials"
