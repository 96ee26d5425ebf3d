"""The error tree: every expected failure has a place, a fact and a way out.

::

    OnechangeError            anything a user can mend; the CLI prints it and exits 2
    ├── InputError            a file or table cannot be read as results
    ├── PairingError          the arms cannot be paired question by question
    ├── PlanError             the plan (or a flag that stands for it) is not valid
    └── MethodError           a statistical method does not fit its data

A message says where (file and line, key or argument), what was found, and what to do.
"""

from __future__ import annotations

__all__ = [
    "InputError",
    "MethodError",
    "OnechangeError",
    "PairingError",
    "PlanError",
]


class OnechangeError(Exception):
    """Base of all errors that a user can mend."""


class InputError(OnechangeError):
    """A file or table cannot be read as per-question results."""


class PairingError(OnechangeError):
    """The two arms cannot be paired question by question."""


class PlanError(OnechangeError):
    """The plan, or a flag that stands for a plan key, is not valid."""


class MethodError(OnechangeError):
    """A statistical method does not fit the data it was asked for."""
