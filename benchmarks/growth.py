"""The number of quartet tests in divide and conquer: python benchmarks/growth.py.

The test is an oracle that knows the true tree. Trees are balanced (β = 0.5), skewed (β = 0.2) or caterpillars. The
ratio to d log2 d must stay below one.
"""

import numpy as np

from latree.counts.quartets import four_point_test
from latree.learners.divide_conquer import divide_and_conquer
from latree.paper.simulate import random_tree
from latree.tree import Tree


def caterpillar(d: int) -> Tree:
    return Tree.from_newick("(" * (d - 1) + "x0,x1" + "".join(f"),x{i}" for i in range(2, d)) + ");")


def main() -> None:
    print(f"{'d':>5}{'balanced':>12}{'ratio':>7}{'skewed':>12}{'ratio':>7}{'caterpillar':>12}{'ratio':>7}")
    for d in (16, 32, 64, 128, 256, 512, 1024, 2048):
        line = f"{d:5}"
        for tree in (random_tree(d, 0.5, 0), random_tree(d, 0.2, 0), caterpillar(d)):
            built = divide_and_conquer(tree.names, four_point_test(tree.path_lengths()), random_state=0)
            assert built.tree.robinson_foulds(tree) == 0
            tests = built.facts["quartet_tests"]
            line += f"{tests:12}{tests / (d * np.log2(d)):7.2f}"
        print(line)


if __name__ == "__main__":
    main()
