"""Unusual rows and their cells, compared with sums over the joint distribution."""

import numpy as np
import pytest

from helpers.models import naive_joint, small_models, table_of
from latree.report.unusual_rows import row_facts

MODELS = small_models()


def test_unusual_rows_and_their_least_expected_cells():
    model = MODELS[3]
    codes = model.sample(40, random_state=1).codes()
    codes[7, 2] = -1
    table = table_of(model, codes)
    facts = row_facts(model, table, [5], 5)
    scores = model.log_likelihood_rows(table)
    assert [row["row"] for row in facts["unusual"]] == (np.argsort(scores, kind="stable")[:5] + 1).tolist()
    joint = naive_joint(model).sum(axis=5)
    for row in facts["unusual"]:
        cells = codes[row["row"] - 1]
        shares = {}
        for column in np.flatnonzero(cells >= 0).tolist():
            index = tuple(slice(None) if node == column or cells[node] < 0 else cells[node] for node in range(5))
            missing = [node for node in range(5) if node != column and cells[node] < 0]
            kept = [node for node in range(5) if node == column or cells[node] < 0]
            given = joint[index].sum(axis=tuple(kept.index(node) for node in missing))
            shares[column] = given[cells[column]] / given.sum()
            expected = str(int(np.argmax(given)))
            shown = [cell for cell in row["cells"] if cell["column"] == column]
            assert all(cell["expected"] == expected for cell in shown)
        for cell in row["cells"]:
            assert cell["probability"] == pytest.approx(shares[cell["column"]], rel=0.06)
        assert {cell["column"] for cell in row["cells"]} == set(sorted(shares, key=shares.get)[:4])
    posterior = model.posteriors(table)["H1"]
    for row in facts["spaced"]:
        ((state, share),) = row["states"]
        assert state == posterior[row["row"] - 1].argmax()
        assert share == pytest.approx(1000 * posterior[row["row"] - 1].max(), abs=0.51)
