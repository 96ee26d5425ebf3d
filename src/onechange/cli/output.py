"""Where results go: checked before work starts, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from onechange.compare import Comparison
    from onechange.decide import Decision, Decisions

STDOUT = "-"
FORMATS = ("text", "markdown", "json")
NARROWEST, WIDEST = 60, 100


@contextmanager
def outputs(
    targets: dict[str, str | None],
    *,
    stdout: str,
    quiet: bool,
    pictures: Path | None = None,
    inputs: Sequence[str | Path] = (),
) -> Iterator[Outputs]:
    """Open every output file before the work, and put them in place after it.

    Parameters
    ----------
    targets : dict of str to str or None
        Format name to file (``-`` is stdout; None is not wanted). Folders that are
        absent are made, and taken away again when nothing is written.
    stdout : str
        Format for stdout when no target is stdout.
    quiet : bool
        Print nothing on stdout unless a target is stdout.
    pictures : Path, optional
        Folder for pictures, made when absent; the Markdown report shows them.
    inputs : sequence of str or Path
        Files that are read: no output may take their place.

    Yields
    ------
    Outputs
        Its `write` renders and writes everything.

    Raises
    ------
    OnechangeError
        When a file cannot be written, is an input, or is wanted by two outputs.
    """
    if stdout not in FORMATS:
        raise OnechangeError(
            f'--format is "{stdout}"; expected one of {", ".join(FORMATS)}.'
        )
    wanted = {name: target for name, target in targets.items() if target is not None}
    to_stdout = [name for name, target in wanted.items() if target == STDOUT]
    if len(to_stdout) > 1:
        raise OnechangeError(
            f"{' and '.join('--' + name for name in to_stdout)} both write to stdout; "
            "give a file name to all but one."
        )
    if not to_stdout and not quiet:
        to_stdout = [stdout]
    check_apart(wanted, inputs)
    opened: dict[str, tuple[Path | None, Path]] = {}
    made: list[Path] = []
    try:
        for name, target in wanted.items():
            if target != STDOUT:
                _make_folders(f"--{name} {target}", Path(target).parent, made)
                opened[name] = _open_beside(name, Path(target))
        if pictures is not None:
            _make_folders(f"--pictures {pictures}", pictures, made)
        yield Outputs(opened, to_stdout[0] if to_stdout else None, pictures)
    finally:
        for temporary, _ in opened.values():
            if temporary is not None:
                temporary.unlink(missing_ok=True)
        for folder in reversed(made):
            if not any(folder.iterdir()):
                folder.rmdir()


def input_files(words: dict[str, Any]) -> list[str]:
    """Files that the words of a call say to read."""
    single = ("baseline", "variant", "file", "plan", "gold", "labels", "options")
    several = ("variants", "baseline_trial", "variant_trial")
    named = [words.get(name) for name in single]
    named += [path for name in several for path in words.get(name) or ()]
    return [str(path) for path in named if path is not None]


def check_apart(wanted: dict[str, str], inputs: Sequence[str | Path]) -> None:
    """Refuse an output that would replace an input or another output."""
    taken = {Path(path).resolve(): "an input" for path in inputs}
    for name, target in wanted.items():
        place = Path(target).resolve()
        if target == STDOUT or _is_stream(place):
            continue
        if place in taken:
            raise OnechangeError(
                f"--{name} {target}: is {taken[place]} of this call too; name another "
                "file."
            )
        taken[place] = f"the --{name} output"


class Outputs:
    """The opened outputs of one call."""

    def __init__(
        self,
        opened: dict[str, tuple[Path | None, Path]],
        stdout: str | None,
        pictures: Path | None = None,
    ) -> None:
        self._opened = opened
        self._stdout = stdout
        self._pictures = pictures

    def write(self, result: Comparison | Decision | Decisions) -> None:
        """Render the result in every wanted format, then put the files in place."""
        render = self._renderer(result)
        self._put(lambda name, target: render(name, target.parent))
        if self._stdout == "text":
            from onechange.report.decisions_text import terminal_text

            color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
            print_out(terminal_text(result, width=terminal_columns(), color=color))
        elif self._stdout is not None:
            print_out(render(self._stdout, Path()))

    def _put(self, text_of: Callable[[str, Path], str]) -> None:
        """Write every file beside its place, then rename all; fill the streams."""
        for name, (temporary, target) in self._opened.items():
            text = text_of(name, target)
            place = temporary or target
            try:
                with place.open("w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            except OSError as error:
                raise OnechangeError(
                    f"--{name} {target}: cannot be written ({error.strerror}); make "
                    "room or choose another place."
                ) from error
        for temporary, target in self._opened.values():
            if temporary is not None:
                temporary.replace(target)

    def _renderer(
        self, result: Comparison | Decision | Decisions
    ) -> Callable[[str, Path], str]:
        """Write the pictures; return how to render a format for a folder."""
        from onechange.report import render, writable

        folder = self._pictures
        if folder is None:
            return lambda name, _: render(result, name)
        from onechange.report.markdown import render_markdown
        from onechange.report.pictures import write_pictures

        shown = write_pictures(result, folder)

        def rendered(name: str, place: Path) -> str:
            if name != "markdown":
                return render(result, name)
            path = os.path.relpath(folder, place).replace(os.sep, "/")
            return writable(render_markdown(result, pictures=shown, folder=path))

        return rendered

    def write_pages(self, page: Callable[[str], str]) -> None:
        """Write what `page` gives for each wanted format."""
        self._put(lambda name, _: page(name))
        if self._stdout is not None:
            print_out(page(self._stdout))


def terminal_columns() -> int:
    """Columns for text on stdout: 60 to 100 of a terminal, else 100."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return WIDEST
    columns = shutil.get_terminal_size((WIDEST, 24)).columns
    return min(max(columns, NARROWEST), WIDEST)


def print_out(text: str) -> None:
    """Write text to stdout as UTF-8, whatever the locale says."""
    data = text if text.endswith("\n") else text + "\n"
    try:
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(data.encode("utf-8"))
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OnechangeError(
            f"stdout: cannot be written ({error.strerror}); make room or send the "
            "output elsewhere."
        ) from error


def _make_folders(option: str, folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it; add what was not there to `made`."""
    absent = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        for path in reversed(absent):
            path.mkdir(exist_ok=True)
            made.append(path)
        folder.mkdir(exist_ok=True)  # fails where a file stands in its place
    except OSError as error:
        raise OnechangeError(
            f"{option}: the folder {folder} cannot be made ({error.strerror}); name "
            "a place that you may write to."
        ) from error


def _is_stream(path: Path) -> bool:
    """Whether a path is a device, a pipe or a socket: written to, never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _open_beside(name: str, target: Path) -> tuple[Path | None, Path]:
    """Make the temporary file beside the target, so that a bad path fails now.

    A link is followed; a device or pipe gets no temporary file.
    """
    if target.is_dir():
        raise OnechangeError(f"--{name} {target}: is a folder; name a file in it.")
    place = target.resolve()
    if _is_stream(place):
        return None, place
    try:
        handle, temporary = tempfile.mkstemp(
            dir=place.parent, prefix=f".{place.name}.", suffix=".part"
        )
        os.close(handle)
        mode = 0o666 & ~_umask()
        Path(temporary).chmod(mode)
    except OSError as error:
        raise OnechangeError(
            f"--{name} {target}: cannot be written ({error.strerror}); choose a file "
            "in a folder that you may write to."
        ) from error
    return Path(temporary), place


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
