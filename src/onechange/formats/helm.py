"""HELM: ``per_instance_stats.json`` and the ``run_spec.json`` beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, id_of, number, scalars, text_of
from onechange.formats.source import Document, load, parse_json
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "helm"
LOOKS_FOR = (
    "a folder with per_instance_stats.json, or a JSON list with instance_id and stats"
)

_STATS = "per_instance_stats.json"
_COSTS = ("inference_runtime", "num_output_tokens")
_BOOKKEEPING = (
    "num_",
    "training_",
    "batch_size",
    "prompt_truncated",
    "finish_reason_",
    "max_prob",
    "logprob",
    "inference_idealized_runtime",
    "inference_denoised_runtime",
    "predicted_index",
)
_ADAPTER_LEFT_OUT = {"max_eval_instances"}


def sniff(seen: Peek) -> bool:
    """Whether a folder or file looks like a HELM run.

    Parameters
    ----------
    seen : Peek
        The file or folder.

    Returns
    -------
    bool
    """
    if seen.kind == "folder":
        return _STATS in seen.names
    return seen.kind == "json" and {"instance_id", "stats"} <= seen.item.keys()


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read a run: one row per instance (and perturbation) and few-shot draw.

    Parameters
    ----------
    path : Path
        Folder of the run, or its per_instance_stats.json.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its folder or file.

    Raises
    ------
    InputError
        When the file is no list of instances.

    Notes
    -----
    The metrics are the means of the stats that ``run_spec.json`` asks for, the
    inference run time and the output tokens; the bookkeeping of HELM is left out. A
    perturbed copy of an instance is a question of its own.
    """
    stats = path / _STATS if path.is_dir() else path
    document = load(stats)
    instances = parse_json(document.text, name=document.name)
    if not isinstance(instances, list):
        raise InputError(f"{document.name}: expected a list of instances.")
    beside = stats.parent / "run_spec.json"
    spec = _object(load(beside)) if beside.is_file() else {}
    wanted = _wanted(spec)
    texts = _texts(stats.parent / "scenario_state.json")
    rows: dict[tuple[str, str], Row] = {}
    for index, instance in enumerate(instances):
        place = f"[{index}]"
        _add_instance(rows, instance, place, f"{document.name}: {place}", wanted)
    for (question, _), row in rows.items():
        row.labels |= texts.get(question, {})
    name = path.name if path.is_dir() else path.stem
    results = build(
        name,
        list(rows.values()),
        files=[document.file],
        settings=_settings(spec),
        notes=_notes(spec),
        columns=columns,
        quality=_quality(rows.values()),
    )
    return {name: results}


def _add_instance(
    rows: dict[tuple[str, str], Row],
    instance: Any,
    place: str,
    where: str,
    wanted: set[str],
) -> None:
    if not isinstance(instance, dict):
        raise InputError(f"{where}: expected an object.")
    question = id_of(instance.get("instance_id"), place=where)
    perturbation = instance.get("perturbation")
    if isinstance(perturbation, Mapping):
        kind = str(perturbation.get("name"))
        question = f"{question} [{kind}]"
    else:
        kind = "none"
    trial = str(instance.get("train_trial_index") or 0)
    row = rows.setdefault((question, trial), Row(question, place, trial=trial))
    row.labels["perturbation"] = kind
    for stat in instance.get("stats") or []:
        key = stat.get("name") or {}
        name = str(key.get("name"))
        row.labels.setdefault("split", label_text(key.get("split")))
        if not _is_kept(name, wanted):
            continue
        value = number(stat.get("mean"), place=where, what=name)
        if row.metrics.setdefault(name, value) != value:
            raise InputError(
                f'{where}: "{name}" has two means for "{question}" (sub-splits or '
                "perturbations mixed); keep one."
            )


def _is_kept(name: str, wanted: set[str]) -> bool:
    if name in _COSTS or name in wanted:
        return True
    return not wanted and not name.startswith(_BOOKKEEPING)


def _wanted(spec: Mapping[str, Any]) -> set[str]:
    """Names of the metrics that the run asked for."""
    found: set[str] = set()
    for metric in spec.get("metric_specs") or []:
        names = (metric.get("args") or {}).get("names")
        found |= {str(name) for name in names or []}
    return found


def _texts(path: Path) -> dict[str, dict[str, str | None]]:
    if not path.is_file():
        return {}
    found = {}
    for state in _object(load(path)).get("request_states") or []:
        instance = state.get("instance") or {}
        texts = text_of((instance.get("input") or {}).get("text"))
        if instance.get("id") and not instance.get("perturbation"):
            found[str(instance["id"])] = {"question": texts}
    return found


def _object(document: Document) -> dict[str, Any]:
    value = parse_json(document.text, name=document.name)
    if not isinstance(value, dict):
        raise InputError(f"{document.name}: expected an object.")
    return value


def _settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    adapter = {
        key: value
        for key, value in (spec.get("adapter_spec") or {}).items()
        if key not in _ADAPTER_LEFT_OUT
    }
    found = scalars(adapter)
    scenario = spec.get("scenario_spec") or {}
    found |= scalars(scenario.get("args"), "scenario")
    if scenario.get("class_name"):
        found["scenario.class_name"] = scenario["class_name"]
    return found


def _quality(rows: Iterable[Row]) -> list[str]:
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [name for name in names if name not in _COSTS]


def _notes(spec: Mapping[str, Any]) -> list[Note]:
    if _wanted(spec):
        return []
    return [
        Note(
            "direction-unknown",
            "helm: no run_spec.json beside the file says which stats are metrics; all "
            "but HELM's bookkeeping were read. Choose with --metric.",
        )
    ]
