"""The layer rule: a module imports only from lower layers, `stats/` knows no files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "onechange"

# Lowest first. Modules named in one row do not import each other.
LAYERS: list[set[str]] = [
    {"errors", "plain_values"},
    {"display", "stats", "cells"},
    {"plots"},
    {"question_index"},
    {"results"},
    {"formats"},
    {"tables"},
    {"json_tables", "typed_tables", "roles"},
    {"gradings"},
    {"assemble", "trial_files"},
    {"read", "oracle_context"},
    {"status", "plan"},
    {"pairs"},
    {"ledger"},
    {"sources"},
    {"caveats"},
    {"align"},
    {"deltas"},
    {"delta"},
    {"trials", "missing", "diagnosis", "judge", "paired"},
    {"values"},
    {"quantile_deltas"},
    {"statistic_deltas"},
    {"slices", "score_bounds"},
    {"families", "composition", "slice_effects", "slice_weights"},
    {"slice_tables", "slice_sizes"},
    {"breakdowns", "overall"},
    {"sweep", "joint", "evidence"},
    {"interval_rows"},
    {"drawings"},
    {"comparison"},
    {"compare"},
    {"sensitivity"},
    {"decide"},
    {"power", "simulate", "score"},
    {"report"},
    {"gate", "draft"},
    {"cli"},
    {"__main__", "__init__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def _part(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "onechange"
        ):
            parts = (node.module or "").split(".")
            if len(parts) > 1:
                found.add(parts[1])
            else:
                found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("onechange."):
                    found.add(alias.name.split(".")[1])
    return {name for name in found if not name.startswith("__version")}


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_a_module_imports_only_lower_layers(path: Path) -> None:
    part = _part(path)
    assert part in RANK, f"{part} has no layer; add it to LAYERS in {__file__}"
    for name in _imports(path):
        assert name in RANK, f"{part} imports {name}, which has no layer"
        if name != part:
            assert RANK[name] < RANK[part], f"{part} must not import {name}"


def test_statistics_know_nothing_of_files_or_frames() -> None:
    forbidden = {"pandas", "pyarrow", "pathlib", "os", "csv", "json", "rich", "typer"}
    for path in (SOURCE / "stats").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name.split(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [(node.module or "").split(".")[0]]
            assert not forbidden.intersection(names), f"{path.name} imports {names}"


def test_no_module_uses_the_global_random_generator() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines():
            if "np.random." in line:
                assert (
                    "np.random.default_rng" in line
                    or "np.random.Generator" in line
                    or "np.random.SeedSequence" in line
                ), f"{path.name}: {line.strip()}"
