"""The scores of one trace, family by family, each with its reason when unscored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from onechange.errors import InputError
from onechange.score import answers, claims, numbers
from onechange.score.options import ScoreOptions
from onechange.score.retrieval import (
    DepthPlan,
    answer_in_context,
    column_name,
)
from onechange.score.trace import ROUNDING, Claim, Passages, Trace, Unit, in_range
from onechange.score.units import EvidenceUnits, project_evidence, ranked_units

__all__ = [
    "Scoring",
    "score_answer",
    "score_claims",
    "score_facts",
    "score_finished",
    "score_retrieval",
]

NO_ANSWER = "no answer was given"
_ANSWER_COLUMNS = ("exact_match", "token_f1", "numeric_match", "rouge_l")
_ABSTENTION_COLUMNS = ("abstention_correct", "false_answer", "false_abstention")
_UNIT_RANGE = frozenset(
    {
        *_ANSWER_COLUMNS,
        *_ABSTENTION_COLUMNS,
        "faithfulness",
        "contradiction_rate",
        "context_recall",
        "context_precision",
        "citation_precision",
        "citation_recall",
        "cited_in_context",
        "correct",
        "correct_and_grounded",
        "grounded",
        "evidence_in_context",
        "supporting_fact_em",
        "supporting_fact_f1",
        "joint_em",
        "joint_f1",
    }
)
_AT_DEPTH = re.compile(
    r"(?:page_|document_)?(?:hit|precision|precision_returned|recall|rr|ap|ndcg"
    r"|context_precision_ranked|evidence_complete|answer_in_context)_at_[0-9]+"
)


@dataclass(slots=True)
class Scoring:
    """Scores of one trace as they are gathered; None = unscored, with a reason.

    Parameters
    ----------
    trace : Trace
        What was recorded.
    options : ScoreOptions
        What to compute.
    unit : str
        ``chunk``, ``page`` or ``document``.
    evidence : dict or None
        Labels in that unit; None when there are none in it.
    scores : dict of str to (float or None)
        Column to score.
    reasons : dict of str to str
        Column to the reason why it is unscored.
    """

    trace: Trace
    options: ScoreOptions
    unit: str
    evidence: EvidenceUnits | None
    scores: dict[str, float | None]
    reasons: dict[str, str]

    @classmethod
    def start(cls, trace: Trace, options: ScoreOptions, unit: str) -> Scoring:
        """Begin with the labels in the unit of the run."""
        evidence = None
        if trace.evidence is not None:
            evidence = project_evidence(trace.evidence, unit, options.chunk_pages)
        return cls(trace, options, unit, evidence, {}, {})

    def put(self, name: str, value: float | None, reason: str) -> None:
        """Keep a score, or the reason why there is none."""
        self.scores[name] = value
        if value is None:
            self.reasons[name] = reason

    def settle(self, name: str, value: float | None, reason: str) -> None:
        """Keep a computed score beside a finished one, which it must agree with."""
        given = self.scores.get(name)
        if given is None:
            self.put(name, value, reason)
        elif value is not None and abs(value - given) > ROUNDING:
            raise InputError(
                f"question {self.trace.question_id!r}: scores.{name} is {given!r}, but "
                f"the trace itself gives {value!r}; remove one of the two"
            )

    def leave(self, names: tuple[str, ...], reason: str) -> None:
        """Leave several columns unscored for one reason."""
        self.scores.update(dict.fromkeys(names))
        self.reasons.update(dict.fromkeys(names, reason))

    def context(self) -> Passages | None:
        """Return the recorded list that the model saw."""
        trace = self.trace
        return trace.selected if self.options.context == "selected" else trace.retrieved


def score_retrieval(scoring: Scoring, *, texts: bool) -> None:
    """Score the ranked list against the labels.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores; changed in place.
    texts : bool
        Whether to look for the reference answer in the texts.
    """
    options, trace, unit = scoring.options, scoring.trace, scoring.unit
    names = DepthPlan.make(options.k, unit, options.gain).names
    in_context = _in_context_columns(options.k, unit)
    passages = getattr(trace, options.ranking)
    if passages is None:
        reason = f"no {options.ranking} results are recorded"
        scoring.leave(names + in_context if texts else names, reason)
        return
    place = f"question {trace.question_id!r}: {options.ranking}"
    units, entries = ranked_units(passages, unit, options.chunk_pages, place=place)
    if texts:
        _score_in_context(scoring, in_context, entries, len(passages))
    if scoring.evidence is None:
        reason = "no labelled evidence"
        if trace.evidence is not None:
            reason = f"the evidence is not labelled by {unit}"
        scoring.leave(names, reason)
    elif units is None:
        scoring.leave(names, f"the {options.ranking} results do not name a {unit}")
    else:
        _score_ranking(scoring, units)


def score_answer(scoring: Scoring, *, abstention: bool) -> None:
    """Score the answer against the references, and the abstention.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores; changed in place.
    abstention : bool
        Whether the file says which questions are answerable.
    """
    trace, options = scoring.trace, scoring.options
    names = _ANSWER_COLUMNS if options.rouge_l else _ANSWER_COLUMNS[:-1]
    if trace.abstained:
        scoring.leave(names, NO_ANSWER)
    elif trace.answer is None:
        scoring.leave(names, "no answer is recorded")
    elif not trace.reference:
        scoring.leave(names, "no reference answer")
    else:
        given, wanted = trace.answer, trace.reference
        scoring.scores["exact_match"] = answers.exact_match(given, wanted)
        scoring.scores["token_f1"] = answers.token_f1(given, wanted)
        number = numbers.numeric_match(
            given, wanted, relative_tolerance=options.relative_tolerance
        )
        scoring.put("numeric_match", number, "the reference holds no number")
        if options.rouge_l:
            scoring.scores["rouge_l"] = answers.rouge_l(given, wanted)
    if not abstention:
        return
    if trace.answerable is None:
        scoring.leave(_ABSTENTION_COLUMNS, "answerable is not recorded")
    elif trace.status is None:
        scoring.leave(_ABSTENTION_COLUMNS, "no answer is recorded")
    else:
        scoring.scores.update(
            answers.abstention_scores(
                abstained=trace.abstained, answerable=trace.answerable
            )
        )


def score_facts(scoring: Scoring) -> None:
    """Score the supporting facts, alone and jointly with the answer.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores; changed in place.
    """
    trace = scoring.trace
    names = ("supporting_fact_em", "supporting_fact_f1", "joint_em", "joint_f1")
    if not trace.reference_facts:
        scoring.leave(names, "no supporting fact is labelled")
        return
    if trace.supporting_facts is None:
        scoring.leave(names, "no supporting facts are recorded")
        return
    facts = answers.supporting_fact_scores(
        trace.supporting_facts, trace.reference_facts
    )
    scoring.scores["supporting_fact_em"] = facts.exact_match
    scoring.scores["supporting_fact_f1"] = facts.f1
    if trace.abstained or trace.answer is None or not trace.reference:
        reason = "no reference answer" if not trace.reference else NO_ANSWER
        scoring.leave(names[2:], reason)
        return
    joint_em, joint_f1 = answers.joint_scores(trace.answer, trace.reference, facts)
    scoring.scores["joint_em"], scoring.scores["joint_f1"] = joint_em, joint_f1


def score_claims(scoring: Scoring, *, steps: bool, references: bool) -> None:
    """Score claims, citations and the recall of the reference's claims.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores; changed in place.
    steps : bool
        Whether some claim of the file names a step.
    references : bool
        Whether some trace of the file labels the claims of the reference.
    """
    trace = scoring.trace
    if references:
        recall = claims.context_recall(trace.reference_claims or ())
        scoring.put("context_recall", recall, "no reference claims are labelled")
    made = None if trace.abstained else trace.claims
    reason = NO_ANSWER if trace.abstained else "no claims are labelled"
    _score_claim_labels(scoring, made or (), reason, steps=steps)
    if trace.abstained:
        scoring.leave(("citation_precision", "citation_recall"), NO_ANSWER)
        scoring.leave(("cited_in_context",), NO_ANSWER)
        return
    _score_citations(scoring, made or ())


def score_finished(scoring: Scoring, finished: Mapping[str, float]) -> None:
    """Take over scores that come finished, checked against range and status.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores; changed in place.
    finished : mapping of str to float
        Name to finite number.

    Raises
    ------
    InputError
        If a number is outside its range or contradicts a computed score.
    """
    trace, options = scoring.trace, scoring.options
    for name, given in finished.items():
        value = _checked_range(scoring, name, given)
        if trace.abstained and name not in options.kept_when_abstaining:
            if scoring.scores.get(name) is None:
                reason = f"{NO_ANSWER}; the recorded {value:g} is not used"
                scoring.leave((name,), reason)
            continue
        own = scoring.scores.get(name)
        if own is not None and abs(own - value) > ROUNDING:
            raise InputError(
                f"question {trace.question_id!r}: scores.{name} is {value!r}, but the "
                f"trace itself gives {own!r}; remove one of the two"
            )
        scoring.scores[name] = value if own is None else own  # the other is rounded
        scoring.reasons.pop(name, None)
    if trace.cosines is not None and "answer_relevance" not in finished:
        mean = None if trace.abstained else claims.answer_relevance(trace.cosines)
        scoring.put("answer_relevance", mean, NO_ANSWER)


def _score_ranking(scoring: Scoring, units: tuple[Unit, ...]) -> None:
    options, unit = scoring.options, scoring.unit
    plan = DepthPlan.make(options.k, unit, options.gain)
    wanted = scoring.evidence or {}
    if 0.0 in wanted.values():
        wanted = {label: grade for label, grade in wanted.items() if grade > 0}
    if not wanted:
        unanswerable = scoring.trace.answerable is False
        scores = plan.without_evidence(unanswerable=unanswerable)
        reason = "the question has no labelled evidence"
        unscored = [name for name, value in scores.items() if value is None]
        scoring.reasons.update(dict.fromkeys(unscored, reason))
    elif unit != "chunk" and options.positions == "results":
        scores = plan.scores(units, wanted, distinct=False)
    else:
        if unit != "chunk":
            units = tuple(dict.fromkeys(units))
        scores = plan.scores(units, wanted, distinct=True)
    scoring.scores.update(scores)


def _score_in_context(
    scoring: Scoring,
    names: tuple[str, ...],
    entries: tuple[str | None, ...] | None,
    n_results: int,
) -> None:
    trace = scoring.trace
    if not trace.reference:
        scoring.leave(names, "no reference answer")
        return
    if entries is None:
        if n_results:
            scoring.leave(names, "the results have no text")
            return
        entries = ()
    for depth, name in zip(scoring.options.k, names, strict=True):
        texts = [text for text in entries[:depth] if text is not None]
        if len(texts) < len(entries[:depth]):
            scoring.leave((name,), "a result has no text")
            continue
        value = answer_in_context(texts, trace.reference, k=depth)
        scoring.put(name, value, "the reference is empty after normalisation")


def _score_claim_labels(
    scoring: Scoring, made: tuple[Claim, ...], reason: str, *, steps: bool
) -> None:
    scoring.put("faithfulness", claims.faithfulness(made), reason)
    scoring.put("contradiction_rate", claims.contradiction_rate(made), reason)
    if not steps:
        return
    by_step = claims.step_faithfulness(made)
    for step, value in by_step.items():
        scoring.scores[f"step_faithfulness_{step}"] = value
    lowest = min(by_step.values(), default=None)
    no_step = "the claims name no step" if made else reason
    scoring.put("step_faithfulness_min", lowest, no_step)


def _score_citations(scoring: Scoring, made: tuple[Claim, ...]) -> None:
    trace = scoring.trace
    cited = claims.citations_made(made, trace.cited)
    if cited is None:
        names = ("citation_precision", "citation_recall", "cited_in_context")
        scoring.leave(names, "no citations are recorded")
        return
    nothing = "nothing is cited" if not cited else "no claim says what supports it"
    scoring.put("citation_precision", claims.citation_precision(made), nothing)
    incomplete = "no claim needs a citation, or not every one records its citations"
    scoring.put("citation_recall", claims.citation_recall(made), incomplete)
    context = scoring.context()
    if context is None:
        scoring.leave(("cited_in_context",), "no selected context is recorded")
    else:
        share = claims.cited_in_context(cited, context)
        scoring.put("cited_in_context", share, "nothing is cited")


def _checked_range(scoring: Scoring, name: str, value: float) -> float:
    """Return a finished score; one beyond its range by more than rounding is none."""
    limits = scoring.options.ranges.get(name)
    if limits is None and name == "answer_relevance":
        limits = (-1.0, 1.0)
    if limits is None and _is_share(name.removeprefix("oracle_")):
        limits = (0.0, 1.0)
    if limits is None:
        return value
    number = in_range(value, *limits)
    if number is None:
        raise InputError(
            f"question {scoring.trace.question_id!r}: scores.{name} is {value!r}, "
            f"outside [{limits[0]:g}, {limits[1]:g}]"
        )
    return number


@lru_cache(maxsize=1024)
def _is_share(name: str) -> bool:
    """Whether a score of this name lies between 0 and 1 by its definition."""
    return (
        name in _UNIT_RANGE
        or name.startswith("step_faithfulness")
        or _AT_DEPTH.fullmatch(name) is not None
    )


@lru_cache(maxsize=64)
def _in_context_columns(k: tuple[int, ...], unit: str) -> tuple[str, ...]:
    return tuple(column_name("answer_in_context", depth, unit) for depth in k)
