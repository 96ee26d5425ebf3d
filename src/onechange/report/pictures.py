"""The pictures that go with a report, as SVG and PNG files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.drawings import draw
from onechange.errors import OnechangeError
from onechange.plots import FORMATS, picture
from onechange.report.context import Context, make_context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "pictures", "write_pictures"]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a report.

    Parameters
    ----------
    name : str
        Name of its files, without suffix.
    section : str
        Key of the section of the report that it belongs to.
    caption : str
        What it shows, for readers that do not see it.
    """

    name: str
    section: str
    caption: str


def pictures(
    result: Comparison | Decision | Decisions,
) -> Iterator[tuple[Picture, Figure]]:
    """Draw the pictures of a report, one after the other.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Yields
    ------
    picture : Picture
    figure : matplotlib.figure.Figure
    """
    context = make_context(result)
    metric = context.leading_metric
    for variant in context.comparison.variants:
        suffix = f"-{_file_name(variant.name)}" if context.several else ""
        of = f" ({variant.name})" if context.several else ""
        for shown, kind, by in _wanted(context, metric):
            named = Picture(shown.name + suffix, shown.section, shown.caption + of)
            yield (
                named,
                draw(
                    context.comparison,
                    kind,
                    plan=context.plan,
                    variant=variant.name,
                    metric=None if kind in ("deltas", "flow") else metric,
                    by=by,
                ),
            )


def write_pictures(
    result: Comparison | Decision | Decisions,
    folder: str | Path,
    *,
    formats: Sequence[str] = FORMATS,
) -> list[Picture]:
    """Write every picture.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.
    folder : str or Path
        Where to; made when absent.
    formats : sequence of str
        ``svg`` and ``png``; the Markdown report shows the first.

    Returns
    -------
    list of Picture
        What was written, as ``NAME.svg`` and ``NAME.png``.

    Raises
    ------
    OnechangeError
        When a file cannot be written.
    """
    target, written = Path(folder), []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for shown, figure in pictures(result):
            for format in formats:
                file = target / f"{shown.name}.{format}"
                file.write_bytes(picture(figure, format))
            written.append(shown)
    except OSError as error:
        raise OnechangeError(
            f"{target}: pictures cannot be written ({error.strerror}); choose a folder "
            "that you may write to."
        ) from error
    return written


def _wanted(
    context: Context, metric: str | None
) -> Iterator[tuple[Picture, str, str | None]]:
    """Pictures that the data can fill, with their kind and breakdown."""
    allowed = " against what the plan allows" if context.plan.has_rules else ""
    section = "rules" if context.decision else "metrics"
    text = f"Delta and interval of every metric{allowed}"
    yield Picture("deltas", section, text), "deltas", None
    if metric is None:
        return
    for by in dict.fromkeys(b.spec.name for b in context.comparison.slices):
        breakdown = next(b for b in context.comparison.slices if b.spec.name == by)
        if any(d.metric == metric and d.n_pairs for d in breakdown.deltas):
            text = f"Delta and interval of {metric} by {by}"
            yield Picture(f"slices-{_file_name(by)}", "slices", text), "slices", by
    trials = [row for row in context.comparison.trials if row.metric == metric]
    arms = [arm for row in trials for arm in (row.baseline, row.variant)]
    if any(len(arm.labels) > 1 for arm in arms):
        text = f"Mean of {metric} in every trial"
        yield Picture("trials", "trials", text), "trials", None
    text = f"{metric} of every question in both arms, and the law of its mean delta"
    yield Picture("differences", "questions", text), "differences", None
    text = "Questions that got worse, stayed the same and got better, by metric"
    yield Picture("flow", "questions", text), "flow", None


def _file_name(text: str) -> str:
    return _UNSAFE.sub("-", text).strip("-.") or "x"
