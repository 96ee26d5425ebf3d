"""Where questions changed along the pipeline: which records to read, not a cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onechange.delta import Delta
from onechange.diagnosis import Diagnosis, StageFinding, Transitions
from onechange.diagnosis.attribution import ArmStages
from onechange.display import MISSING, format_count, format_number, format_pvalue
from onechange.report.context import Context, question_link
from onechange.report.document import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Section,
    Table,
)
from onechange.stats.estimate import TestResult

__all__ = ["diagnosis_line", "diagnosis_section", "question_groups"]

LISTED = 20  # ids of a cell; the JSON output has all
_TABLES = (
    ("evidence_support", "Evidence in the context × every claim supported"),
    ("correct_grounded", "Answer correct × grounded"),
    ("failures", "Failure category"),
)
_READ = (
    "The tables say which records to read and where a change arises in these two arms; "
    "they are no causal effect."
)


def diagnosis_section(context: Context) -> Section | None:
    """Build the section on stages, categories and their transitions."""
    blocks: list[Block] = []
    details: list[Block] = []
    for diagnosis in context.comparison.diagnoses:
        blocks += _attribution_blocks(context, diagnosis)
        blocks += _reading_blocks(context, diagnosis)
        blocks += _arm_tables(context, diagnosis)
        details += _oracle_blocks(context, diagnosis)
        details += _transition_blocks(context, diagnosis)
        blocks += [Paragraph(note.text, note.code) for note in diagnosis.notes]
    if not blocks and not details:
        return None
    return Section(
        "diagnosis", "Diagnosis", (*blocks, Paragraph(_READ)), tuple(details)
    )


def diagnosis_line(context: Context) -> str:
    """Say in one line where the delta arises and which category moved most."""
    parts = []
    for diagnosis in context.comparison.diagnoses[:1]:
        text = _attribution_text(context, diagnosis)
        if text and diagnosis.attribution and diagnosis.attribution.reason is None:
            parts.append(text)
        moved = _most_moved(diagnosis.failures)
        if moved:
            parts.append(moved)
    return "; ".join(parts) + "." if parts else ""


def _named(context: Context, text: str, diagnosis: Diagnosis) -> str:
    return f"{text} ({diagnosis.variant_name})" if context.several else text


# ---------------------------------------------------------------- attribution


def _attribution_text(context: Context, diagnosis: Diagnosis) -> str:
    found, column = diagnosis.attribution, diagnosis.correct_column
    if found is None or column is None or found.delta is None:
        return ""
    total = context.number(column, found.delta, signed=True)
    if found.reason is not None:
        return f"{column} {total}, not split: {found.reason}"
    parts = [
        f"{name} {context.number(column, value, signed=True)}"
        for name, value in (
            ("retrieval", found.retrieval),
            ("generation", found.generation),
        )
    ]
    return f"{column} {total} = {' and '.join(parts)}"


def _attribution_blocks(context: Context, diagnosis: Diagnosis) -> Iterator[Block]:
    found, column = diagnosis.attribution, diagnosis.correct_column
    if found is None or column is None:
        return
    text = _attribution_text(context, diagnosis)
    label = _named(context, "Stages", diagnosis)
    if found.retrieval is None or found.generation is None:
        if text:
            yield Paragraph(f"{text}.", label)
        return
    columns = (
        Column("part", help="of the delta of correctness; the two add up to it"),
        Column("delta", "r"),
        Column(
            f"{context.level} interval", "r", "paired bootstrap, expanded percentile"
        ),
    )
    rows = [
        (name, context.number(column, value, signed=True), interval)
        for name, value, interval in (
            (
                "retrieval: evidence more or less often in the context",
                found.retrieval,
                context.interval(column, found.retrieval_interval),
            ),
            (
                "generation: more or less often right with the same evidence",
                found.generation,
                context.interval(column, found.generation_interval),
            ),
            (f"delta of {column}", found.delta, ""),
        )
    ]
    n = format_count(found.n_pairs)
    yield Paragraph(
        f"{text}, over {n} questions with evidence and correctness in both arms.", label
    )
    yield Table(columns, tuple(rows))
    yield _stages_table(context, column, found.baseline, found.variant)
    for note in found.notes:
        yield Paragraph(note.text, note.code)
    if found.n_redrawn:
        count = format_count(found.n_redrawn)
        yield Paragraph(f"{count} resamples with an empty cell were drawn again.")


def _stages_table(
    context: Context, column: str, baseline: ArmStages | None, variant: ArmStages | None
) -> Table:
    arms = [arm for arm in (baseline, variant) if arm is not None]
    columns = (
        Column("in the arm"),
        Column("baseline", "r"),
        Column("variant", "r"),
    )
    rows = (
        ("evidence in the context", *(format_number(a.evidence_share) for a in arms)),
        (
            f"{column} with evidence",
            *(context.number(column, arm.correct_with) for arm in arms),
        ),
        (
            f"{column} without evidence",
            *(context.number(column, arm.correct_without) for arm in arms),
        ),
    )
    return Table(columns, rows)


# ---------------------------------------------------------------- four scores


def _reading_blocks(context: Context, diagnosis: Diagnosis) -> Iterator[Block]:
    if not diagnosis.readings:
        return
    baseline, variant = diagnosis.readings
    columns = (
        Column("score", help="or the column that stands in for it"),
        Column("stage", help="part of the pipeline that it watches"),
        Column("low below", "r", "a convention, not a norm"),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("reading"),
    )
    rows = tuple(
        (
            after.column or before.column or after.metric,
            after.stage,
            format_number(after.threshold),
            _read(before),
            _read(after),
            _meaning(after),
        )
        for before, after in zip(baseline, variant, strict=True)
    )
    caption = _named(context, "Four scores, four stages", diagnosis)
    yield Table(columns, rows, caption=caption)


def _read(finding: StageFinding) -> str:
    if finding.value is None:
        return MISSING
    value = format_number(finding.value)
    return f"{value} (low)" if finding.low else value


def _meaning(finding: StageFinding) -> str:
    if finding.low is None:
        return f"not measured: nothing is said about {finding.stage}"
    if not finding.low:
        return "not low"
    return finding.sentence.partition(": ")[2].rstrip(".")


# ---------------------------------------------------------------- tables


def _arm_tables(context: Context, diagnosis: Diagnosis) -> Iterator[Block]:
    for field, title in _TABLES:
        found: Transitions | None = getattr(diagnosis, field)
        if found is not None and found.categories:
            yield _arm_table(found, _named(context, title, diagnosis))
    if diagnosis.missing_fields:
        items = ", ".join(
            f"{name} ({format_count(b)} and {format_count(v)} rows)"
            for name, b, v in diagnosis.missing_fields
        )
        label = _named(context, "Undetermined for want of", diagnosis)
        yield Paragraph(f"{items}, in baseline and variant.", label)


def _arm_table(found: Transitions, caption: str) -> Table:
    columns = (
        Column("category"),
        Column("baseline", "r", "questions"),
        Column("variant", "r", "questions"),
        Column("joined", "r", "questions that came to this category"),
        Column("left", "r", "questions that left it"),
    )
    rows = [
        (
            name,
            *map(
                format_count,
                (
                    found.baseline[i],
                    found.variant[i],
                    sum(row[i] for row in found.counts) - found.counts[i][i],
                    sum(found.counts[i]) - found.counts[i][i],
                ),
            ),
        )
        for i, name in enumerate(found.categories)
    ]
    unknown = found.n_unknown_both
    rows.append(
        (
            "(not known)",
            format_count(found.n_unknown_baseline + unknown),
            format_count(found.n_unknown_variant + unknown),
            "",
            "",
        )
    )
    return Table(columns, tuple(rows), caption=f"{caption}: questions by arm")


def _transition_blocks(context: Context, diagnosis: Diagnosis) -> Iterator[Block]:
    for field, title in _TABLES:
        found: Transitions | None = getattr(diagnosis, field)
        if found is None or not found.n_questions:
            continue
        yield _matrix(found, _named(context, title, diagnosis), title, diagnosis)
        yield Paragraph(
            f"{format_count(found.n_changed)} of {format_count(found.n_questions)} "
            f"questions changed. Equal margins: {_test(found.homogeneity)}; symmetry: "
            f"{_test(found.symmetry)}."
        )
        cells = _cells(found)
        if cells:
            yield Bullets(cells)


def _matrix(
    found: Transitions, caption: str, title: str, diagnosis: Diagnosis
) -> Table:
    columns = (
        Column("baseline ↓, variant →"),
        *(Column(name, "r", "questions") for name in found.categories),
    )
    rows = tuple(
        (name, *map(format_count, counts))
        for name, counts in zip(found.categories, found.counts, strict=True)
    )
    links = tuple(
        (
            "",
            *(
                _cell_link(title, before, after, diagnosis)
                if (before, after) in found.questions
                else ""
                for after in found.categories
            ),
        )
        for before in found.categories
    )
    return Table(columns, rows, caption=f"{caption}: transitions", links=links)


def _cell_link(title: str, before: str, after: str, diagnosis: Diagnosis) -> str:
    return question_link(
        [
            (":variant", diagnosis.variant_name),
            (":group", group_name(title, before, after)),
        ]
    )


def group_name(title: str, before: str, after: str) -> str:
    """Name the questions of one cell of a transition table."""
    return f"{title}: {before} → {after}"


def question_groups(diagnosis: Diagnosis) -> dict[str, tuple[str, ...]]:
    """Return the ids of the questions in every cell of the transition tables."""
    groups = {}
    for field, title in _TABLES:
        found: Transitions | None = getattr(diagnosis, field)
        for (before, after), ids in (found.questions if found else {}).items():
            groups[group_name(title, before, after)] = tuple(ids)
    return groups


def _test(test: TestResult) -> str:
    if test.pvalue is None:
        return f"{test.method} undefined"
    return f"{test.method} p {format_pvalue(test.pvalue)}"


def _cells(found: Transitions) -> tuple[str, ...]:
    """List the questions of every cell off the diagonal, the fullest first."""
    moved = [(cell, ids) for cell, ids in found.questions.items() if cell[0] != cell[1]]
    moved.sort(key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        f"{before} → {after} ({format_count(len(ids))}): {_ids(ids)}"
        for (before, after), ids in moved
    )


def _ids(ids: Sequence[str]) -> str:
    more = len(ids) - LISTED
    tail = f" and {format_count(more)} more (in the JSON output)" if more > 0 else ""
    return ", ".join(ids[:LISTED]) + tail


def _most_moved(found: Transitions | None) -> str:
    """Name the failure category whose count changed most."""
    if found is None or not found.categories:
        return ""
    moves = [v - b for b, v in zip(found.baseline, found.variant, strict=True)]
    failing = [i for i, name in enumerate(found.categories) if name != "SUCCESS"]
    if not failing:
        return ""
    most = max(failing, key=lambda i: (abs(moves[i]), -i))
    if not moves[most]:
        return ""
    b, v = format_count(found.baseline[most]), format_count(found.variant[most])
    return f"{found.categories[most]} {b} → {v} questions"


# ---------------------------------------------------------------- oracle context


def _oracle_blocks(context: Context, diagnosis: Diagnosis) -> Iterator[Block]:
    if not diagnosis.oracle:
        return
    columns = (
        Column("metric"),
        Column("what"),
        Column("n", "r", "questions"),
        Column("from", "r"),
        Column("to", "r"),
        Column("delta", "r"),
        Column(f"{context.level} interval", "r"),
    )
    rows = []
    for metric, gap in diagnosis.oracle:
        for what, delta in (
            ("baseline: retrieved → oracle", gap.baseline),
            ("variant: retrieved → oracle", gap.variant),
            ("gap of the baseline → gap of the variant", gap.difference),
            ("oracle context: baseline → variant", gap.oracle),
        ):
            rows.append((metric, what, *_oracle_cells(context, metric, delta)))
    caption = _named(context, "Oracle context", diagnosis)
    yield Table(columns, tuple(rows), caption=caption)
    yield Bullets(tuple(gap.reading for _, gap in diagnosis.oracle))


def _oracle_cells(context: Context, metric: str, delta: Delta) -> tuple[str, ...]:
    return (
        format_count(delta.n_pairs),
        context.number(metric, delta.baseline),
        context.number(metric, delta.variant),
        context.number(metric, delta.delta, signed=True),
        context.interval(metric, delta.interval),
    )
