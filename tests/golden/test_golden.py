"""One folder per command line: its words, its files, and what it must print.

`command` holds the words after ``onechange``; `code` the exit code; `stdout` and
`stderr` the exact text. On a mismatch the new text is written beside it with the
ending `.got`.
"""

from __future__ import annotations

import difflib
import shlex
import shutil
from pathlib import Path

import pytest

from casefiles import run

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob("*/command"))
RESULTS = {"command", "code", "stdout", "stderr", "stdout.got", "stderr.got"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_command_line_prints_what_it_printed_before(
    folder: Path, tmp_path: Path
) -> None:
    for file in folder.iterdir():
        if file.name not in RESULTS:
            shutil.copy(file, tmp_path / file.name)
    before = {path.name for path in tmp_path.iterdir()}
    words = shlex.split((folder / "command").read_text(encoding="utf-8"))
    done = run(*words, cwd=tmp_path, COLUMNS="100", NO_COLOR="1")
    differences = []
    for name, got in (("stdout", done.stdout), ("stderr", done.stderr)):
        right = (folder / name).read_text(encoding="utf-8")
        if got != right:
            (folder / f"{name}.got").write_text(got, encoding="utf-8")
            differences += difflib.unified_diff(
                right.splitlines(), got.splitlines(), name, f"{name}.got", lineterm=""
            )
    assert not differences, "\n".join(differences)
    assert done.returncode == int((folder / "code").read_text())
    if done.returncode == 2 and done.stderr:
        left = {path.name for path in tmp_path.iterdir()}
        assert left == before, "a refused call must leave no file behind"
