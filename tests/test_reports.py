"""The committed report on the bundled example is what the code writes now."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

REPORTS = Path(__file__).resolve().parents[1] / "reports"


def _build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reports_build", REPORTS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    build = _build()
    demo = next(report for report in build.REPORTS if report.name == "demo")
    build.write(demo, build.build(demo), folder)
    return folder


@pytest.mark.parametrize("name", ["demo.md", "demo.html"])
def test_the_committed_report_is_not_stale(written: Path, name: str) -> None:
    committed = (REPORTS / name).read_text(encoding="utf-8")
    assert (written / name).read_text(encoding="utf-8") == committed, "make reports"


def _drawn(file: Path) -> tuple[list[str], Counter[str], list[float]]:
    """Texts, shapes and coordinates of a picture.

    Its bytes depend on the version of matplotlib, these do not, but for some points.
    """
    nodes = list(ET.fromstring(file.read_text(encoding="utf-8")).iter())
    texts = [node.text or "" for node in nodes if node.tag.endswith("}text")]
    shapes = Counter(node.tag.rpartition("}")[2] for node in nodes)
    places = (node.get(name, "") for node in nodes for name in ("d", "x", "y"))
    found = [float(n) for text in places for n in re.findall(r"-?\d+\.?\d*", text)]
    return texts, shapes, found


def test_the_committed_pictures_are_not_stale(written: Path) -> None:
    names = {file.name for file in (written / "demo").iterdir()}
    assert names == {file.name for file in (REPORTS / "demo").iterdir()}
    for name in sorted(names):
        texts, shapes, places = _drawn(written / "demo" / name)
        old_texts, old_shapes, old_places = _drawn(REPORTS / "demo" / name)
        assert texts == old_texts, f"{name}: make reports"
        assert shapes == old_shapes, f"{name}: make reports"
        assert places == pytest.approx(old_places, abs=2.0), f"{name}: make reports"


@pytest.mark.parametrize(
    "page", sorted(REPORTS.glob("*.md")), ids=lambda page: page.name
)
def test_the_pictures_of_a_report_are_there(page: Path) -> None:
    for link in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).is_file()
