"""Header of an Inspect log -> settings, judges and notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from onechange.formats.rows import Row, scalars
from onechange.stats.estimate import Note

__all__ = ["header_notes", "header_settings", "split_scorers"]

_JUDGED = re.compile(r"(?P<scorer>.+\S) \((?P<judge>[^()]+)\)")
_EVAL_KEYS = ("task", "task_version", "model", "solver")
_EVAL_OBJECTS = ("task_args", "model_args", "model_generate_config", "solver_args")
_TRANSPORT = {"max_connections", "max_retries", "timeout", "attempt_timeout"}
_CONFIG_KEYS = (
    "limit",
    "epochs",
    "epochs_reducer",
    "message_limit",
    "token_limit",
    "time_limit",
    "working_limit",
    "score_on_error",
)


def split_scorers(
    header: Mapping[str, Any], keys: Iterable[str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """Split "scorer (judge)" into the metric's name and a setting.

    Parameters
    ----------
    header : mapping
        Header of the log.
    keys : iterable of str
        Keys of the samples' scores.

    Returns
    -------
    metrics : dict of str to str
        Metric name of each key.
    judges : dict of str to value
        ``judge.<metric>`` for every judge that was found, and the options of the
        scorers as ``scorer.<name>.<option>``.

    Examples
    --------
    >>> header = {"eval": {"scorers": [{"name": "qa"}]}}
    >>> split_scorers(header, ["qa (gpt-4o)"])
    ({'qa (gpt-4o)': 'qa'}, {'judge.qa': 'gpt-4o'})
    """
    info = header.get("eval") or {}
    declared = {
        str(scorer.get("name")): scorer.get("options")
        for scorer in info.get("scorers") or []
        if isinstance(scorer, Mapping)
    }
    found = list(dict.fromkeys(keys))
    metrics = {key: key for key in found}
    judges: dict[str, Any] = {}
    parts = {key: _JUDGED.fullmatch(key) for key in found if key not in declared}
    stems = Counter(match["scorer"] for match in parts.values() if match)
    for key, match in parts.items():
        if match is None or stems[match["scorer"]] > 1:
            continue
        if match["scorer"] in declared or not declared:
            metrics[key] = match["scorer"]
            judges[f"judge.{match['scorer']}"] = match["judge"]
    for name, options in declared.items():
        for option, value in scalars(options).items():
            setting = (
                f"judge.{name}" if option == "model" else f"scorer.{name}.{option}"
            )
            judges.setdefault(setting, value)
    grader = (info.get("model_roles") or {}).get("grader")
    if grader:
        model = grader.get("model") if isinstance(grader, Mapping) else grader
        judges.setdefault("judge", model)
    return metrics, judges


def header_settings(header: Mapping[str, Any]) -> dict[str, Any]:
    """List the settings of the run; names of runs, paths and times are left out.

    Parameters
    ----------
    header : mapping
        Header of the log.

    Returns
    -------
    dict of str to value
        A solver's parameter or a metadata entry that repeats a task argument is
        listed once, under the task argument.
    """
    info = header.get("eval") or {}
    found = {key: info[key] for key in _EVAL_KEYS if info.get(key) is not None}
    for key in _EVAL_OBJECTS:
        found |= scalars(info.get(key), key)
    dataset = info.get("dataset") or {}
    for key in ("name", "shuffled"):
        if dataset.get(key) is not None:
            found[f"dataset.{key}"] = dataset[key]
    config = info.get("config") or {}
    found |= scalars({key: config.get(key) for key in _CONFIG_KEYS}, "config")
    if (info.get("revision") or {}).get("commit"):
        found["revision.commit"] = info["revision"]["commit"]
    found |= scalars(info.get("packages"), "packages")
    known = [value for key, value in found.items() if key.startswith("task_args")]
    known.append(info.get("model"))
    for index, step in enumerate((header.get("plan") or {}).get("steps") or []):
        _add_new(found, {f"plan.{index}.solver": step.get("solver")}, known)
        _add_new(found, scalars(step.get("params"), f"plan.{index}"), known)
    _add_new(found, scalars((header.get("plan") or {}).get("config"), "plan"), known)
    _add_new(found, scalars(info.get("metadata"), "metadata"), known)
    return found


def header_notes(
    header: Mapping[str, Any], rows: list[Row], n_no_answer: int
) -> list[Note]:
    """Where the header and the samples disagree.

    Parameters
    ----------
    header : mapping
        Header of the log.
    rows : list of Row
        Rows read.
    n_no_answer : int
        Number of scores that are ``N``.

    Returns
    -------
    list of Note
    """
    info = header.get("eval") or {}
    found = []
    status = header.get("status")
    if status and status != "success":
        found.append(
            Note("incomplete-run", f'inspect: the run\'s status is "{status}".')
        )
    epochs = (info.get("config") or {}).get("epochs") or 1
    ids = (info.get("dataset") or {}).get("sample_ids") or []
    expected = len(ids) * epochs if isinstance(epochs, int) else 0
    if expected and len(rows) != expected:
        found.append(
            Note(
                "header-disagrees",
                f"inspect: the header announces {len(ids)} samples in {epochs} epochs, "
                f"{expected} rows; the log has {len(rows)}.",
            )
        )
    if n_no_answer:
        found.append(
            Note(
                "no-answer-is-zero",
                f'inspect: {n_no_answer} scores are "N" (no answer); they count 0, as '
                "in Inspect's own accuracy.",
            )
        )
    return found


def _add_new(found: dict[str, Any], more: dict[str, Any], known: list[Any]) -> None:
    for key, value in more.items():
        if value not in known and key.rpartition(".")[2] not in _TRANSPORT:
            found[key] = value
