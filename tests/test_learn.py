"""Whole fits: of rows on disk, of files, and of columns with many states."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.estimator import easy_codes, frame
from helpers.models import all_rows, grouped_model, small_models
from helpers.tables import keep_all_on_disk, permuted, simulated_table, through_parquet, wide_table, write_frame
from latree._util.progress import stages_shown_by
from latree.counts.distances import chance, covariance, information, log_det, nuclear, pairwise
from latree.errors import InputError
from latree.estimator import LatentTree
from latree.facts.found import report_facts
from latree.facts.text import summary_lines
from latree.facts.words import figure
from latree.interpret.reliability import reliability
from latree.learn import _drawn, _reordered, learn_model, learn_tree
from latree.learners.structure import Replicate, Structure
from latree.learners.support import found_again
from latree.model import LatentTreeModel
from latree.model.fitting import held_out
from latree.model.record import Candidate
from latree.paper.simulate import random_model
from latree.settings import Settings
from latree.table import Column, Table, as_table
from latree.table.rows import DiskRows, MemoryRows
from latree.tree import Tree


@pytest.fixture
def all_on_disk(monkeypatch):
    keep_all_on_disk(monkeypatch)


@pytest.mark.parametrize("method", ["auto", "tensor", "hw"])
def test_a_model_of_rows_on_disk_is_that_of_rows_in_memory(all_on_disk, tmp_path, method, monkeypatch):
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 256)
    monkeypatch.setattr("latree.model.fitting._MANY_ROWS", 1000)
    monkeypatch.setattr("latree.model.fitting.FEW_ROWS", 500)
    monkeypatch.setattr("latree.model.fitting.MAX_STATES", 4)
    table = simulated_table(2500)
    disk = through_parquet(table, tmp_path)
    assert isinstance(disk.rows, DiskRows)
    chosen = Settings(method, random_state=0, bootstrap=2, max_iter=5)
    one, other = (learn_model(rows, chosen) for rows in (table, disk))
    assert one.model.tree.to_newick() == other.model.tree.to_newick()
    for a, b in zip(one.model.tables, other.model.tables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.model.groups == other.model.groups
    assert {**one.summary, "seconds": 0} == {**other.summary, "seconds": 0}


@pytest.mark.parametrize(
    "chosen",
    [
        Settings(random_state=0, bootstrap=2),
        Settings(goal="predict", random_state=0),
        Settings("lcm", "predict", random_state=0),
        Settings("hw", random_state=0),
        Settings("chow-liu", random_state=0),
    ],
    ids=lambda chosen: f"{chosen.method} {chosen.goal}",
)
def test_the_order_of_columns_changes_no_model(chosen):
    table = grouped_model((3, 3), column_states=2, strength=0.8).sample(100, 0)
    order = np.random.default_rng(0).permutation(6)
    one, other = (learn_model(rows, chosen) for rows in (table, permuted(table, order)))
    assert one.model.tree.n_hidden or chosen.method == "chow-liu"
    assert other.structure.tree is other.model.tree
    assert other.model.tree.names == tuple(table.names[column] for column in order)
    assert other.model.tree.reordered(table.names).splits == one.model.tree.splits
    np.testing.assert_allclose(
        other.model.log_likelihood_rows(other.table), one.model.log_likelihood_rows(one.table), rtol=1e-12
    )
    assert other.fit.monitor.history == one.fit.monitor.history
    assert (other.worth, other.choice is None, other.structure.candidates) == (
        one.worth,
        one.choice is None,
        one.structure.candidates,
    )
    assert set(other.model.hidden_names) == set(one.model.hidden_names)
    assert {frozenset(group.columns): group.stability for group in other.model.groups} == {
        frozenset(group.columns): group.stability for group in one.model.groups
    }
    if chosen.bootstrap:
        assert other.consensus.reordered(table.names).splits == one.consensus.splits


@pytest.mark.parametrize("model", small_models())
def test_a_model_with_columns_in_another_order_is_the_same_distribution(model):
    """Also where another column becomes the root of its part."""
    for order in itertools.permutations(range(len(model.columns))):
        moved = _reordered(model, [model.columns[column] for column in order])
        rows = all_rows(model)
        np.testing.assert_allclose(
            moved.log_likelihood_rows(Table.from_codes(moved.columns, rows[:, order])),
            model.log_likelihood_rows(Table.from_codes(model.columns, rows)),
            atol=1e-12,
        )


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_neither_counts_nor_the_order_of_rows_change_a_model(goal):
    table = grouped_model((3, 3), column_states=2, strength=0.8).sample(100, 0)
    twice = np.repeat(table.codes(), 2, axis=0)
    tables = (
        Table.from_codes(table.columns, table.codes(), np.full(100, 2.0)),
        Table.from_codes(table.columns, np.random.default_rng(0).permutation(twice)),
    )
    one, other = (learn_model(rows, Settings(goal=goal, random_state=0)).model for rows in tables)
    assert one.tree.n_hidden
    assert other.tree.edges.tolist() == one.tree.edges.tolist()
    np.testing.assert_allclose(other.log_likelihood_rows(table), one.log_likelihood_rows(table), rtol=1e-6)


def test_a_sorted_full_factorial_is_predicted_no_worse_than_by_independent_columns_and_its_order_is_named():
    """Without a tenth of the rows, columns seem to depend on each other: as new rows, these would be impossible."""
    sizes = (5, 4, 4, 4, 3, 3)
    causes = np.array(list(itertools.product(*map(range, sizes))))
    codes = np.column_stack([causes, causes.sum(axis=1) > 8])
    columns = [Column(f"a{j}", "integer", tuple(map(str, range(n)))) for j, n in enumerate((*sizes, 2))]
    new, known = (Table.from_codes(columns, some) for some in np.split(codes, [288]))
    auto, independent = (
        learn_model(known, Settings(one, "predict", random_state=0)) for one in ("auto", "independent")
    )
    assert auto.model.log_likelihood(new) > independent.model.log_likelihood(new)
    assert [warning for warning in auto.warnings if warning.startswith("The rows are in an order that matters: a row")]
    given = Settings("lcm", "predict", n_states=2, smoothing=1.0)  # nothing is chosen
    mixed = known.take(np.random.default_rng(0).permutation(known.n_rows))
    for rows, chosen in ((known, given), (known, Settings("independent")), (mixed, independent.settings)):
        assert not any("in an order that matters" in warning for warning in learn_model(rows, chosen).warnings)


def test_held_out_rows_of_a_large_table_are_few(all_on_disk, tmp_path, monkeypatch):
    monkeypatch.setattr("latree.model.fitting._MANY_ROWS", 2400)
    table = simulated_table()
    weights = np.ones(3000)
    weights[::7] = 0
    weighted = Table(table.columns, MemoryRows(table.rows.codes, weights))
    for data in (table, through_parquet(table, tmp_path), weighted):
        (part,) = held_out(data, np.random.default_rng(0))
        assert part.fitted.n_rows + part.judged.n_rows == 2400
        assert part.fitted.total_weight + part.judged.total_weight == 2400


def test_the_estimator_takes_names_of_files(all_on_disk, tmp_path):
    table = simulated_table(600)
    frame = pd.DataFrame(table.decode())
    path = write_frame(frame, tmp_path / "a.parquet")
    options = {"method": "nj", "n_states": 2, "smoothing": 0.1, "max_iter": 3, "random_state": 0}
    from_frame, from_file = LatentTree(**options).fit(frame), LatentTree(**options).fit(str(path))
    assert from_file.tree_.to_newick() == from_frame.tree_.to_newick()
    assert from_file.n_features_in_ == 6
    assert from_file.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(from_file.transform(frame), from_frame.transform(frame))
    np.testing.assert_array_equal(from_file.score_samples(path), from_frame.score_samples(frame))
    assert len(from_file.impute(path)) == 600
    assert isinstance(from_file.model_, LatentTreeModel)


@pytest.mark.parametrize("measure", [covariance, information, log_det, nuclear, chance])
def test_pairs_of_wide_columns_are_measured_like_others(monkeypatch, measure):
    table = wide_table([3, 2, 11, 6, 40], 500)
    expected = pairwise(table, measure)
    monkeypatch.setattr("latree.counts.distances.FEW_STATES", 5)
    monkeypatch.setattr("latree.counts.distances.WIDE_PAIR_CELLS_AT_ONCE", 800)
    np.testing.assert_allclose(pairwise(table, measure), expected, rtol=1e-9, atol=1e-12)


def test_columns_of_many_states_are_learned_or_refused_before_the_work_starts(monkeypatch):
    table = wide_table([200, 3, 4, 80, 5], 4000)
    for method in ("auto", "nj", "chow-liu", "lcm"):
        model = LatentTree(method, n_states=2, smoothing=0.1, max_iter=2, random_state=0).fit(table).model_
        assert model.n_states[:5].tolist() == [200, 3, 4, 80, 5]
    for method in ("tensor", "hw", "spectral"):
        with pytest.raises(InputError, match=r"'x0' has 200 .*more than 64 \(other methods take more\).*'x3' has 80"):
            LatentTree(method, n_states=2).fit(table)
    with pytest.raises(InputError, match=r"'x3' has 80 .*fewer than 20 rows each; drop identifiers and dates"):
        learn_tree(table.take(np.arange(1500)))
    with pytest.raises(InputError, match="'x0' has 1001 different values, such as '0', more than 1000;"):
        learn_tree(wide_table([1001, 2, 2, 2], 30_000))
    monkeypatch.setattr("latree.counts.distances._MOST_WIDE_CELLS", 2**17)
    with pytest.raises(InputError, match="2 columns have more than 64 states, such as 'x0' with 200: all"):
        learn_tree(table)


def test_the_summary_has_the_reliability_of_every_score():
    table = simulated_table(500)
    learned = learn_model(table, Settings("nj", n_states=2, random_state=0))
    expected = reliability(learned.model, table)
    assert len(expected) >= 1
    assert learned.summary["reliability"] == {
        one.name: {"reliability": one.reliability, "alpha": one.alpha} for one in expected
    }


def test_a_model_that_predicts_says_what_was_chosen_and_what_is_next_to_it():
    """Columns that copy the one before: a Chow-Liu tree."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 300)]
    for _ in range(4):
        columns.append(np.where(rng.random(300) < 0.8, columns[-1], rng.integers(0, 3, 300)))
    learned = learn_model(as_table(np.array(columns).T), Settings(goal="predict", random_state=0))
    chosen, *others = learned.summary["candidates"]
    assert chosen == {"kind": "chow-liu", "behind": 0.0, "error": 0.0}
    assert [other["behind"] for other in others] == sorted(other["behind"] for other in others)
    (line,) = [line for line in summary_lines(learned.summary) if line.startswith("Held-out rows chose")]
    assert line.startswith("Held-out rows chose a Chow-Liu tree (chow-liu). Beside it, in nats per row: ")
    assert f" −{figure(others[0]['behind'], others[0]['error'])}," in line
    assert line.count(" ± ") == 2
    assert line.endswith("For groups of columns to read, use goal='explain'.")
    assert report_facts(learned.model)["fit"]["record"]["chosen"] == "a Chow-Liu tree (chow-liu)"


def test_a_candidate_with_more_parameters_may_be_slightly_ahead():
    facts = learn_model(simulated_table(300), Settings("chow-liu", random_state=0)).summary
    facts |= {"candidates": [Candidate("lcm", 0.0, 0.0)._asdict(), Candidate("hclt", -0.012, 0.02)._asdict()]}
    assert any(
        "Beside it, in nats per row: a hidden Chow-Liu tree (hclt) +0.01 ± 0.02." in one for one in summary_lines(facts)
    )


def test_a_model_that_explains_was_not_chosen_among_others():
    learned = learn_model(simulated_table(300), Settings("chow-liu", random_state=0))
    assert learned.summary["candidates"] == []
    assert not any("Held-out rows chose" in line for line in summary_lines(learned.summary))
    assert report_facts(learned.model)["fit"]["record"]["chosen"] is None


def test_there_are_no_numbers_of_states_to_choose_without_hidden_variables(monkeypatch):
    monkeypatch.setattr("latree.learn.Search", None)
    learned = learn_model(simulated_table(300), Settings("chow-liu", random_state=0))
    assert learned.model.tree.n_hidden == 0
    assert learned.summary["n_states"] == []


def test_learn_tree_and_the_estimator_agree():
    assert learn_tree(frame(), random_state=3).to_newick() == LatentTree(random_state=3).fit(frame()).tree_.to_newick()


def uneven_codes(n_rows=1000):
    """Three columns that follow a hidden variable of four states, and three that follow its parity."""
    rng = np.random.default_rng(0)
    hidden = np.repeat(rng.integers(0, 4, (n_rows, 1)), 6, axis=1)
    codes = np.where(rng.random(hidden.shape) < 0.85, hidden, rng.integers(0, 4, hidden.shape))
    codes[:, 3:] %= 2
    return codes


def test_hidden_variables_have_what_the_learner_finds_or_what_it_is_told():
    found = LatentTree("hw", random_state=0).fit(uneven_codes())
    structure = learn_model(as_table(uneven_codes()), Settings("hw", random_state=0)).structure
    assert found.summary_["n_states"] == list(structure.n_states) == found.model_.n_states[6:].tolist()
    assert set(structure.n_states) == {2, 4}
    for method, told, n_hidden in (("hw", 3, 4), ("tensor", 2, 4), ("auto", 3, 1)):
        fitted = LatentTree(method, n_states=told, random_state=0).fit(uneven_codes())
        assert fitted.summary_["n_states"] == told
        assert fitted.model_.n_states[6:].tolist() == [told] * n_hidden
    alike = LatentTree("hw", random_state=0).fit(uneven_codes()[:, 3:])
    assert alike.summary_["n_states"] == 2


def test_replicates_do_not_meddle_with_the_progress_of_the_tree():
    told = {}
    settings = Settings("tensor", n_states=2, smoothing=0.1, bootstrap=3, random_state=0)
    with stages_shown_by(lambda name, at_most=False: lambda *numbers: told.setdefault(name, []).append(numbers)):
        learn_model(as_table(easy_codes(100)), settings)
    assert told["Resampling the rows"] == [(1, 3), (2, 3), (3, 3)]
    building = [done for done, _ in told["Building the tree"]]
    assert building == sorted(set(building))


@pytest.mark.parametrize("told", [None, 3])
def test_em_starts_from_what_the_learner_found_unless_the_number_of_states_is_told(told):
    table = as_table(uneven_codes()[:, 3:])
    learned = learn_model(table, Settings("hw", n_states=told, smoothing=0, random_state=0))
    start, first = learned.structure.start, learned.fit.monitor.history[0]
    assert learned.structure.n_states == (2,)
    assert (first == pytest.approx(start.log_likelihood(table), rel=1e-12)) == (told is None)


def test_the_report_tells_the_numbers_of_states():
    for columns, told, words in (
        (slice(6), None, "4 hidden variables of 2 to 4 states (method: hw)"),
        (slice(3, 6), None, "1 hidden variable of 2 states (method: hw)"),
        (slice(6), 1, "4 hidden variables of 1 state (method: hw)"),
    ):
        learned = learn_model(as_table(uneven_codes()[:, columns]), Settings("hw", n_states=told, random_state=0))
        facts = learned.report().rpartition("\n\n")[2].splitlines()
        assert facts[1] == words


def test_the_report_fits_a_terminal():
    data = frame(200).assign(age=np.where(np.arange(200) % 10 == 0, -99, 30 + np.arange(200) % 7), planet="earth")
    report = learn_model(as_table(data), Settings("nj", n_states=2, random_state=0)).report()
    assert "warning: A column that says nothing" in report
    assert max(map(len, report.splitlines())) <= 80
    assert "use missing_also=[-99]." in " ".join(report.split())


def test_learn_tree_takes_weights_bins_and_missing():
    data = frame(200)
    weights = np.where(np.arange(200) < 60, 5, 0)
    how = {"method": "tensor", "reading": {"bins": 4}, "random_state": 0}
    weighted = learn_tree(data, weights=weights, **how)
    assert weighted.to_newick() == learn_tree(data.head(60), **how).to_newick()
    assert weighted.to_newick() != learn_tree(data, **how).to_newick()
    with pytest.raises(InputError, match="bins"):
        learn_tree(data, reading={"bins": 1})
    assert "colour" not in learn_tree(data, method="nj", reading={"missing": ["red", "green", "blue", "white"]}).names
    with pytest.raises(InputError, match="its own columns and weights"):
        learn_tree(as_table(data), weights=weights)


def like_a_tree(text):
    """A model on a tree, and rows of it."""
    tree = Tree.from_newick(text)
    model = random_model(tree, n_states=3, hidden_states=3, start="identity", random_state=0)
    return Replicate(model, model.sample(500, random_state=0))


def learned_again(text, *others):
    """What was found in all rows, and in parts of them."""
    (model, rows, _), replicates = like_a_tree(text), tuple(map(like_a_tree, others))
    support = found_again(model.tree, replicates)
    start = replace(model, tree=model.tree.with_numbers(support=support))
    return Structure(start.tree, start=start, replicates=replicates), rows


def test_edges_that_do_not_come_again_are_not_drawn(monkeypatch):
    monkeypatch.setattr("latree.learn._held", lambda model: set())
    structure, rows = learned_again("(((a,b),c,d),(e,f,g,h));", *["((a,b,c,d),(e,f,g,h));"] * 3)
    drawn = _drawn(structure, rows, Settings())
    assert [split.smaller_side for split in drawn.tree.splits] == [4]
    assert np.nanmin(drawn.tree.support) == 1
    assert drawn.start.tree.splits == drawn.tree.splits
    # Fully resolved trees keep all edges, as do those of which nothing was learned again.
    assert _drawn(structure, rows, Settings(resolve="all")) is structure
    alone = replace(structure, replicates=())
    assert _drawn(alone, rows, Settings()) is alone


def test_weak_edges_between_groups_are_drawn():
    # A column wanders in every other tree: the split of the two groups is never there exactly.
    others = ["((a,b,c,d,e),(f,g,h,i,j,k,l));", "((a,b,c,d,e,f,g),(h,i,j,k,l));", "((a,b,c,d,f),(e,g,h,i,j,k,l));"]
    structure, rows = learned_again("((a,b,c,d,e,f),(g,h,i,j,k,l));", *others)
    drawn = _drawn(structure, rows, Settings())
    assert np.nanmax(drawn.tree.support) < 0.5
    assert drawn.tree.splits == structure.tree.splits
