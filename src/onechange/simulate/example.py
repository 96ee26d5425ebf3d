"""The bundled example: the simulator's files, written with fixed decimals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onechange.simulate.arms import DECIMALS, Simulation, simulate
from onechange.simulate.traces import traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXAMPLE_SEED", "example", "example_files", "write_example"]

EXAMPLE_SEED = 9
DECLINED = "The passages do not say."
UNANSWERABLE = "(the report does not say)"


def example(*, seed: int = EXAMPLE_SEED) -> Simulation:
    """Simulate the bundled experiment "top_k 3 to 8".

    Parameters
    ----------
    seed : int
        Seed of the draw; the bundled files are those of the default.

    Returns
    -------
    Simulation
    """
    return simulate(seed=seed)


def example_files(simulation: Simulation) -> dict[str, str]:
    """Write both arms, their settings and their traces as text.

    Parameters
    ----------
    simulation : Simulation
        The experiment.

    Returns
    -------
    dict of str to str
        File name to content, with numbers of fixed decimals.
    """
    records = {arm: traces(simulation, arm) for arm in ("baseline", "variant")}
    return {
        "baseline.jsonl": _jsonl(simulation.baseline, records["baseline"]),
        "baseline.settings.toml": _toml(simulation.baseline_settings),
        "baseline.traces.jsonl": _lines(records["baseline"]),
        "variant.jsonl": _jsonl(simulation.variant, records["variant"]),
        "variant.settings.toml": _toml(simulation.variant_settings),
        "variant.traces.jsonl": _lines(records["variant"]),
    }


def write_example(folder: Path) -> None:
    """Write the files of the bundled example into a folder.

    Parameters
    ----------
    folder : Path
        An existing folder.
    """
    for name, text in example_files(example()).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _jsonl(frame: pd.DataFrame, records: list[dict[str, Any]]) -> str:
    """Write rows with their texts between what they are about and the scores."""
    import json

    columns = list(frame.columns)
    lines = []
    for row, record in zip(
        frame.itertuples(index=False, name=None), records, strict=True
    ):
        cells = dict(zip(columns, row, strict=True))
        scores = {name: cells.pop(name) for name in DECIMALS}
        written = [
            f"{json.dumps(name)}: {json.dumps(value)}"
            for name, value in {**cells, **_texts(record)}.items()
        ]
        written += [
            f"{json.dumps(name)}: {_number(value, DECIMALS[name])}"
            for name, value in scores.items()
        ]
        lines.append("{" + ", ".join(written) + "}\n")
    return "".join(lines)


def _texts(record: dict[str, Any]) -> dict[str, str | None]:
    """Say what was asked for, what was answered, and which pages were at hand."""
    needed = ", ".join(record["evidence"]) or "none"
    evidence = f"needed {needed}"
    if "retrieved" in record:
        evidence += f"; in context {', '.join(record['retrieved'])}"
    declined = DECLINED if record["status"] == "insufficient_evidence" else None
    return {
        "reference": " ".join(record["reference"]) or UNANSWERABLE,
        "answer": record.get("answer", declined),
        "evidence": evidence,
    }


def _lines(records: list[dict[str, Any]]) -> str:
    import json

    return "".join(json.dumps(record) + "\n" for record in records)


def _number(value: float, decimals: int) -> str:
    if value != value:
        return "null"
    return f"{value:.{decimals}f}"


def _toml(settings: dict[str, Any]) -> str:
    import json

    plain = [k for k, v in settings.items() if not isinstance(v, dict)]
    lines = [f"{key} = {json.dumps(settings[key])}\n" for key in plain]
    for name, table in settings.items():
        if isinstance(table, dict):
            lines.append(f"\n[{name}]\n")
            lines += [f"{key} = {json.dumps(value)}\n" for key, value in table.items()]
    return "".join(lines)
