"""What became of one question: evidence in the context, grounded, failure category."""

from __future__ import annotations

from onechange.errors import InputError
from onechange.score.claims import citation_precision, correct_and_grounded
from onechange.score.failures import FailureFacts, failure_category
from onechange.score.families import NO_ANSWER, Scoring
from onechange.score.trace import Passages, Unit
from onechange.score.units import ranked_units

__all__ = ["categorise", "score_outcome"]


def score_outcome(scoring: Scoring) -> None:
    """Add ``correct``, ``grounded``, both together, and ``evidence_in_context``.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores, with those of answers and claims; changed in place.
    """
    trace, options, scores = scoring.trace, scoring.options, scoring.scores
    correct = trace.correct
    if trace.abstained:
        scoring.put("correct", None, NO_ANSWER)
    else:
        if correct is None and options.correct_from is not None:
            score = scores.get(options.correct_from)
            if score is not None:
                correct = float(score >= options.correct_threshold)
        scoring.put("correct", correct, "correctness is not recorded")
    faithful = scores.get("faithfulness")
    grounded = None if faithful is None else float(faithful >= 1.0)
    reason = scoring.reasons.get("faithfulness", "no claims are labelled")
    scoring.settle("grounded", grounded, reason)
    both = None
    if not trace.abstained:
        both = correct_and_grounded(_is_correct(scoring), scores.get("grounded"))
    reason = scoring.reasons.get("correct", reason)
    scoring.settle("correct_and_grounded", both, reason)
    present = evidence_present(scoring, scoring.context(), options.context)
    value = None if present is None else float(present)
    scoring.settle("evidence_in_context", value, _why_unknown(scoring))


def categorise(scoring: Scoring) -> tuple[str | None, str | None]:
    """Return the failure category, and the field that it lacks.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores, with the outcome.

    Returns
    -------
    tuple of (str or None)
        Category and, when undetermined, the missing field; (None, None) for a failed
        trace without a label.

    Raises
    ------
    InputError
        When a label names an unknown category.
    """
    trace, options = scoring.trace, scoring.options
    if trace.category is not None:
        if trace.category not in options.known_categories:
            raise InputError(
                f"question {trace.question_id!r}: category is {trace.category!r}; "
                f"expected {', '.join(options.known_categories)}, or declare it under "
                "[score] categories"
            )
        return trace.category, None
    if trace.failed:
        return None, None
    return failure_category(_facts(scoring), noise_threshold=options.noise_threshold)


def evidence_present(
    scoring: Scoring, passages: Passages | None, name: str
) -> bool | None:
    """Say whether the labelled evidence stands among some passages.

    Parameters
    ----------
    scoring : Scoring
        Gathered scores, for labels, unit and rule.
    passages : Passages or None
        Where to look.
    name : str
        Name of that list, for messages.

    Returns
    -------
    bool or None
        None when nothing is labelled or recorded in this unit.
    """
    wanted = _wanted(scoring)
    units = _units(scoring, passages, name)
    if not wanted or units is None:
        return None
    found = wanted & set(units)
    return found == wanted if scoring.options.evidence_rule == "all" else bool(found)


def _facts(scoring: Scoring) -> FailureFacts:
    trace, options = scoring.trace, scoring.options
    candidates, name = trace.candidates, "candidates"
    if candidates is None:
        candidates, name = trace.retrieved, "retrieved"
    correct = _is_correct(scoring)
    grounded = scoring.scores.get("grounded")
    in_context = scoring.scores.get("evidence_in_context")
    among = evidence_present(scoring, candidates, name)
    if trace.evidence_in_corpus is False and (in_context or among):
        raise InputError(
            f"question {trace.question_id!r}: evidence_in_corpus is false, but the "
            f"labelled evidence is among the {'context' if in_context else name}; "
            "correct one of the two"
        )
    if candidates is not trace.retrieved and among is False:
        _refuse_found_later(scoring)
    return FailureFacts(
        answerable=trace.answerable,
        labelled=bool(_wanted(scoring)),
        abstained=None if trace.status is None else trace.abstained,
        in_corpus=True if options.assume_indexed else trace.evidence_in_corpus,
        in_one_chunk=True if options.assume_indexed else trace.evidence_in_one_chunk,
        among_candidates=among,
        in_context=None if in_context is None else bool(in_context),
        irrelevant_share=_irrelevant_share(scoring),
        correct=None if correct is None else correct >= 1.0,
        faithful=None if grounded is None else grounded >= 1.0,
        citations_support=_citations_support(scoring),
    )


def _refuse_found_later(scoring: Scoring) -> None:
    """Refuse results that hold evidence which was no candidate: they rank those."""
    if evidence_present(scoring, scoring.trace.retrieved, "retrieved"):
        raise InputError(
            f"question {scoring.trace.question_id!r}: the labelled evidence is among "
            "retrieved but not among candidates, which are what retrieved is ranked "
            "from; correct one of the two, or leave candidates out"
        )


def _is_correct(scoring: Scoring) -> float | None:
    """1 or 0 by the stated threshold; None when correctness is not known."""
    correct = scoring.scores.get("correct")
    return None if correct is None else float(correct >= _threshold(scoring))


def _threshold(scoring: Scoring) -> float:
    return 1.0 if scoring.trace.correct is None else scoring.options.correct_threshold


def _citations_support(scoring: Scoring) -> bool | None:
    made = scoring.trace.claims or ()
    if not any(claim.cited for claim in made):
        return None if scoring.trace.cited else True
    precision = citation_precision(made)
    return None if precision is None else precision >= 1.0


def _irrelevant_share(scoring: Scoring) -> float | None:
    units = _units(scoring, scoring.context(), scoring.options.context)
    wanted = _wanted(scoring)
    if not units or not wanted:
        return None
    return sum(unit not in wanted for unit in units) / len(units)


def _wanted(scoring: Scoring) -> set[Unit]:
    return {unit for unit, grade in (scoring.evidence or {}).items() if grade > 0}


def _units(
    scoring: Scoring, passages: Passages | None, name: str
) -> tuple[Unit, ...] | None:
    if passages is None:
        return None
    place = f"question {scoring.trace.question_id!r}: {name}"
    pages = scoring.options.chunk_pages
    return ranked_units(passages, scoring.unit, pages, place=place)[0]


def _why_unknown(scoring: Scoring) -> str:
    if not scoring.evidence:
        return "no labelled evidence"
    if scoring.context() is None:
        return f"no {scoring.options.context} context is recorded"
    return f"the {scoring.options.context} context does not name a {scoring.unit}"
