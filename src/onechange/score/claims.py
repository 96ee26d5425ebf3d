"""Scores from labelled claims and citations; `None` means unscored, never zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onechange.score.trace import Claim, Passages, Unit

__all__ = [
    "answer_relevance",
    "citation_precision",
    "citation_recall",
    "citations_made",
    "cited_in_context",
    "context_recall",
    "contradiction_rate",
    "correct_and_grounded",
    "faithfulness",
    "step_faithfulness",
]


def faithfulness(claims: Sequence[Claim]) -> float | None:
    """Return supported claims over all claims.

    Parameters
    ----------
    claims : sequence of Claim

    Returns
    -------
    float or None
        None without claims.

    Examples
    --------
    >>> claims = [Claim("supported"), Claim("contradicted"), Claim("unsupported")]
    >>> round(faithfulness(claims), 4)
    0.3333
    """
    return _share(claim.label == "supported" for claim in claims)


def contradiction_rate(claims: Sequence[Claim]) -> float | None:
    """Return contradicted claims over all claims.

    Parameters
    ----------
    claims : sequence of Claim

    Returns
    -------
    float or None
        None without claims.

    Examples
    --------
    >>> contradiction_rate([Claim("supported"), Claim("contradicted")])
    0.5
    """
    return _share(claim.label == "contradicted" for claim in claims)


def step_faithfulness(claims: Sequence[Claim]) -> dict[str, float]:
    """Return faithfulness for each step of a multi-step run.

    Parameters
    ----------
    claims : sequence of Claim
        Claims without a step are left out.

    Returns
    -------
    dict of str to float
        Step to faithfulness, in order of appearance; its minimum is the score of the
        run.

    Examples
    --------
    >>> claims = [Claim("supported", step="1"), Claim("unsupported", step="2")]
    >>> step_faithfulness(claims)
    {'1': 1.0, '2': 0.0}
    """
    steps: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.step is not None:
            steps.setdefault(claim.step, []).append(claim)
    return {
        step: sum(claim.label == "supported" for claim in made) / len(made)
        for step, made in steps.items()
    }


def context_recall(attributable: Sequence[bool]) -> float | None:
    """Return reference claims attributable to the context over all reference claims.

    Parameters
    ----------
    attributable : sequence of bool
        One entry for each claim of the reference answer.

    Returns
    -------
    float or None
        None without reference claims.

    Examples
    --------
    >>> context_recall([True, True, False, True])
    0.75
    """
    return _share(attributable)


def citation_precision(claims: Sequence[Claim]) -> float | None:
    """Return citations that support their claim over citations made.

    Parameters
    ----------
    claims : sequence of Claim
        Claims that cite must say what supports them.

    Returns
    -------
    float or None
        None when nothing is cited, or a citing claim does not say what supports it.

    Examples
    --------
    >>> citation_precision([Claim("supported", cited=("p1", "p3"), supporting=("p1",))])
    0.5
    """
    made = supporting = 0
    for claim in claims:
        if not claim.cited:
            continue
        if claim.supporting is None:
            return None
        made += len(claim.cited)
        supporting += len(set(claim.cited) & set(claim.supporting))
    return supporting / made if made else None


def citation_recall(claims: Sequence[Claim]) -> float | None:
    """Return claims with a supporting citation over claims that need one.

    Parameters
    ----------
    claims : sequence of Claim
        Citations must be recorded for every claim that needs one (an empty list when
        it cites nothing).

    Returns
    -------
    float or None
        None when no claim needs a citation, or the record of one is not complete.

    Examples
    --------
    >>> citation_recall([
    ...     Claim("supported", cited=("p1",), supporting=("p1", "p2")),
    ...     Claim("supported", cited=(), supporting=("p2",)),
    ... ])
    0.5
    """
    verdicts = []
    for claim in claims:
        if not claim.needs_citation:
            continue
        if claim.cited is None or (claim.cited and claim.supporting is None):
            return None
        verdicts.append(bool(set(claim.cited) & set(claim.supporting or ())))
    return _share(verdicts)


def citations_made(
    claims: Sequence[Claim] | None, cited: Sequence[Unit] | None
) -> list[Unit] | None:
    """List every citation of an answer: those of its claims, else of the whole.

    Parameters
    ----------
    claims : sequence of Claim or None
    cited : sequence of unit or None
        What the answer as a whole cites; used when no claim records citations.

    Returns
    -------
    list of unit or None
        None when citations are not recorded.
    """
    recorded = [claim.cited for claim in claims or () if claim.cited is not None]
    if recorded:
        return [unit for units in recorded for unit in units]
    return None if cited is None else list(cited)


def cited_in_context(citations: Sequence[Unit], context: Passages) -> float | None:
    """Return citations that stand in the context over citations made.

    Parameters
    ----------
    citations : sequence of unit
        A text is looked up among chunk ids and documents, a pair among pages.
    context : Passages
        The context the model saw.

    Returns
    -------
    float or None
        None when nothing is cited.

    Notes
    -----
    A check of membership alone; it does not say that the passage supports the claim.

    Examples
    --------
    >>> cited_in_context(["C4", "C9"], Passages(ids=("C4", "C2")))
    0.5
    """
    known: set[Unit] = set(context.ids or ())
    known.update(context.documents or ())
    known.update(context.pages or ())
    return _share(unit in known for unit in citations)


def answer_relevance(cosines: Sequence[float]) -> float | None:
    """Return the mean similarity of generated questions with the question.

    Parameters
    ----------
    cosines : sequence of float
        Given cosines, each between -1 and 1.

    Returns
    -------
    float or None
        None without cosines.

    Examples
    --------
    >>> round(answer_relevance([0.9, 0.8, 0.7]), 12)
    0.8
    """
    return sum(cosines) / len(cosines) if cosines else None


def correct_and_grounded(correct: float | None, faithful: float | None) -> float | None:
    """Return 1 only if the answer is correct and every claim is supported.

    Parameters
    ----------
    correct : float or None
        Correctness; below 1 is not correct.
    faithful : float or None
        Faithfulness.

    Returns
    -------
    float or None
        0 as soon as one of the two is known to fall short of 1; None when that is
        not known.

    Examples
    --------
    >>> correct_and_grounded(1.0, 0.5), correct_and_grounded(1.0, None)
    (0.0, None)
    """
    parts = (correct, faithful)
    if any(part is not None and part < 1.0 for part in parts):
        return 0.0
    return None if None in parts else 1.0


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return sum(values) / len(values) if values else None
