"""What to compute: depths, unit, conventions, thresholds; from Python or from TOML."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onechange.errors import InputError, PlanError
from onechange.score.failures import CATEGORIES, NOISE_THRESHOLD
from onechange.score.fields import TraceFields, require_known
from onechange.score.parse import EMPTY_ANSWERS
from onechange.score.retrieval import GAINS
from onechange.score.trace import Page, finite_number

__all__ = ["ScoreOptions", "load_chunk_pages", "load_options", "options_from_flags"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "unit": ("auto", "chunk", "page", "document"),
    "gain": GAINS,
    "ranking": ("retrieved", "candidates", "selected"),
    "positions": ("results", "distinct"),
    "context": ("selected", "retrieved"),
    "evidence_rule": ("all", "any"),
    "empty_answer": EMPTY_ANSWERS,
    "new_columns": ("refuse", "leave out", "add"),
}
_CORRECT_FROM = ("exact_match", "token_f1", "numeric_match", "rouge_l")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Settings of one scoring run; they travel with the scores.

    Parameters
    ----------
    k : tuple of int
        Depths of the retrieval scores.
    unit : {"auto", "chunk", "page", "document"}
        Unit in which results and labels are compared; ``auto`` takes the unit of the
        labels.
    gain : {"exponential", "linear"}
        Gain of nDCG.
    ranking : {"retrieved", "candidates", "selected"}
        Which recorded list the retrieval scores rank.
    positions : {"results", "distinct"}
        For pages and documents: k counts results (chunks), or distinct units.
    context : {"selected", "retrieved"}
        Which recorded list is the context the model saw.
    relative_tolerance : float or None
        Of `numeric_match`; None rounds to the reference's last digit.
    rouge_l : bool
        Whether to compute ROUGE-L (package ``rouge-score``).
    correct_from : str or None
        Score that stands in for a missing ``correct``: ``exact_match``,
        ``token_f1``, ``numeric_match`` or ``rouge_l``.
    correct_threshold : float
        Smallest value of that score that counts as correct.
    noise_threshold : float
        Irrelevant share of the context above which a wrong answer is
        ``CONTEXT_NOISE``.
    evidence_rule : {"all", "any"}
        Whether evidence is present when all labelled units are, or any.
    assume_indexed : bool
        Take it as given that all evidence is in the corpus, whole in one chunk.
    categories : tuple of str
        Further failure categories that a label may name.
    kept_when_abstaining : tuple of str
        Finished scores that stay measured when the system abstained.
    ranges : mapping of str to (float, float)
        Lowest and highest value of finished scores; outside is an error.
    empty_answer : {"error", "insufficient_evidence", "failed"}
        What an answered trace with an empty answer is.
    carry : tuple of str
        Further fields with lists or objects to keep in the rows; plain values are
        always kept.
    constants : mapping of str to str
        Columns with one value, added to every row (the name of a run, say).
    new_columns : {"refuse", "leave out", "add"}
        When appending to a CSV table that lacks a column; an added one is empty in
        earlier rows.
    chunk_pages : mapping of str to (str, int)
        Page of each chunk: document name and one-based page number.
    fields : TraceFields
        Names of the fields in the file.

    Raises
    ------
    PlanError
        If a value is not allowed.
    """

    k: tuple[int, ...] = (5,)
    unit: str = "auto"
    gain: str = "exponential"
    ranking: str = "retrieved"
    positions: str = "results"
    context: str = "selected"
    relative_tolerance: float | None = None
    rouge_l: bool = False
    correct_from: str | None = None
    correct_threshold: float = 1.0
    noise_threshold: float = NOISE_THRESHOLD
    evidence_rule: str = "all"
    assume_indexed: bool = False
    categories: tuple[str, ...] = ()
    kept_when_abstaining: tuple[str, ...] = (
        "context_precision",
        "context_recall",
        "context_relevance",
    )
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    empty_answer: str = "error"
    carry: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    new_columns: str = "refuse"
    chunk_pages: Mapping[str, Page] = field(default_factory=dict)
    fields: TraceFields = field(default_factory=TraceFields)

    def __post_init__(self) -> None:
        depths = self.k
        if not depths or any(type(k) is not int or k < 1 for k in depths):
            raise PlanError(f"[score] k = {list(depths)}: expected positive integers")
        object.__setattr__(self, "k", tuple(sorted(set(depths))))
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise PlanError(
                    f"[score] {name} = {getattr(self, name)!r}: "
                    f"expected {', '.join(allowed)}"
                )
        if self.correct_from not in (None, *_CORRECT_FROM):
            raise PlanError(
                f"[score] correct_from = {self.correct_from!r}: "
                f"expected {', '.join(_CORRECT_FROM)}"
            )
        if self.correct_from == "rouge_l" and not self.rouge_l:
            raise PlanError("[score] correct_from = 'rouge_l' needs rouge_l = true")
        for name in ("correct_threshold", "noise_threshold"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise PlanError(f"[score] {name}: expected a number from 0 to 1")
        tolerance = self.relative_tolerance
        if tolerance is not None and not 0 <= tolerance < math.inf:
            raise PlanError(
                "[score] relative_tolerance: expected a finite number, 0 or more"
            )
        for name, limits in self.ranges.items():
            if not _is_range(limits):
                raise PlanError(
                    f"[score] ranges.{name} = {limits!r:.60}: expected [lowest, "
                    "highest], two finite numbers, the first below the second"
                )

    @property
    def known_categories(self) -> tuple[str, ...]:
        """Failure categories that a label may name."""
        return (*CATEGORIES, *self.categories)

    @classmethod
    def from_dict(
        cls, section: Mapping[str, Any], *, fields: TraceFields | None = None
    ) -> ScoreOptions:
        """Read the ``[score]`` section of a TOML file.

        Parameters
        ----------
        section : mapping
            Keys of this class but for `fields`; ``k`` may be one number, and
            ``chunk_pages`` a mapping.
        fields : TraceFields, optional
            From the ``[trace]`` section.

        Returns
        -------
        ScoreOptions

        Raises
        ------
        PlanError
            If a key is unknown or a value not allowed.

        Examples
        --------
        >>> ScoreOptions.from_dict({"k": [1, 5], "unit": "page"}).k
        (1, 5)
        """
        known = [name for name in cls.__dataclass_fields__ if name != "fields"]
        require_known("score", section, known)
        values = dict(section)
        if isinstance(values.get("k"), int):
            values["k"] = [values["k"]]
        for name in ("k", "carry", "categories", "kept_when_abstaining"):
            if name in values:
                if not isinstance(values[name], list | tuple):
                    raise PlanError(f"[score] {name}: expected a list")
                values[name] = tuple(values[name])
        for name in ("rouge_l", "assume_indexed"):
            if not isinstance(values.get(name, False), bool):
                raise PlanError(f"[score] {name}: expected true or false")
        for name in ("correct_threshold", "noise_threshold", "relative_tolerance"):
            if not isinstance(values.get(name, 0.0), int | float):
                raise PlanError(f"[score] {name}: expected a number")
        if fields is not None:
            values["fields"] = fields
        return cls(**values)

    def settings(self, *, unit: str) -> dict[str, Any]:
        """List the settings that shape the scores, as plain values.

        Parameters
        ----------
        unit : str
            The unit that ``auto`` came to.

        Returns
        -------
        dict
            Without names of fields and columns; the chunk mapping as its SHA-256.
        """
        names = (
            "k", "gain", "ranking", "positions", "context", "relative_tolerance",
            "rouge_l", "correct_from", "correct_threshold", "noise_threshold",
            "evidence_rule", "assume_indexed", "empty_answer",
        )  # fmt: skip
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        values["k"] = list(self.k)
        values["unit"] = unit
        if self.chunk_pages:
            pages = json.dumps(sorted(self.chunk_pages.items()), ensure_ascii=False)
            digest = hashlib.sha256(pages.encode("utf-8")).hexdigest()
            values["chunk_pages_sha256"] = digest
        return {name: value for name, value in values.items() if value is not None}


def _is_range(limits: object) -> bool:
    if not isinstance(limits, list | tuple) or len(limits) != 2:
        return False
    low, high = map(finite_number, limits)
    return low is not None and high is not None and low < high


def load_options(path: str | Path) -> ScoreOptions:
    """Read the sections ``[score]`` and ``[trace]`` of a TOML file.

    Parameters
    ----------
    path : str or Path
        TOML file; in ``[score]`` the key ``chunk_pages`` may name a JSON file beside
        it that maps chunk id to [document, page].

    Returns
    -------
    ScoreOptions

    Raises
    ------
    PlanError
        If the file is not TOML, a key is unknown or a value not allowed.
    InputError
        If a file cannot be read.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: not a TOML file ({error})") from error
    sections = {}
    for name in ("score", "trace"):
        sections[name] = content.get(name, {})
        if not isinstance(sections[name], dict):
            raise PlanError(f"{path}: {name} must be a section [{name}]")
    fields = TraceFields.from_dict(sections["trace"])
    mapping = sections["score"].pop("chunk_pages", None)
    options = ScoreOptions.from_dict(sections["score"], fields=fields)
    if mapping is None:
        return options
    return replace(options, chunk_pages=load_chunk_pages(path.parent / str(mapping)))


def options_from_flags(
    path: str | Path | None,
    depths: Sequence[str],
    *,
    constants: Sequence[str] = (),
    new_columns: str | None = None,
) -> ScoreOptions:
    """Read the options of a call: a TOML file, and flags that overrule it.

    Parameters
    ----------
    path : str or Path or None
        As for `load_options`; None is the defaults.
    depths : sequence of str
        Depths in words, each one number or several parted by commas.
    constants : sequence of str
        Columns with one value, each NAME=VALUE.
    new_columns : str, optional
        What appending does where a CSV table lacks a column.

    Returns
    -------
    ScoreOptions

    Raises
    ------
    PlanError
        If a depth is not a positive integer, a constant is not NAME=VALUE, or the
        file is not valid.

    Examples
    --------
    >>> options_from_flags(None, ["1,5", "10"]).k
    (1, 5, 10)
    """
    options = ScoreOptions() if path is None else load_options(path)
    words = [word.strip() for part in depths for word in part.split(",")]
    for word in words:
        if not (word.isascii() and word.isdigit() and int(word) > 0):
            raise PlanError(f"-k {word}: expected a positive integer, such as 5 or 1,5")
    changed: dict[str, Any] = {}
    if words:
        changed["k"] = tuple(int(word) for word in words)
    if constants:
        changed["constants"] = {**options.constants, **dict(map(_constant, constants))}
    if new_columns is not None:
        changed["new_columns"] = new_columns.replace("-", " ")
    return replace(options, **changed) if changed else options


def _constant(word: str) -> tuple[str, str]:
    name, mark, value = word.partition("=")
    if not (mark and name.strip() and value.strip()):
        raise PlanError(f"--constant {word}: expected NAME=VALUE, such as run=topk8")
    return name.strip(), value.strip()


def load_chunk_pages(path: str | Path) -> dict[str, Page]:
    """Read the mapping of chunks to pages.

    Parameters
    ----------
    path : str or Path
        JSON object: chunk id to [document, page], pages from 1.

    Returns
    -------
    dict of str to (str, int)

    Raises
    ------
    InputError
        If the file cannot be read or an entry is not of this form.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error})") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected an object of chunk id to [document, page]")
    pages: dict[str, Page] = {}
    for chunk, page in content.items():
        fits = isinstance(page, list) and len(page) == 2
        if not (fits and type(page[0]) is str and type(page[1]) is int and page[1] > 0):
            raise InputError(
                f"{path}: {chunk!r} is {page!r:.60}; expected [document, page], "
                "pages from 1"
            )
        pages[chunk] = (page[0], page[1])
    return pages
