"""Parquet files and data frames -> `Table`, whole columns at a time."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onechange import cells
from onechange.errors import InputError
from onechange.tables import Column, ListColumn, Table, objects

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ArrowColumn", "NumberColumn", "frame_table", "parquet_table"]

_MAX_BYTES = 16 << 30  # uncompressed size that a Parquet file may state
_BYTES_OF_CODES = 5  # a text column below this per row is stored as codes
_SAMPLE = 4096

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A column of NumPy numbers or booleans.

    Parameters
    ----------
    values : ndarray of bool, int or float, shape (n_rows,)
        Cells; NaN is an empty one.
    """

    values: NDArray[Any]

    def scores(self, missing: Collection[str]) -> tuple[FloatArray, BoolArray]:
        """Scores, and which cells are no scores; see `cells.score_values`."""
        return cells.score_values(self.values, missing)

    def texts(self) -> TextArray:
        """Labels, see `cells.label_text`; None for an empty cell."""
        return ListColumn(self.values.tolist()).texts()

    def ids(self) -> TextArray:
        """Ids, see `cells.question_text`; None where a cell cannot be an id."""
        return ListColumn(self.values.tolist()).ids()

    def value(self, row: int) -> Any:
        """Return the cell as it was read."""
        return self.values[row].item()

    def tally(self) -> dict[str, int] | None:
        """Count each distinct text; None when the cells are not all text."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class ArrowColumn:
    """A column of a Parquet file.

    Parameters
    ----------
    array : pyarrow.Array, length n_rows
        Cells.
    """

    array: Any

    def scores(self, missing: Collection[str]) -> tuple[FloatArray, BoolArray]:
        """Scores, and which cells are no scores; see `cells.score_values`."""
        import pyarrow as pa

        kinds = pa.types
        kind = self.array.type
        if kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_floating(kind):
            values = _numbers(self.array.cast(pa.float64(), safe=False), math.nan)
            return values, np.zeros(values.size, dtype=np.bool_)
        if self._is_text():
            texts = [text or "" for text in self._strings().to_pylist()]
            return cells.score_values(texts, missing)
        return cells.score_values(self.array.to_pylist(), missing)

    def texts(self) -> TextArray:
        """Labels, see `cells.label_text`; None for an empty cell."""
        import pyarrow as pa

        if not self._is_text():
            return ListColumn(self.array.to_pylist()).texts()
        if not pa.types.is_dictionary(self.array.type) and self._mostly_distinct():
            return objects([text or None for text in self.array.to_pylist()])
        coded = self.array
        if not pa.types.is_dictionary(coded.type):
            coded = coded.dictionary_encode()
        words = ListColumn([*coded.dictionary.to_pylist(), None]).texts()
        found: TextArray = words[_numbers(coded.indices, len(words) - 1)]
        return found

    def ids(self) -> TextArray:
        """Ids, see `cells.question_text`; None where a cell cannot be an id."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_integer(self.array.type):
            return objects(self.array.cast(pa.string()).to_pylist())
        if not self._is_text():
            return ListColumn(self.array.to_pylist()).ids()
        texts = self._strings()
        found = texts.to_pylist()
        empty = texts.null_count or pc.min(pc.binary_length(texts)).as_py() == 0
        if empty or pc.any(pc.utf8_is_space(texts)).as_py():
            return ListColumn(found).ids()
        return objects(found)

    def value(self, row: int) -> Any:
        """Return the cell as it was read."""
        return self.array[row].as_py()

    def tally(self) -> dict[str, int] | None:
        """Count each distinct text; None when the cells are not all text."""
        if not self._is_text():
            return None
        counted = self.array.value_counts()
        words, counts = counted.field(0), counted.field(1)
        if hasattr(words, "dictionary"):
            words = words.dictionary_decode()
        tally: dict[str, int] = {}
        for word, count in zip(words.to_pylist(), counts.to_pylist(), strict=True):
            tally[word or ""] = tally.get(word or "", 0) + count
        return tally

    def _is_text(self) -> bool:
        import pyarrow as pa

        kind = self.array.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def _strings(self) -> Any:
        import pyarrow as pa

        return self.array.cast(pa.large_string())

    def _mostly_distinct(self) -> bool:
        sample = self.array[:_SAMPLE].to_pylist()
        return 2 * len(set(sample)) > len(sample)


def parquet_table(data: bytes, *, name: str) -> Table:
    """Columns of a Parquet file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Table
        Columns of structs are opened to dotted names.

    Raises
    ------
    InputError
        When the file is damaged, states an absurd size, or repeats a column name.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(pa.BufferReader(data))
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if size > _MAX_BYTES:
            raise InputError(
                f"{name}: states {size:,} bytes of content, at most {_MAX_BYTES:,} are "
                "read; split the file."
            )
        coded = _coded_columns(metadata, groups)
        # Not `read_table`: it imports the whole of pyarrow.dataset and pandas.
        table = pq.ParquetFile(pa.BufferReader(data), read_dictionary=coded).read()
        pa.default_memory_pool().release_unused()  # what decoding alone needed
        while any(pa.types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
        arrays = [_one_array(column) for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        first = str(error).strip().split("\n", 1)[0][:120]
        raise InputError(
            f"{name}: not a readable Parquet file ({first}); it may be cut short."
        ) from error
    columns = [ArrowColumn(array) for array in arrays]
    return _table(name, table.column_names, columns, table.num_rows)


def frame_table(frame: pd.DataFrame, *, name: str) -> Table:
    """Columns of a pandas data frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question and trial; a named index counts as columns.
    name : str
        Name of the arm, for messages.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        When a column name occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> table = frame_table(pd.DataFrame({"question_id": ["q1"]}), name="baseline")
    >>> list(table.columns), table.place(0)
    (['question_id'], 'baseline, row 1')
    """
    named = [level for level in frame.index.names if level is not None]
    if named and not set(named).intersection(frame.columns):
        frame = frame.reset_index(level=named)
    names = [
        ".".join(map(str, label)) if isinstance(label, tuple) else str(label)
        for label in frame.columns
    ]
    columns: list[Column] = []
    for position in range(len(names)):
        series = frame.iloc[:, position]
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
            columns.append(NumberColumn(series.to_numpy()))
        else:
            objects = series.astype(object)
            columns.append(ListColumn(objects.where(series.notna(), None).tolist()))
    return _table(name, names, columns, len(frame))


def _table(
    name: str, names: Sequence[str], columns: Sequence[Column], n_rows: int
) -> Table:
    found: dict[str, Column] = {}
    for label, column in zip(names, columns, strict=True):
        if label in found:
            raise InputError(
                f'{name}: the column "{label}" occurs twice; rename one of them.'
            )
        found[label] = column
    return Table(
        name=name,
        columns=found,
        n_rows=n_rows,
        place=lambda row: f"{name}, row {row + 1}",
    )


def _numbers(array: Any, otherwise: float) -> NDArray[Any]:
    """Values of an array of numbers, and `otherwise` where it has none.

    Neither `to_numpy` nor `fill_null`: they import the whole of pandas.
    """
    import pyarrow as pa

    if not array.null_count:
        return np.asarray(np.from_dlpack(array))
    present = np.from_dlpack(array.is_valid().cast(pa.int8())) == 1
    known = np.from_dlpack(array.drop_null())
    values = np.full(len(array), otherwise, dtype=known.dtype)
    values[present] = known
    return values


def _one_array(column: Any) -> Any:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)  # combining would copy it
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # more text than 32-bit offsets can hold
        array = column.cast(pa.large_string()).combine_chunks()
    return array


def _coded_columns(metadata: Any, groups: Sequence[Any]) -> list[str]:
    """Text columns whose values repeat so much that they are stored as codes."""
    coded = []
    for index in range(metadata.num_columns):
        chunks = [group.column(index) for group in groups]
        size = sum(chunk.total_uncompressed_size for chunk in chunks)
        text = bool(chunks) and chunks[0].physical_type == "BYTE_ARRAY"
        if text and size < _BYTES_OF_CODES * metadata.num_rows:
            coded.append(chunks[0].path_in_schema)
    return coded
