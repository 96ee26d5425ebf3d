"""Run means over all scored questions against the paired delta (Simpson's paradox).

A leaderboard averages each run over its own questions. Where the arms are scored on
different questions, the difference of these means is no effect of the change alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta
from onechange.display import format_number
from onechange.plan import SliceSpec
from onechange.slices import slice_questions
from onechange.stats.estimate import Note
from onechange.values import VariantValues

__all__ = ["Composition", "MixRow", "OneArmQuestion", "compositions"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
MAX_QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class OneArmQuestion:
    """A question scored in one arm only, and what it adds to the difference.

    Parameters
    ----------
    question_id : str
    arm : str
        ``baseline`` or ``variant``.
    score : float
        Its score in that arm.
    shift : float
        What it adds to the difference of the run means; all shifts add up to the
        difference of the run means less the paired delta.
    """

    question_id: str
    arm: str
    score: float
    shift: float


@dataclass(frozen=True, slots=True)
class MixRow:
    """How many questions of a slice there are, and how many are scored."""

    label: str
    n_questions: int
    n_pairs: int
    n_baseline: int
    n_variant: int


@dataclass(frozen=True, slots=True)
class Composition:
    """The difference of the run means against the paired delta of one metric.

    Parameters
    ----------
    metric, variant_name : str
    baseline, variant : float
        Mean over all questions scored in the arm.
    n_baseline, n_variant : int
        How many these are.
    difference : float
        Variant less baseline of these means.
    delta : float
        The paired delta.
    differs : bool
        Whether the two tell different stories: another sign, or further apart than
        half the width of the delta's interval.
    n_one_arm : int
        Questions scored in one arm only.
    questions : tuple of OneArmQuestion
        Those that shift the difference most, the largest first.
    mixes : tuple of (breakdown, tuple of MixRow)
        Slices of all questions, of the pairs, and of each arm's scored questions.
    """

    metric: str
    variant_name: str
    baseline: float
    variant: float
    n_baseline: int
    n_variant: int
    difference: float
    delta: float
    differs: bool
    n_one_arm: int
    questions: tuple[OneArmQuestion, ...]
    mixes: tuple[tuple[str, tuple[MixRow, ...]], ...] = ()

    def note(self, decimals: int) -> Note:
        """Write the note that travels with the delta."""
        whole = format_number(self.difference, decimals, signed=True)
        same = format_number(self.delta, decimals, signed=True)
        names = ", ".join(q.question_id for q in self.questions[:5])
        rest = self.n_one_arm - min(len(self.questions), 5)
        more = f" and {rest} more" if rest > 0 else ""
        text = (
            f"{self.metric}: the means of the runs differ by {whole}, those over the "
            f"same questions by {same}. The baseline is scored on {self.n_baseline} "
            f"questions, the variant on {self.n_variant}; in one arm only: "
            f"{names}{more}."
        )
        return Note("composition", text)


def compositions(
    variants: Sequence[VariantValues],
    deltas: Sequence[Delta],
    specs: Sequence[SliceSpec],
) -> tuple[Composition, ...]:
    """Compare run means with paired deltas wherever the arms' questions differ.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    deltas : sequence of Delta
        Overall mean deltas.
    specs : sequence of SliceSpec
        Breakdowns whose mix is compared.

    Returns
    -------
    tuple of Composition
        One per metric and variant in which some question is scored in one arm only.

    Notes
    -----
    The overall paired delta is always the pair-weighted mean of the slice deltas, so
    that Simpson's paradox can only show against the run means. A question scored in
    the variant alone shifts their difference by (score − mean of the pairs)/n_variant.
    """
    position = {variant.name: variant for variant in variants}
    found = []
    for delta in deltas:
        variant = position[delta.variant_name]
        if delta.statistic != "mean" or delta.delta is None:
            continue
        part = _composition(variant, delta, specs)
        if part is not None:
            found.append(part)
    return tuple(found)


def _composition(
    variant: VariantValues, delta: Delta, specs: Sequence[SliceSpec]
) -> Composition | None:
    values = variant.metrics[delta.metric]
    pair = values.complete
    scored = [np.isfinite(part) for part in (values.baseline, values.variant)]
    alone = [part & ~pair for part in scored]
    if not (alone[0].any() or alone[1].any()) or delta.delta is None:
        return None
    means = [
        float(np.mean(part[use]))
        for part, use in zip((values.baseline, values.variant), scored, strict=True)
    ]
    difference = means[1] - means[0]
    questions = sorted(
        (
            *_shifts(variant, "baseline", values.baseline, scored[0], pair),
            *_shifts(variant, "variant", values.variant, scored[1], pair),
        ),
        key=lambda question: (-abs(question.shift), question.question_id),
    )
    differs = _differs(difference, delta)
    return Composition(
        metric=delta.metric,
        variant_name=variant.name,
        baseline=means[0],
        variant=means[1],
        n_baseline=int(scored[0].sum()),
        n_variant=int(scored[1].sum()),
        difference=difference,
        delta=delta.delta,
        differs=differs,
        n_one_arm=len(questions),
        questions=tuple(questions[:MAX_QUESTIONS]),
        mixes=tuple(
            (spec.name, _mix(variant, spec, pair, scored[0], scored[1]))
            for spec in specs
        )
        if differs
        else (),
    )


def _differs(difference: float, delta: Delta) -> bool:
    own = delta.delta or 0.0
    noise = 1e-12 * max(abs(difference), abs(own), 1e-300)
    if difference * own < 0 and min(abs(difference), abs(own)) > noise:
        return True
    if delta.interval is None:
        return False
    return abs(difference - own) > (delta.interval.high - delta.interval.low) / 2


def _shifts(
    variant: VariantValues,
    arm: str,
    scores: FloatArray,
    scored: BoolArray,
    pair: BoolArray,
) -> list[OneArmQuestion]:
    """Find what each question scored in this arm alone adds to the difference."""
    alone = np.flatnonzero(scored & ~pair)
    sign = 1.0 if arm == "variant" else -1.0
    n, mean = int(scored.sum()), float(np.mean(scores[pair]))
    return [
        OneArmQuestion(
            question_id=str(variant.pairs.question_id[i]),
            arm=arm,
            score=float(scores[i]),
            shift=sign * (float(scores[i]) - mean) / n,
        )
        for i in alone
    ]


def _mix(
    variant: VariantValues,
    spec: SliceSpec,
    pair: BoolArray,
    baseline: BoolArray,
    by_variant: BoolArray,
) -> tuple[MixRow, ...]:
    return tuple(
        MixRow(
            label=" × ".join(text for _, text in part.label),
            n_questions=int(part.questions.sum()),
            n_pairs=int((part.questions & pair).sum()),
            n_baseline=int((part.questions & baseline).sum()),
            n_variant=int((part.questions & by_variant).sum()),
        )
        for part in slice_questions(variant.pairs, spec, everywhere=True)
    )
