"""TREC runs with relevance judgements, scored as trec_eval does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.errors import InputError, OnechangeError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row
from onechange.formats.source import Document, load
from onechange.results import UNSCORED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "MEASURES", "NAME", "read", "sniff"]

NAME = "trec"
LOOKS_FOR = (
    "a run of six blank-separated columns: topic, Q0, document, rank, score, tag"
)

MEASURES = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100")
_REQUESTED = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
_RUN_LINE = re.compile(r"\S+\s+\S+\s+\S+\s+\S+\s+[-+0-9.eE]+\s+\S+")

Run = dict[str, dict[str, float]]
Judgements = dict[str, dict[str, int]]


def sniff(seen: Peek) -> bool:
    """Whether a file looks like a TREC run.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind not in ("text", "table"):
        return False
    lines = [line for line in seen.head.split("\n")[:6] if line.strip()]
    return bool(lines) and all(
        _RUN_LINE.fullmatch(line.strip()) and line.split()[1].upper() == "Q0"
        for line in lines[:5]
    )


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Score a run against relevance judgements: one row per topic.

    Parameters
    ----------
    path : Path
        The run, gzip or not.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        The judgements (qrels); None takes the only file with "qrels" in its name
        beside the run.

    Returns
    -------
    dict of str to Results
        One system, named as its file.

    Raises
    ------
    InputError
        When a line is malformed, a document occurs twice in a topic, or there are
        no judgements.
    OnechangeError
        When pytrec_eval is not installed.

    Notes
    -----
    Documents are ordered by score, then document id, both descending; the rank
    column is not used. A judged topic that is absent from the run counts 0. A topic
    without judgements is unscored.
    """
    document = load(path, encoding="latin-1")
    run, tags = _read_run(document)
    judged_path, notes = _judgements_path(path, gold)
    judgements_file = load(judged_path, encoding="latin-1")
    judgements = _read_judgements(judgements_file)
    scores = score_run(run, judgements)
    rows = []
    for topic in sorted(judgements.keys() | run.keys()):
        row = Row(topic, f"topic {topic}")
        if topic not in judgements:
            row.status = UNSCORED
            row.metrics = dict.fromkeys(MEASURES, math.nan)
        else:
            row.metrics = scores.get(topic) or dict.fromkeys(MEASURES, 0.0)
        rows.append(row)
    notes += _notes(run, judgements)
    settings: dict[str, Any] = {"qrels_sha256": judgements_file.file.sha256}
    if len(tags) > 1:
        notes.append(
            Note("several-tags", f"trec: {document.name} has {len(tags)} run tags.")
        )
    results = build(
        path.name.removesuffix(".gz"),
        rows,
        files=[document.file, judgements_file.file],
        settings=settings,
        notes=notes,
        columns=columns,
    )
    return {results.name: results}


def score_run(run: Run, judgements: Judgements) -> dict[str, dict[str, float]]:
    """Score topics by trec_eval's measures; linear gain in nDCG.

    Parameters
    ----------
    run : dict of str to dict of str to float
        Scores of documents by topic.
    judgements : dict of str to dict of str to int
        Relevance of documents by topic.

    Returns
    -------
    dict of str to dict of str to float
        `MEASURES` of each topic that is in both.

    Raises
    ------
    OnechangeError
        When pytrec_eval is not installed.
    """
    try:
        import pytrec_eval
    except ModuleNotFoundError as error:
        raise OnechangeError(
            "Scoring a TREC run needs pytrec_eval; run: pip install 'onechange[trec]'."
        ) from error
    evaluator = pytrec_eval.RelevanceEvaluator(judgements, _REQUESTED)
    found: Mapping[str, Mapping[str, float]] = evaluator.evaluate(run)
    return {
        topic: {measure: float(values[measure]) for measure in MEASURES}
        for topic, values in found.items()
    }


def _read_run(document: Document) -> tuple[Run, set[str]]:
    run: Run = {}
    tags: set[str] = set()
    for number, line in enumerate(document.text.split("\n"), start=1):
        if not line.strip():
            continue
        parts = line.split()
        place = f"{document.name}:{number}"
        if len(parts) != 6:
            raise InputError(
                f"{place}: {len(parts)} columns; a run has six: topic, Q0, document, "
                "rank, score, tag."
            )
        topic, _, docno, _, text, tag = parts
        score = _finite(text, place)
        documents = run.setdefault(topic, {})
        if docno in documents:
            raise InputError(
                f'{place}: the document "{docno}" occurs twice for topic "{topic}" '
                f"(scores {documents[docno]:g} and {score:g}); keep one."
            )
        documents[docno] = score
        tags.add(tag)
    return run, tags


def _finite(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f'{place}: the score is "{text}"; expected a finite number.')
    return score


def _judgements_path(path: Path, gold: Path | None) -> tuple[Path, list[Note]]:
    if gold is not None:
        return gold, []
    beside = [
        entry
        for entry in sorted(path.parent.iterdir())
        if "qrels" in entry.name.lower() and entry.is_file()
    ]
    if len(beside) != 1:
        found = ", ".join(entry.name for entry in beside) or "none"
        raise InputError(
            f"{path.name}: a run needs relevance judgements; name them with --gold "
            f"(files with qrels in their name beside the run: {found})."
        )
    text = f'trec: relevance judgements were taken from "{beside[0].name}".'
    return beside[0], [Note("role-inferred", text)]


def _read_judgements(document: Document) -> Judgements:
    found: Judgements = {}
    for number, line in enumerate(document.text.split("\n"), start=1):
        if not line.strip():
            continue
        parts = line.split()
        place = f"{document.name}:{number}"
        if len(parts) != 4:
            raise InputError(
                f"{place}: {len(parts)} columns; judgements have four: topic, "
                "iteration, document, relevance."
            )
        topic, _, docno, text = parts
        try:
            relevance = int(text)
        except ValueError:
            raise InputError(
                f'{place}: the relevance is "{text}"; expected a whole number.'
            ) from None
        earlier = found.setdefault(topic, {}).setdefault(docno, relevance)
        if earlier != relevance:
            raise InputError(
                f'{place}: "{docno}" is judged {earlier} and {relevance} for topic '
                f'"{topic}"; keep one judgement.'
            )
    return found


def _notes(run: Run, judgements: Judgements) -> list[Note]:
    found = []
    absent = sorted(judgements.keys() - run.keys())
    if absent:
        found.append(
            Note(
                "absent-is-zero",
                f"trec: {len(absent)} judged topics are absent from the run and count "
                f"0 (first: {absent[0]}); trec_eval without -c leaves them out.",
            )
        )
    unjudged = sorted(run.keys() - judgements.keys())
    if unjudged:
        found.append(
            Note(
                "unjudged-topics",
                f"trec: {len(unjudged)} topics of the run have no judgements and are "
                f"unscored (first: {unjudged[0]}).",
            )
        )
    empty = [
        topic
        for topic, docs in judgements.items()
        if max(docs.values(), default=0) <= 0
    ]
    if empty:
        found.append(
            Note(
                "no-relevant-document",
                f"trec: {len(empty)} topics have no relevant document; every run "
                "scores 0 on them.",
            )
        )
    return found
