"""One flag or argument of a command, and how a command takes a group of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

__all__ = ["Group", "Option", "argument", "flag", "with_options", "word", "words"]


@dataclass(frozen=True, slots=True)
class Option:
    """One parameter of a command: its type and flag as Typer takes them."""

    annotation: Any
    default: Any = inspect.Parameter.empty


Group = dict[str, Option]


def with_options(
    *groups: Group,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command that takes ``words`` the parameters of several groups.

    Typer reads the signature of a function; writing out thirty parameters for each
    command would state every flag several times. The command receives its
    parameters as one dictionary.
    """
    options = {name: option for group in groups for name, option in group.items()}

    def decorate(command: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
        def call(**words: Any) -> None:
            command(words)

        call.__name__ = command.__name__
        call.__doc__ = command.__doc__
        call.__annotations__ = {
            name: option.annotation for name, option in options.items()
        }
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=option.default,
                    annotation=option.annotation,
                )
                for name, option in options.items()
            ]
        )
        return call

    return decorate


def argument(
    kind: Any, metavar: str, text: str, default: Any = inspect.Parameter.empty
) -> Option:
    """Make a positional argument; without a default it is required."""
    return Option(Annotated[kind, typer.Argument(metavar=metavar, help=text)], default)


def flag(
    kind: Any,
    name: str,
    metavar: str | None,
    text: str,
    *,
    panel: str,
    default: Any = None,
) -> Option:
    """Make a flag of any kind, shown in a panel of the help."""
    info = typer.Option(name, metavar=metavar, help=text, rich_help_panel=panel)
    return Option(Annotated[kind, info], default)


def word(name: str, metavar: str, text: str, panel: str) -> Option:
    """Make a flag that takes one word."""
    return flag(str | None, name, metavar, text, panel=panel)


def words(name: str, metavar: str, text: str, panel: str) -> Option:
    """Make a flag that may be given several times."""
    return flag(list[str] | None, name, metavar, f"{text} Repeatable.", panel=panel)
