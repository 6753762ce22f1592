"""Tables of discrete data: columns of any frame or file as small integer codes, and sums over their rows."""

from latree.table.checking import check as check
from latree.table.columns import Column as Column
from latree.table.labels import read_labels as read_labels
from latree.table.reading import as_table as as_table
from latree.table.rows import Block as Block
from latree.table.table import Table as Table
