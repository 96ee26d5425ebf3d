"""The console sessions in the documentation: find them, run them, rewrite them.

``python docs/sessions.py`` runs every session and writes what it printed into the
page (of the pages named after it, or of all); review the difference before committing
it. The tests run the same sessions and compare. A ``text block N`` block repeats the
N-th block of the session before it, so that a page can explain an output by parts.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXCERPT = re.compile(r"^```text block (\d+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETUP_WORDS = {"make", "git", "pip", "cd", "pipx", "uv"}  # set the machine up


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of the ``console`` blocks with the output shown."""
    for language, block in BLOCK.findall(text):
        if language == "console":
            yield from _commands(block)


def _commands(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command.strip(), shown.strip("\n")


def excerpts(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield every ``text block N``: its number, what it shows, and what it should.

    It shows block N, counted from 1, of the last session with an output before it;
    blank lines part the blocks.
    """
    for match in EXCERPT.finditer(text):
        yield int(match[1]), match[2].strip("\n"), _excerpt(text, match)


def _excerpt(text: str, match: re.Match[str]) -> str:
    outputs = [shown for _, shown in sessions(text[: match.start()]) if shown]
    blocks = re.split(r"\n\n+", outputs[-1]) if outputs else []
    number = int(match[1])
    return blocks[number - 1] if 1 <= number <= len(blocks) else ""


def is_setup(command: str) -> bool:
    """Whether a command sets the machine up and is not run by the tests."""
    return shlex.split(command)[0] in SETUP_WORDS


def run_session(command: str, folder: Path) -> str:
    """Run one command line in a folder and return what it printed.

    Commands joined by ``&&`` run one after the other until one fails.
    """
    printed = ""
    words: list[str] = []
    for word in [*shlex.split(command), "&&"]:
        if word != "&&":
            words.append(word)
            continue
        done = _run(words, folder)
        printed += done.stdout + done.stderr
        words = []
        if done.returncode != 0:
            break
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    if words[0] == "onechange":
        words = [sys.executable, "-m", *words]
    elif words[0] == "python":
        words = [sys.executable, *words[1:]]
    else:
        raise ValueError(f"a page may only run onechange or python: {words[0]}")
    return subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
    )


def demo_folder(parent: Path) -> Path:
    """Make the folder in which sessions run: `demo-output/` is in it."""
    run_session("onechange demo --out demo-output", parent)
    return parent


def matches(shown: str, printed: str) -> bool:
    """Whether the output is what the page shows (``...`` stands for any lines)."""
    parts = [
        re.escape(part) for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
    ]
    return re.fullmatch(r"(?:.*\n)*?.*".join(parts), printed) is not None


def refresh(page: Path, folder: Path) -> None:
    """Write into a page what its sessions print now; sessions with ... stay."""
    text = page.read_text(encoding="utf-8")

    def renew(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        parts = []
        for command, shown in _commands(match[2]):
            keep = is_setup(command) or re.search(r"^\.\.\.$", shown, re.MULTILINE)
            output = shown if keep else run_session(command, folder)
            parts.append(f"$ {command}\n{output}\n" if output else f"$ {command}\n")
        return "```console\n" + "".join(parts) + "```"

    renewed = BLOCK.sub(renew, text)
    page.write_text(
        EXCERPT.sub(
            lambda match: f"```text block {match[1]}\n{_excerpt(renewed, match)}\n```",
            renewed,
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        place = demo_folder(Path(scratch))
        for one in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
            refresh(one, place)
