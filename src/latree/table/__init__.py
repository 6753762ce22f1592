"""Tables of codes: discrete columns, missing cells, row weights, and sums over rows."""

from latree.table.chunks import Block, Sums, missing_code
from latree.table.columns import DEFAULT_MISSING, Column
from latree.table.encode import Unseen
from latree.table.memory import MemoryRows, Rows
from latree.table.table import (
    DEFAULT_BINS,
    FEW_STATES,
    MANY_STATES,
    Table,
    as_table,
    check_learnable,
    decode_column,
    signed_codes,
)

__all__ = [
    "DEFAULT_BINS",
    "DEFAULT_MISSING",
    "FEW_STATES",
    "MANY_STATES",
    "Block",
    "Column",
    "MemoryRows",
    "Rows",
    "Sums",
    "Table",
    "Unseen",
    "as_table",
    "check_learnable",
    "decode_column",
    "missing_code",
    "signed_codes",
]
