"""The documentation is complete, and its site builds without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import onechange
from onechange.cli import app
from onechange.report.methods import ADJUSTMENTS, INTERVALS, TESTS
from onechange.report.references import REFERENCES

DOCS = Path(__file__).resolve().parents[1] / "docs"
CLI = (DOCS / "cli.md").read_text(encoding="utf-8")
METHODS = (DOCS / "methods.md").read_text(encoding="utf-8")
EVERYWHERE = {"--help", "-h", "--debug", "--version"}


def _commands(command: Any, name: str = "") -> dict[str, Any]:
    children = getattr(command, "commands", None)
    if children is None:
        return {name: command}
    found: dict[str, Any] = {}
    for child, below in children.items():
        found |= _commands(below, f"{name} {child}".strip())
    return found


COMMANDS = _commands(typer.main.get_command(app))
FLAGS = {
    flag
    for command in COMMANDS.values()
    for parameter in command.params
    if parameter.param_type_name == "option"
    for flag in parameter.opts
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_page(name: str) -> None:
    assert re.search(rf"^onechange {name}\b", CLI, flags=re.MULTILINE)


def test_the_page_names_every_flag_and_no_other() -> None:
    written = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", CLI)) - EVERYWHERE
    assert written == FLAGS - EVERYWHERE


def test_every_reference_and_method_of_a_report_is_in_the_page_on_methods() -> None:
    text = " ".join(METHODS.split())
    for work in REFERENCES.values():
        assert work.text in text
        assert work.citation in text
    for name in {*INTERVALS, *TESTS, *ADJUSTMENTS}:
        assert f"`{name}`" in text


def test_the_page_on_python_documents_every_public_name() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert ".. automodule:: onechange\n   :members:" in page
    assert onechange.__all__


def test_every_page_is_in_the_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([a-z-]+)$", index, flags=re.MULTILINE))
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert pages == listed


def test_the_site_builds_and_warnings_are_errors(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason="the site's generator is not installed")
    words = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [sys.executable, *words, str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in onechange.__all__:
        assert f'id="onechange.{name}"' in html
