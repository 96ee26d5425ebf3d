"""Every session in the documentation is run, and must print what it shows.

In Markdown: ``console`` blocks hold ``$ command`` lines followed by their exact
output (``...`` alone on a line stands for any lines); ``pycon`` blocks are doctests;
``python`` blocks must run; a ``text block N`` block repeats a part of the session
before it. All of it runs in a folder that holds the demo's files, as after
``onechange demo --out demo-output``. The docstrings of the package are doctests.
``python docs/sessions.py`` rewrites the outputs in the pages.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import onechange

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import sessions as docs  # noqa: E402

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SESSIONS = [
    pytest.param(*session, id=f"{page.name}-{number}")
    for page in docs.PAGES
    for number, session in enumerate(docs.sessions(page.read_text(encoding="utf-8")))
]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return docs.demo_folder(tmp_path_factory.mktemp("docs"))


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_a_session_prints_what_the_page_shows(
    command: str, shown: str, demo_folder: Path
) -> None:
    if docs.is_setup(command):
        pytest.skip("sets the machine up")
    printed = docs.run_session(command, demo_folder)
    assert docs.matches(shown, printed), f"$ {command}\n{printed}"


@pytest.mark.parametrize("page", docs.PAGES, ids=_name)
def test_an_excerpt_shows_the_part_of_a_session_that_it_names(page: Path) -> None:
    for number, shown, right in docs.excerpts(page.read_text(encoding="utf-8")):
        assert shown == right, f"{page.name}: block {number}"
        assert shown, f"{page.name}: no block {number}"


def test_the_page_on_reading_a_report_explains_nothing_but_what_was_run() -> None:
    text = (ROOT / "docs" / "reading-a-report.md").read_text(encoding="utf-8")
    plain = [language for language, _ in docs.BLOCK.findall(text) if language == "text"]
    assert len(plain) == len(list(docs.excerpts(text))) >= 6


@pytest.mark.parametrize("page", docs.PAGES, ids=_name)
def test_the_python_of_a_page_runs(
    page: Path, demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo_folder)
    names: dict[str, object] = {}
    blocks = docs.BLOCK.findall(page.read_text(encoding="utf-8"))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=OPTIONS)
    for number, (language, body) in enumerate(blocks):
        if language == "python":
            exec(compile(body, str(page), "exec"), names)
        elif language == "pycon":
            test = parser.get_doctest(
                body, names, f"{page.name}-{number}", str(page), 0
            )
            runner.run(test, clear_globs=False)
            names.update(test.globs)
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


@pytest.mark.parametrize("page", docs.PAGES, ids=_name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    text = re.sub(docs.BLOCK, "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
