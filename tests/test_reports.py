"""The committed report on the bundled example is what the code writes now."""

from __future__ import annotations

import importlib.util
import re
import sys
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


def test_the_committed_pictures_are_those_of_the_report(written: Path) -> None:
    # Their bytes depend on the version of matplotlib, their names do not.
    names = {file.name for file in (written / "demo").iterdir()}
    assert names == {file.name for file in (REPORTS / "demo").iterdir()}


@pytest.mark.parametrize(
    "page", sorted(REPORTS.glob("*.md")), ids=lambda page: page.name
)
def test_the_pictures_of_a_report_are_there(page: Path) -> None:
    for link in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).is_file()
