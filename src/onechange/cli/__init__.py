"""The command line: flags in, exit code out; no statistics, no rendering.

Exit codes: 0 done (for ``decide``: ship), 1 do not ship, 2 wrong usage or unreadable
input, 3 inconclusive. A crash is 2 as well, never 1.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from onechange import __version__
from onechange.cli import commands, planning
from onechange.errors import OnechangeError

__all__ = ["app", "main"]

ERROR = 2

app = typer.Typer(
    name="onechange",
    help="Did the change help, and may it ship? Paired statistics for evaluations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for _name, _command in commands.COMMANDS.items():
    app.command(_name)(_command)
app.command("power")(planning.power)
_plan = typer.Typer(help="Write a draft plan.", no_args_is_help=True)
_plan.command("init")(planning.plan_init)
_plan.callback()(lambda: None)  # so that the only command keeps its name
app.add_typer(_plan, name="plan")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onechange {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Did the change help, and may it ship? Paired statistics for evaluations."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        The words after the program's name; those of the process by default.
    """
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        app(words, prog_name="onechange")  # leaves with SystemExit, 2 for wrong usage
    except OnechangeError as error:
        _report(str(error), debug=debug)
    except BrokenPipeError:
        sys.stderr.close()  # our reader left (`| head`): nothing more to say
    except Exception as error:  # noqa: BLE001 - a crash must not look like a decision
        _report(
            f"stopped on a defect of its own ({type(error).__name__}: {error}); please "
            "report it with the output of --debug.",
            debug=debug,
        )
    sys.exit(ERROR)


def _report(text: str, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print(f"onechange: {text}", file=sys.stderr)  # noqa: T201
