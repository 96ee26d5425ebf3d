"""`Comparison`: everything computed for one baseline and its variants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

from onechange.align import Audit, Pairs
from onechange.breakdowns import SliceTable
from onechange.composition import Composition
from onechange.delta import DeltaTable, MetricValues
from onechange.diagnosis import Diagnosis
from onechange.display import TableMixin
from onechange.errors import PairingError
from onechange.families import Family
from onechange.joint import JointDelta
from onechange.judge import LabelledMetric
from onechange.plan import Metric, Plan
from onechange.results import SourceFile
from onechange.statistic_deltas import Resamples, ResamplesKey
from onechange.stats.estimate import Note
from onechange.sweep import Sweep
from onechange.trials import TrialsTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ArmSummary", "Comparison"]


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """What was read for one arm."""

    name: str
    files: tuple[SourceFile, ...]
    n_rows: int
    n_trials: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(TableMixin):
    """Everything computed for one baseline and its variants (one audit per variant).

    Prints as the table of its overall deltas, in a notebook as well.

    `deltas` holds the overall deltas, metric by metric in the order of `metrics`
    (within a metric, variant by variant); the built-in rates stand in `rates`.
    `values` holds the question means behind them, by variant and metric name,
    `resamples` the bootstrap deltas of each quantile. `families` says which tests were
    adjusted together, `compositions` where run means and paired deltas differ, `sweep`
    what several variants say together, `joint` the deltas that decide about each of
    them, at the level at which all hold together. `diagnoses` says where questions
    changed along the pipeline, `labelled` what human labels say of judged metrics.
    """

    baseline: ArmSummary
    variants: tuple[ArmSummary, ...]
    audits: tuple[Audit, ...]
    pairs: tuple[Pairs, ...]
    metrics: tuple[Metric, ...]
    plan: Plan
    deltas: DeltaTable
    rates: DeltaTable
    slices: SliceTable
    trials: TrialsTable
    notes: tuple[Note, ...]
    signature: str
    values: dict[tuple[str, str], MetricValues]
    families: tuple[Family, ...] = ()
    compositions: tuple[Composition, ...] = ()
    sweep: Sweep | None = None
    joint: tuple[JointDelta, ...] = ()
    resamples: dict[ResamplesKey, Resamples] = field(default_factory=dict)
    diagnoses: tuple[Diagnosis, ...] = ()
    labelled: tuple[LabelledMetric, ...] = ()

    def __post_init__(self) -> None:
        for name in ("deltas", "rates"):
            object.__setattr__(self, name, DeltaTable(getattr(self, name)))
        object.__setattr__(self, "slices", SliceTable(self.slices))
        object.__setattr__(self, "trials", TrialsTable(self.trials))

    @property
    def audit(self) -> Audit:
        """The audit of the only variant.

        Raises
        ------
        PairingError
            With several variants, which have one each in `audits`.
        """
        if len(self.audits) != 1:
            raise PairingError(
                f"{len(self.audits)} variants have an audit each; read .audits."
            )
        return self.audits[0]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per overall delta."""
        return self.deltas.to_dicts()

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        metric: str | None = ...,
        by: str | None = ...,
        variant: str | None = ...,
        text: Literal[False] = ...,
    ) -> Figure: ...

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        metric: str | None = ...,
        by: str | None = ...,
        variant: str | None = ...,
        text: Literal[True],
        columns: int = ...,
    ) -> str: ...

    def plot(
        self,
        kind: str = "deltas",
        *,
        metric: str | None = None,
        by: str | None = None,
        variant: str | None = None,
        text: bool = False,
        columns: int = 100,
    ) -> Figure | str:
        """Draw the comparison.

        Parameters
        ----------
        kind : str
            ``deltas`` (every metric against what the plan allows), ``slices``,
            ``differences`` (every question and the bootstrap law), ``trials`` or
            ``flow`` (questions that got worse, stayed, got better).
        metric : str, optional
            For a picture of one metric; the primary or first one by default.
        by : str, optional
            Name of the breakdown, for slices.
        variant : str, optional
            The first by default.
        text : bool
            Draw the same figure with characters.
        columns : int
            Width of a figure of characters.

        Returns
        -------
        matplotlib.figure.Figure or str
            A notebook shows the figure, ``savefig`` writes it; a text is printed.
        """
        from onechange.drawings import draw, draw_text

        name = variant or self.variants[0].name
        if text:
            return draw_text(
                self,
                kind,
                plan=self.plan,
                variant=name,
                metric=metric,
                by=by,
                columns=columns,
            )
        return draw(self, kind, plan=self.plan, variant=name, metric=metric, by=by)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return self.deltas._cells()
