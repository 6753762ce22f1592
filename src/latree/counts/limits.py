"""How many cells of counts and tensors are kept in memory at once.

Read these as ``limits.NAME``, so that one change of a limit holds everywhere.
"""

# Contingency tables that one call returns have at most this many cells (1 GB). One quartet of columns with 200 states
# has 1.6e9, and is refused before memory runs out.
MAX_CELLS = 2**27

# Pair counts are made and measured in tiles of this many cells (8 MB).
PAIR_CELLS_AT_ONCE = 2**20

# Pair counts of columns with many states are made in batches of this many cells (32 MB).
WIDE_PAIR_CELLS_AT_ONCE = 2**22

# Quartet tensors are made in batches of this many cells (32 MB, and three times that when they are unfolded).
TENSOR_CELLS_AT_ONCE = 2**22
