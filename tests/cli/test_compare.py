"""The command compare."""

import json
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest

from helpers.cli import run, succeed
from helpers.models import grouped_model
from latree.interpret.compare import compare_models
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


def compared(*arguments):
    return json.loads(succeed("compare", *arguments, "--json"))


def test_compare_trees():
    Path("one.nwk").write_text("((a,b),c,(colour,size));\n")
    Path("two.nwk").write_text("((size,colour),b,(c,a));\n")
    facts = compared("one.nwk", "two.nwk")
    assert (facts["robinson_foulds"], facts["max"]) == (2, 4)
    assert "groups" not in facts
    Path("parts.nwk").write_text("(a,b);\n(c,colour,size);\n")
    assert succeed("compare", "one.nwk", "two.nwk").splitlines() == [
        "5 columns in both",
        "",
        "Trees: Robinson-Foulds distance 2 of at most 4",
        "  one.nwk: 2 splits, 1 shared, 1 only here",
        "  two.nwk: 2 splits, 1 shared, 1 only here",
    ]
    assert succeed("compare", "one.nwk", "parts.nwk").splitlines()[3:] == [
        "  one.nwk: 2 splits, 1 shared, 1 only here",  # {a, b} divides none of the parts
        "  parts.nwk: 0 splits, 0 shared, 0 only here",
    ]
    assert compared("tree.nwk", "model.json")["robinson_foulds"] == 0


def test_columns_of_one_tree_alone_are_not_compared():
    Path("one.nwk").write_text("((a,b),x,(c,(d,y)));\n")
    Path("two.nwk").write_text("((a,c),(b,z),d);\n")
    assert succeed("compare", "one.nwk", "two.nwk").splitlines() == [
        "4 columns in both",
        "not compared, as only one.nwk has them: x, y",
        "not compared, as only two.nwk has them: z",
        "",
        "Trees: Robinson-Foulds distance 2 of at most 2",
        "  one.nwk: 1 split, 0 shared, 1 only here",
        "  two.nwk: 1 split, 0 shared, 1 only here",
    ]
    Path("many.nwk").write_text(f"(a,{','.join(f'x{i}' for i in range(14))});\n")
    text = succeed("compare", "many.nwk", "two.nwk")
    assert "has them: x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 2 more\n" in text


def test_compare_models():
    grouped_model(sizes=(4, 8)).save("one.json")
    grouped_model(sizes=(5, 4, 3)).save("two.json")
    one, two = LatentTreeModel.load("one.json"), LatentTreeModel.load("two.json")
    facts = compare_models(one, two)
    assert compared("one.json", "two.json") == facts
    names = {key: [pair[key] for pair in facts["groups"]] for key in ("first", "second")}
    assert succeed("compare", "one.json", "two.json").splitlines()[-6:] == [
        f"Groups: adjusted Rand index {facts['adjusted_rand']:.2f} (1: the same groups, 0: as alike as by chance)",
        f"  '{names['first'][0]}' and '{names['second'][0]}' share 4 of 8 columns: x05, x06, x07, x08",
        "    only in the first: x04, x09, x10, x11",
        f"  '{names['first'][1]}' and '{names['second'][1]}' share 4 of 5 columns: x00, x01, x02, x03",
        "    only in the second: x04",
        f"  '{names['second'][2]}' is only in the second: x09, x10, x11",
    ]
    assert succeed("compare", "two.json", "one.json").splitlines()[-1].endswith("is only in the first: x09, x10, x11")
    assert succeed("compare", "one.json", "two.json", "--quiet") == ""


def test_both_models_score_the_rows_of_a_table():
    one, two = grouped_model(sizes=(4, 4)), grouped_model(sizes=(4, 4), strength=0.8)
    one.save("one.json")
    two.save("two.json")
    rows = pd.DataFrame(one.sample(40, 0).decode())
    rows.to_csv("rows.csv", index=False)
    facts = compare_models(one, two, rows)
    assert compared("one.json", "two.json", "--data", "rows.csv") == facts
    lines = succeed("compare", "one.json", "two.json", "--data", "rows.csv").splitlines()
    found = [line for line in lines if "correlation" in line]
    assert found == [f"    correlation of the scores of 40 rows: {pair['correlation']:.2f}" for pair in facts["groups"]]
    turned = [{**pair, "correlation": -0.5} for pair in facts["groups"]]
    with mock.patch("latree.interpret.compare.compare_models", return_value={**facts, "groups": turned}):
        text = succeed("compare", "one.json", "two.json", "--data", "rows.csv")
    assert text.count("of 40 rows: -0.50; the two count in opposite directions\n") == 2
    rows.assign(x00=9).to_csv("other.csv", index=False)
    assert run("compare", "one.json", "two.json", "--data", "other.csv")[0] == 2
    succeed("compare", "one.json", "two.json", "--data", "other.csv", "--unseen", "missing")


def test_wrong_files_are_refused_in_one_line():
    Path("one.nwk").write_text("(a,b,c);\n")
    Path("other.nwk").write_text("(x,y,z);\n")
    message = "latree: one.nwk and other.nwk: no column is in both; their first columns are 'a' and 'x'\n"
    assert run("compare", "one.nwk", "other.nwk")[::2] == (2, message)
    assert run("compare", "one.nwk", "one.nwk", "--data", "data.csv")[::2] == (
        2,
        "latree: --data needs two models: a tree alone gives no scores; pass two model.json files\n",
    )
    assert run("compare", "one.nwk", "absent.nwk")[::2] == (2, "latree: absent.nwk: no such file\n")
