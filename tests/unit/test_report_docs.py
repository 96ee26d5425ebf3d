"""The pages on notes and on the JSON output say what the code does."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTES = (ROOT / "docs" / "notes.md").read_text(encoding="utf-8")
JSON_PAGE = (ROOT / "docs" / "json-output.md").read_text(encoding="utf-8")

# Codes that the product promises; further ones are found in the source.
PROMISED = [
    "identical-arms",
    "unmatched-questions",
    "unscored-rows",
    "failed-rows",
    "high-missing-share",
    "not-comparable",
    "metric-only-in-one-arm",
    "direction-assumed",
    "role-inferred",
    "out-of-range",
    "too-few-questions",
    "few-changed-answers",
    "interval-and-test-disagree",
    "bootstrap-and-permutation-disagree",
    "small-slice",
    "few-clusters",
    "dominant-cluster",
    "possible-cluster",
    "runs-differ",
    "one-trial",
    "unequal-trials",
    "selective-rerun",
    "identical-trials",
    "more-than-one-change",
    "settings-unknown",
    "judge-changed",
    "reversal",
    "opposite-sign",
    "best-of-many",
    "relative-delta-undefined",
    "sampled",
    "equal-differences",
    "scale-mismatch",
    "not-measured",
    "few-questions-for-quantile",
    "test-undefined",
    "plan-deviation",
    "repeated-text",
    "skewed",
    "margin-below-resolution",
]


def _written_codes() -> set[str]:
    """Codes of all ``Note("code", …)`` in the source."""
    found = set()
    for path in (ROOT / "src" / "onechange").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Note"
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(node.args[0].value)
    return found


def test_every_note_code_is_explained() -> None:
    documented = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)*)`", NOTES))
    assert (set(PROMISED) | _written_codes()) - documented == set()


def test_every_row_of_the_notes_page_says_what_to_do() -> None:
    for line in NOTES.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 3
            assert all(cells)


def _keys(node: Any) -> set[str]:
    found: set[str] = set()
    if isinstance(node, dict):
        found |= set(node.get("properties", {}))
        for value in node.values():
            found |= _keys(value)
    elif isinstance(node, list):
        for value in node:
            found |= _keys(value)
    return found


def test_every_key_of_the_schema_is_explained_in_words() -> None:
    schema = json.loads((ROOT / "docs" / "schema-1.json").read_text(encoding="utf-8"))
    words = set(re.findall(r"[a-z][a-z0-9_]*", JSON_PAGE))
    assert _keys(schema) - words - {"sha256", "n_incomplete"} <= {
        "n_not_applicable",
        "n_questions",
        "code",
        "text",
        "label",
        "setting",
        "neither",
    }


@pytest.mark.parametrize("name", ["notes", "json-output", "reading-a-report"])
def test_links_between_pages_lead_somewhere(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / "docs" / target).exists(), target
