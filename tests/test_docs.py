"""Every session in the documentation is run, and must print what it shows.

In Markdown: ``console`` blocks hold ``$ command`` lines followed by their exact
output (``...`` alone on a line stands for any lines); ``pycon`` blocks are doctests;
``python`` blocks must run. All of it runs in a folder that holds the demo's files, as
after ``onechange demo --out demo-output``. The docstrings of the package are doctests.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import onechange

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETUP_WORDS = {"make", "git", "pip", "cd", "pipx", "uv"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _blocks(page: Path, *languages: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [body for language, body in BLOCK.findall(text) if language in languages]


def _sessions(page: Path) -> list[tuple[str, str]]:
    sessions = []
    for block in _blocks(page, "console"):
        command, output = None, []
        for line in [*block.splitlines(), "$ "]:
            if line.startswith("$ "):
                if command:
                    sessions.append((command, "\n".join(output).strip()))
                command, output = line[2:].strip(), []
            else:
                output.append(line.rstrip())
    return sessions


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run(
        [sys.executable, "-m", "onechange", "demo", "--out", "demo-output"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


SESSIONS = [
    pytest.param(*session, id=f"{page.name}-{number}")
    for page in PAGES
    for number, session in enumerate(_sessions(page))
]


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_a_session_prints_what_the_page_shows(
    command: str, shown: str, demo_folder: Path
) -> None:
    words = shlex.split(command)
    if words[0] in SETUP_WORDS:
        pytest.skip("sets the machine up")
    if words[:2] == ["python", "-m"] or words[0] == "python":
        words = [sys.executable, *words[1:]]
    else:
        assert words[0] == "onechange", f"a page may only run onechange: {command}"
        words = [sys.executable, "-m", *words]
    done = subprocess.run(
        words,
        cwd=demo_folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
    )
    printed = "\n".join(
        line.rstrip() for line in (done.stdout + done.stderr).splitlines()
    ).strip()
    pattern = re.escape(shown).replace(re.escape("\n...\n"), r"\n(?:.*\n)*?")
    pattern = re.sub(re.escape("\n...") + r"\Z", lambda _: r"(?:\n.*)*", pattern)
    assert re.fullmatch(pattern, printed), f"$ {command}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo_folder)
    names: dict[str, object] = {}
    for block in _blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=OPTIONS)
    for number, block in enumerate(_blocks(page, "pycon")):
        runner.run(
            parser.get_doctest(block, names, f"{page.name}-{number}", str(page), 0)
        )
    assert runner.failures == 0


def _modules() -> list[str]:
    return [
        info.name
        for info in pkgutil.walk_packages(onechange.__path__, "onechange.")
        if not info.name.endswith("__main__")
    ]


@pytest.mark.parametrize("name", _modules())
def test_the_examples_of_a_docstring_run(name: str) -> None:
    importlib.import_module(name)
    failures, _ = doctest.testmod(sys.modules[name], optionflags=OPTIONS)
    assert failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
