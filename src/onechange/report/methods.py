"""The methods paragraph: what was computed, in words a paper can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from onechange import __version__
from onechange.compare import ArmSummary, Comparison
from onechange.delta import Delta
from onechange.display import format_count, format_percent
from onechange.report.clusters import cluster_sentence
from onechange.report.context import Context, shown_rates
from onechange.report.document import Block, Bullets, Column, Paragraph, Section, Table
from onechange.report.judge import CORRECTIONS, corrections
from onechange.report.references import REFERENCES, Reference
from onechange.stats.estimate import Interval

__all__ = ["MethodsText", "methods_paragraph", "methods_section"]

# Name of a method -> what it is, and what it rests on.
INTERVALS: dict[str, tuple[str, tuple[str, ...]]] = {
    "newcombe": ("Newcombe's square-and-add interval (method 10)", ("newcombe1998",)),
    "newcombe-cluster": (
        "Newcombe's square-and-add interval widened by the design effect of the "
        "clusters",
        ("newcombe1998", "bell2002", "pustejovsky2018"),
    ),
    "tango": ("Tango's score interval", ("tango1998",)),
    "bonett-price": ("the Bonett–Price interval", ("bonett2012",)),
    "agresti-min": ("the Agresti–Min adjusted Wald interval", ()),
    "wald": ("the Wald interval", ()),
    "t": ("the paired t interval", ()),
    "guarded-t": (
        "the guarded t interval (the paired t interval with one pair of "
        "pseudo-differences added to the spread)",
        (),
    ),
    "sign-flip": (
        "the inversion of the sign-flip test",
        ("fisher1935", "hartigan1969"),
    ),
    "sign-flip+guarded-t": (
        "at each end the wider of the sign-flip interval (the inversion of the "
        "sign-flip test) and the guarded t interval (the paired t interval with one "
        "pair of pseudo-differences added to the spread)",
        ("fisher1935", "hartigan1969"),
    ),
    "percentile": ("the percentile bootstrap interval", ("efron1993",)),
    "expanded-percentile": (
        "the expanded percentile bootstrap interval",
        ("efron1993", "hesterberg2015"),
    ),
    "basic": ("the basic bootstrap interval", ("efron1993",)),
    "bca": ("the BCa bootstrap interval", ("efron1993",)),
    "studentized": ("the studentized bootstrap interval", ("efron1993",)),
    "bayesian": ("the Bayesian bootstrap interval", ()),
    "cr2-t": (
        "the cluster-robust CR2 variance with Bell–McCaffrey degrees of freedom",
        ("bell2002", "pustejovsky2018"),
    ),
    "guarded-cr2-t": (
        "the cluster-robust CR2 variance with a guard and Bell–McCaffrey degrees of "
        "freedom",
        ("bell2002", "pustejovsky2018"),
    ),
    "two-way": (
        "at each end the wider of the question-only interval and a t interval that "
        "adds the variance between trials",
        ("satterthwaite1946",),
    ),
    "fieller": ("Fieller's interval", ("fieller1954",)),
    "guarded-fieller": ("Fieller's interval with a guard", ("fieller1954",)),
    "hall": ("Hall's transformed t interval", ("hall1992",)),
    "guarded-t+hall": (
        "at each end the wider of the guarded t interval and Hall's transformed t "
        "interval",
        ("hall1992",),
    ),
    "guarded-t+hall-cluster": (
        "at each end the widest of the cluster-robust CR2 interval with a guard, the "
        "same corrected for the skewness of the clusters' totals, and the wider of the "
        "guarded t interval and Hall's transformed t interval widened by the design "
        "effect of the clusters",
        ("hall1992", "bell2002", "pustejovsky2018"),
    ),
    "wilson": ("the Wilson interval", ("wilson1927",)),
    "wilson-cluster": (
        "the Wilson interval widened by the design effect of the clusters",
        ("wilson1927", "bell2002", "pustejovsky2018"),
    ),
    "order-statistics": ("exact binomial order statistics", ()),
}
INTERVALS |= {
    f"{name}-cluster": (
        f"{INTERVALS[name][0]} widened by the design effect of the clusters",
        (*INTERVALS[name][1], "bell2002", "pustejovsky2018"),
    )
    for name in ("tango", "bonett-price", "agresti-min", "wald")
}
TESTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sign-flip": ("the sign-flip test", ("fisher1935",)),
    "mcnemar-midp": ("the mid-p McNemar test", ("mcnemar1947", "fagerland2013")),
    "mcnemar-exact": ("the exact McNemar test", ("mcnemar1947",)),
    "mcnemar-asymptotic": ("the asymptotic McNemar test", ("mcnemar1947",)),
    "t": ("the paired t test", ()),
    "wilcoxon": ("the Wilcoxon signed-rank test", ()),
}
ADJUSTMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "max-t": ("step-down max-T with shared sign flips", ("westfall1993",)),
    "holm": ("Holm's method", ("holm1979",)),
    "bh": ("the false discovery rate", ("benjamini1995",)),
}
TOGETHER: dict[str, tuple[str, tuple[str, ...]]] = {
    "heterogeneity": ("Cochran's Q under sign flips", ("cochran1954",)),
    "weighted": (
        "combining the slices' intervals (MOVER), by CR2 where clusters cross slices",
        ("zou2008",),
    ),
    "related": ("Cochran's Q over all arms", ("cochran1950",)),
}


@dataclass(frozen=True, slots=True)
class MethodsText:
    """The paragraph and the works it cites, in the order of the reference list."""

    text: str
    references: tuple[Reference, ...]


def methods_paragraph(comparison: Comparison) -> MethodsText:
    """Describe in one paragraph how the figures of a comparison were computed.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    MethodsText
        The paragraph, and only the references of methods that were used.
    """
    cited: list[str] = []
    sentences = [
        *_design(comparison),
        *_intervals(comparison, cited),
        *_corrections(comparison, cited),
        *_tests(comparison, cited),
        *_slices(comparison, cited),
        *_missing(comparison, cited),
        *_trials(comparison, cited),
    ]
    sentences.append(f"Computed with onechange {__version__}.")
    used = [key for key in REFERENCES if key in cited]
    return MethodsText(" ".join(sentences), tuple(REFERENCES[key] for key in used))


def methods_section(context: Context) -> Section:
    """Build the section on methods, versions and hashes."""
    methods = methods_paragraph(context.comparison)
    blocks: list[Block] = [Paragraph(methods.text)]
    if methods.references:
        blocks.append(
            Bullets(tuple(reference.text for reference in methods.references))
        )
    blocks.append(_inputs_table(context))
    if context.plan.sha256:
        blocks.append(Paragraph(context.plan.sha256, "Plan SHA-256"))
    return Section("methods", "Method and references", (), tuple(blocks))


# ---------------------------------------------------------------- sentences


def _design(comparison: Comparison) -> Iterator[str]:
    audit = comparison.audits[0]
    yield (
        f"The arms were paired question by question ({format_count(audit.paired)} "
        "questions); the delta is the mean score of the variant minus that of the "
        "baseline over the questions scored in both arms."
    )
    if max(audit.trials) > 1:
        yield (
            "Each question's trials were averaged within its arm first, so trials do "
            "not count as independent questions."
        )
    sentence = cluster_sentence(comparison.deltas)
    if sentence:
        yield sentence


def _intervals(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    level = format_percent(comparison.plan.analysis.confidence_level)
    overall = _overall(comparison)
    groups = _by_method(overall, lambda delta: delta.interval)
    if groups:
        parts = [
            f"{_described(INTERVALS, method, cited)} for {_listed(metrics)}"
            for method, metrics in groups.items()
        ]
        yield f"{level} intervals: {'; '.join(parts)}."
    bootstrap = _by_method(overall, lambda delta: delta.bootstrap_interval)
    permutation = _by_method(overall, lambda delta: delta.permutation_interval)
    beside = [
        _described(INTERVALS, method, cited) for method in (*bootstrap, *permutation)
    ]
    sentence = _resampling(comparison)
    if sentence:
        yield sentence
    if beside:
        yield f"Beside them stand {' and '.join(dict.fromkeys(beside))}."
    limits = {
        metric
        for rule in comparison.plan.guardrails
        if rule.limit is not None
        for metric in (rule.metric,)
    }
    own = _by_method(
        [d for d in overall if d.metric in limits], lambda delta: delta.variant_interval
    )
    for method, metrics in own.items():
        words = _described(INTERVALS, method, cited)
        yield f"Interval of the variant's own value of {_listed(metrics)}: {words}."


def _corrections(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    for method, metrics in corrections(comparison.labelled).items():
        words = _described(CORRECTIONS, method, cited)
        yield f"Rules on {_listed(metrics)} apply to {words}."


def _resampling(comparison: Comparison) -> str:
    analysis = comparison.plan.analysis
    if analysis.resampling == "poisson":
        return (
            "Bootstrap resamples take each question a Poisson(1) number of times, "
            "independently."
        )
    if analysis.resampling == "stratified":
        return (
            f"Bootstrap resamples keep the number of questions of every "
            f"{analysis.strata}."
        )
    return ""


def _tests(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for delta in _overall(comparison):
        if delta.test is not None and delta.test.pvalue is not None:
            groups.setdefault(delta.test.method, []).append(delta.metric)
    if groups:
        parts = [
            f"{_described(TESTS, method, cited)} for {_listed(metrics)}"
            for method, metrics in groups.items()
        ]
        yield f"Two-sided p-values: {'; '.join(parts)}."
    sampled = _resamples(comparison)
    if sampled:
        analysis = comparison.plan.analysis
        yield (
            f"What cannot be computed exactly was sampled {format_count(sampled)} "
            f"times with seed {analysis.seed}."
        )


def _slices(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    method = comparison.plan.analysis.adjust
    if comparison.families and method in ADJUSTMENTS:
        words = _described(ADJUSTMENTS, method, cited)
        families = "; ".join(family.members for family in comparison.families)
        each = "each family" if len(comparison.families) > 1 else "one family"
        yield (
            f"p-values are adjusted by {words} in {each} of tests ({families}); "
            "simultaneous intervals are decision intervals at the level at which all "
            "of them hold."
        )
    if any(b.heterogeneity for b in comparison.slices):
        words = _described(TOGETHER, "heterogeneity", cited)
        yield f"Whether slices differ is tested by {words}."
    if any(b.weighted for b in comparison.slices):
        words = _described(TOGETHER, "weighted", cited)
        yield f"The interval of a stated mix of slices is had by {words}."
    if comparison.sweep is not None and comparison.sweep.related:
        words = _described(TOGETHER, "related", cited)
        yield f"Whether several arms have one share is tested by {words}."


def _missing(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    if any(
        d.bounds is not None and d.bounds.low is not None for d in comparison.deltas
    ):
        words = _described(
            {"bounds": ("worst-case bounds over the declared range", ("manski1990",))},
            "bounds",
            cited,
        )
        yield (
            f"Questions without a score in one arm are left out; {words} show what "
            "they could change."
        )


def _overall(comparison: Comparison) -> list[Delta]:
    return [*comparison.deltas, *shown_rates(comparison, comparison.plan)]


def _trials(comparison: Comparison, cited: list[str]) -> Iterator[str]:
    rows = comparison.trials
    if not any(row.delta and row.delta.runs for row in rows):
        return
    cited.append("shrout1979")
    yield (
        "Variance between questions, whole runs and answers, and from it intraclass "
        "correlations, was estimated by moments of the question × trial tables "
        f"({REFERENCES['shrout1979'].citation}); whole runs count in an interval where "
        "the F test of the trials has p < 0.2."
    )
    if any(arm.pass_rates for row in rows for arm in (row.baseline, row.variant)):
        cited.append("chen2021")
        yield f"pass@k is unbiased ({REFERENCES['chen2021'].citation})."


def _described(
    names: dict[str, tuple[str, tuple[str, ...]]], method: str, cited: list[str]
) -> str:
    words, keys = names.get(method, (method, ()))
    new = [key for key in keys if key not in cited]
    cited.extend(new)
    if not new:
        return words
    return f"{words} ({'; '.join(REFERENCES[key].citation for key in new)})"


def _by_method(
    deltas: Iterable[Delta], part: Callable[[Delta], Interval | None]
) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for delta in deltas:
        interval = part(delta)
        if interval is not None:
            groups.setdefault(interval.method, []).append(delta.metric)
    return groups


def _listed(metrics: Iterable[str]) -> str:
    names = list(dict.fromkeys(metrics))
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _resamples(comparison: Comparison) -> int | None:
    parts = [d for breakdown in comparison.slices for d in breakdown.deltas]
    for delta in (*_overall(comparison), *parts):
        for found in (delta.interval, delta.bootstrap_interval, delta.test):
            if found is not None and found.n_resamples is not None:
                return found.n_resamples
    return None


# ---------------------------------------------------------------- inputs


def _inputs_table(context: Context) -> Table:
    comparison = context.comparison
    rows = [
        row
        for arm in (comparison.baseline, *comparison.variants)
        for row in _files(arm)
    ]
    columns = (
        Column("arm"),
        Column("file"),
        Column("SHA-256"),
        Column("rows", "r"),
        Column("trials", "r"),
    )
    return Table(columns, tuple(rows))


def _files(arm: ArmSummary) -> list[tuple[str, ...]]:
    counts = (format_count(arm.n_rows), format_count(arm.n_trials))
    if not arm.files:
        return [(arm.name, "data frame", "–", *counts)]
    return [
        (arm.name, file.name, file.sha256, *(counts if i == 0 else ("", "")))
        for i, file in enumerate(arm.files)
    ]
