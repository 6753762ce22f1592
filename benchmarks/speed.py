"""The speed of all parts: python benchmarks/speed.py [part ...].

The parts are quartets, pairs, joining, divide, em, small, fits, ordinary and wide; by default all of them.
Every time is the minimum of interleaved repeats, as wall time and as processor time of all cores (`cpu`); ratios are to
a reference in the same run. On a busy machine only ratios of processor time are meaningful. `growth` shows the fitted
exponent of processor time beside the expected one. `--columns` is the size of the largest table of `divide` (4 states,
2000 rows); `--table FILE --drop COLUMN` adds a table to those of `em`, `--folder` real tables to those of `ordinary`,
`--texts` the words of a file with one text per line to those of `wide`, and `--only` chooses among the last two.
"""

import argparse
from collections.abc import Callable
from functools import partial

from em import iterations, small
from fits import fits, ordinary
from structure import divide, joining, pairs, quartets
from wide import wide


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="by default all")
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--table", help="a file with a table to measure EM on as well")
    parser.add_argument("--drop", nargs="*", default=[], help="columns of it to leave out")
    parser.add_argument("--folder", help="of real tables")
    parser.add_argument("--texts", help="a file with one text per line, for the words of `wide`")
    parser.add_argument("--only", nargs="*", default=[], help="names of tables, such as tumours or growth")
    options = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "quartets": quartets,
        "pairs": pairs,
        "joining": joining,
        "divide": partial(divide, options.columns),
        "em": partial(iterations, options.table, options.drop),
        "small": small,
        "fits": fits,
        "ordinary": partial(ordinary, options.folder, options.only),
        "wide": partial(wide, options.texts, options.only),
    }
    unknown = set(options.parts) - set(parts)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in options.parts or parts:
        parts[name]()
        print(flush=True)


if __name__ == "__main__":
    main()
