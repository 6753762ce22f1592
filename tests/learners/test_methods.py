"""What every method must do, whatever it is."""

import dendropy
import networkx
import numpy as np
import pytest
from dendropy.calculate.treecompare import symmetric_difference

from helpers.strategies import bare, check_valid, names_of, same_graph
from helpers.tables import permuted
from latree import InputError, LatentTree, LatentTreeModel, as_table, learn_tree
from latree._util.progress import reported_to
from latree.counts.distances import log_det, pairwise
from latree.learn import learn_model
from latree.learners.methods import METHODS, find_method
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Column, Table
from latree.tree import Tree

SIZES = [2, 3, 4, 3, 2, 5, 3]

every_method = pytest.mark.parametrize("method", METHODS)


def sampled(seed=0, n_leaves=7, perturbation=0.3, n_rows=300):
    tree = random_tree(n_leaves, 0.5, seed)
    model = random_model(
        tree, n_states=3, hidden_states=3, start="identity", perturbation=perturbation, random_state=seed
    )
    return model.sample(n_rows, seed)


def mixed(n_rows=300):
    """Columns of two to five states, one of which never occurs, that follow each other, with missing cells."""
    rng = np.random.default_rng(0)
    codes = sampled(perturbation=0.15, n_rows=n_rows).codes()
    codes = np.minimum(codes + (rng.random(codes.shape) < 0.2), np.array(SIZES) - 1)
    codes[rng.random(codes.shape) < 0.15] = -1
    columns = [Column(f"x{j}", "integer", tuple(map(str, range(size)))) for j, size in enumerate(SIZES)]
    return Table.from_codes(columns, codes)


def fit(method, table, weights=None, seed=0):
    table = Table.from_codes(table.columns, table.codes(), weights) if weights is not None else table
    return LatentTree(method, n_states=2, smoothing=0.1, random_state=seed).fit(table)


@pytest.fixture(scope="module")
def fitted():
    """Fits of the mixed table, each made when it is first asked for."""
    found = {}
    return lambda method: found.get(method) or found.setdefault(method, fit(method, mixed()))


@every_method
def test_it_learns_a_tree_over_the_columns(method, fitted):
    tree = fitted(method).tree_
    assert tree.names == mixed().names
    assert fitted(method).summary_["method"] == method
    assert fitted(method).model_.n_states.tolist() == [*SIZES, *[2] * tree.n_hidden]


@every_method
def test_posteriors_and_scores(method, fitted):
    model, table = fitted(method), mixed()
    posteriors = model.predict_proba(table, of="hidden").to_numpy()
    assert posteriors.shape == (300, 2 * model.tree_.n_hidden)
    np.testing.assert_allclose(posteriors.reshape(300, -1, 2).sum(axis=2), 1, rtol=1e-9)
    assert model.transform(table).columns.tolist() == model.get_feature_names_out().tolist()
    assert np.isfinite(model.transform(table).to_numpy()).all()
    assert model.score(table) == pytest.approx(model.summary_["log_likelihood"] / 300, rel=1e-12)
    baseline = fitted("independent").score(table)
    assert model.score(table) > baseline + 0.2 or method == "independent"


@every_method
def test_imputation_and_samples(method, fitted):
    model, codes = fitted(method), mixed().codes()
    filled = model.model_.encode(model.impute(mixed())).codes()
    np.testing.assert_array_equal(filled[codes >= 0], codes[codes >= 0])
    assert filled.min() == 0
    drawn = model.model_.encode(model.sample(50)).codes()
    assert drawn.shape == (50, 7)
    assert ((drawn >= 0) & (drawn < SIZES)).all()


@every_method
def test_the_tree_can_be_written_drawn_and_handed_on(method, fitted):
    tree = fitted(method).tree_
    assert same_graph(Tree.from_newick(tree.to_newick()), tree)
    assert sorted(line.split()[-1] for line in tree.draw().splitlines()) == sorted(tree.names)
    graph = tree.to_networkx()
    assert networkx.is_forest(graph)
    assert {name for name, hidden in graph.nodes(data="hidden") if not hidden} == set(tree.names)
    assert graph.number_of_edges() == len(tree.edges)


@every_method
def test_the_model_can_be_saved_and_loaded(method, fitted, tmp_path):
    model = fitted(method).model_
    model.save(tmp_path / "model.json")
    loaded = LatentTreeModel.load(tmp_path / "model.json")
    assert loaded.log_likelihood(mixed()) == model.log_likelihood(mixed())
    assert same_graph(loaded.tree, model.tree)


@every_method
def test_the_same_seed_gives_the_same_model(method, fitted):
    again = fit(method, mixed())
    assert again.tree_.to_newick() == fitted(method).tree_.to_newick()
    assert all((a == b).all() for a, b in zip(again.model_.tables, fitted(method).model_.tables, strict=True))


def test_weights_of_one_change_nothing(fitted):
    weighted = fit("auto", mixed(), np.ones(300))
    assert same_graph(bare(weighted.tree_), bare(fitted("auto").tree_))
    assert weighted.summary_["log_likelihood"] == pytest.approx(fitted("auto").summary_["log_likelihood"], rel=1e-9)


# Repeated rows may fall among the fitted rows and among those held out, a weighted one cannot.
HOLDS_ROWS_OUT = {"auto"}
weights_repeat = pytest.mark.parametrize("method", [method for method in METHODS if method not in HOLDS_ROWS_OUT])


@weights_repeat
def test_weights_count_as_repeated_rows(method, fitted):
    table, weights = mixed(), 5 * (np.arange(300) % 3)
    weighted = fit(method, table, weights.astype(float))
    repeated = fit(method, Table.from_codes(table.columns, np.repeat(table.codes(), weights, axis=0)))
    assert same_graph(bare(weighted.tree_), bare(repeated.tree_))
    assert weighted.summary_["log_likelihood"] == pytest.approx(repeated.summary_["log_likelihood"], rel=1e-6)
    assert weighted.summary_["log_likelihood"] != pytest.approx(fitted(method).summary_["log_likelihood"], rel=1e-6)


@weights_repeat
def test_weights_count_as_repeated_rows_where_rows_leave_the_tree_open(method):
    weights = 5 * (np.arange(300) % 3)
    for seed in (9, 34):  # where some edges are about as short as edges may be
        table = sampled(seed, n_leaves=8)
        weighted = Table.from_codes(table.columns, table.codes(), weights.astype(float))
        repeated = Table.from_codes(table.columns, np.repeat(table.codes(), weights, axis=0))
        one, other = (learn_tree(t, method=method, n_states=2, random_state=0) for t in (weighted, repeated))
        assert same_graph(bare(one), bare(other)), seed


def reordered(table, seed):
    return permuted(table, np.random.default_rng(seed).permutation(table.n_columns))


@every_method
def test_columns_may_come_in_any_order(method):
    """Rows enough that even chance, the order of insertion or starts of local models, leaves nothing open."""
    table = sampled(n_leaves=10, perturbation=0.2, n_rows=3000)
    one, other = (learn_tree(t, method=method, n_states=3, random_state=0) for t in (table, reordered(table, 1)))
    assert same_graph(bare(one), bare(other))


CHANCE = {
    "auto": "EM starts at random, so that the same seed means other starts",
    "tensor": "inserts columns in a random order, so that the same seed means another order",
    "hw": "local models start at random, so that the same seed means other starts",
}


@pytest.mark.parametrize("method", [method for method in METHODS if method not in CHANCE])
def test_columns_may_come_in_any_order_where_rows_leave_the_tree_open(method):
    for seed in range(15):
        table = sampled(seed, n_leaves=8, perturbation=0.5)
        one, other = (learn_tree(t, method=method, n_states=2) for t in (table, reordered(table, seed)))
        assert same_graph(bare(one), bare(other)), seed


@every_method
def test_two_columns_are_enough(method):
    table = sampled()
    few = Table.from_codes(table.columns[:2], table.codes()[:, :2])
    model = fit(method, few)
    assert model.tree_.names == few.names
    assert np.isfinite(model.score(few))


@every_method
def test_progress_only_rises(method):
    told = []
    with reported_to(lambda *numbers: told.append(numbers)):
        find_method(method).learn(mixed(), Settings(method, n_states=2), np.random.default_rng(0))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(0 <= done <= total for done, total in told)
    assert len({total for _, total in told}) <= 1


@every_method
def test_it_says_what_it_is(method):
    known = METHODS[method]
    assert known.name == method
    assert all((known.summary, known.trees, known.reference))
    assert known.needs_states == (method == "spectral")


@every_method
@pytest.mark.parametrize("n_states", [0, -1, 2.5, True, "2"])
def test_a_senseless_number_of_states_is_refused(method, n_states):
    with pytest.raises(InputError, match=f"n_states must be a whole number of at least 1, not {n_states!r}"):
        learn_tree(mixed(), method=method, n_states=n_states)


@pytest.mark.parametrize("method", ["auto", "tensor", "hw", "spectral", "lcm", "chow-liu"])
def test_without_a_number_of_states_it_takes_its_own_or_asks(method):
    settings = Settings(method, "predict", smoothing=0.1, max_iter=1, random_state=0)
    if METHODS[method].needs_states:
        for learn in (lambda: learn_model(mixed(), settings), lambda: learn_tree(mixed(), method=method)):
            with pytest.raises(InputError, match=f"'{method}' needs the number of states.*with n_states"):
                learn()
        return
    learned = learn_model(mixed(100), settings)
    states = tuple(learned.model.n_states[7:].tolist())
    assert learned.summary["settings"]["n_states"] is None
    if learned.structure.n_states is not None:
        assert states == learned.structure.n_states
    else:
        assert len(set(states)) <= 1
        assert set(states) <= {2, 4, 8, 16, 32, 64}


def test_spectral_says_which_column_cannot_tell_so_many_states_apart():
    with pytest.raises(InputError, match=r"^method 'spectral' cannot tell 4 .* 'x0' has only 2 states$"):
        learn_tree(mixed(), method="spectral", n_states=4)


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_samples_give_the_tree_back_where_it_is_easy(method):
    tree = random_tree(12, 0.5, 0)
    model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.2, random_state=0)
    assert learn_tree(model.sample(20_000, 0), method=method, n_states=3).robinson_foulds(tree) == 0


def noisy_copies(n_columns, n_rows=300, seed=0):
    """Columns of zeros and ones that all follow the same hidden one."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, n_rows)
    flipped = rng.random((n_rows, n_columns)) < 0.1
    return np.where(flipped, 1 - hidden[:, None], hidden[:, None]).astype(float)


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_few_columns_are_enough_for_every_method(method, n_columns):
    tree = learn_tree(noisy_copies(n_columns, 3000), method=method, n_states=2, random_state=0)
    assert tree.names == tuple(names_of(n_columns))
    star = [[column, n_columns] for column in range(n_columns)]
    if method == "independent":
        assert len(tree.edges) == tree.n_hidden == 0
    elif method in ("chow-liu", "hw"):
        assert len(tree.edges) == tree.n_nodes - 1
    elif method == "hclt":  # a hidden twin for every column, however few
        assert len(tree.edges) == tree.n_nodes - 1 == 2 * n_columns - 1
        assert {(column, n_columns + column) for column in range(n_columns)} <= set(map(tuple, tree.edges.tolist()))
    else:
        assert sorted(tree.edges.tolist()) == star


def never_together():
    cells = noisy_copies(8)
    cells[:150, :4] = np.nan
    cells[150:, 4:] = np.nan
    return cells


def constant_in_the_overlap():
    cells = noisy_copies(6)
    cells[:150, 0] = np.nan
    cells[150:, 1] = 0
    return cells


def mostly_missing():
    cells = noisy_copies(7, 40)
    cells[np.random.default_rng(0).random(cells.shape) < 0.8] = np.nan
    return cells


@pytest.mark.parametrize("cells", [never_together, constant_in_the_overlap, mostly_missing])
@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_columns_that_say_nothing_about_each_other_give_a_valid_tree(method, cells):
    table = as_table(cells())
    assert np.isinf(pairwise(table, log_det)).any()
    check_valid(learn_tree(table, method=method, n_states=2), table.names)


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_every_method_tells_two_tables_side_by_side_apart(method):
    tree = learn_tree(never_together(), method=method, n_states=2)
    assert {0b1111 << 4} <= {split.side for split in tree.splits}


@pytest.mark.parametrize("method", ["nj", "snj", "spectral", "rg", "clrg", "clnj"])
def test_columns_of_different_widths_can_be_learned_from(method):
    """States of some columns are parted at random into two or three, of which only spectral@2 takes no notice."""
    tree = random_tree(6, 0.5, 3)
    model = random_model(tree, n_states=2, hidden_states=2, start="identity", perturbation=0.2, random_state=3)
    parts = np.array([1, 2, 1, 3, 2, 1])
    codes = model.sample(20_000, 3).codes() + 2 * np.random.default_rng(0).integers(0, parts, (20_000, 6))
    columns = [
        Column(name, "integer", tuple(map(str, range(2 * n)))) for name, n in zip(tree.names, parts, strict=True)
    ]
    learned = learn_tree(Table.from_codes(columns, codes), method=method, n_states=2)
    check_valid(learned, tree.names)
    if method == "spectral":
        assert learned.robinson_foulds(tree) == 0


@pytest.mark.parametrize("method", ["nj", "clnj", "clrg"])
def test_a_coin_is_nobodys_neighbour(method):
    """A column of two states and no connection with columns of five must not draw them to itself."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 5, (2000, 2))
    noisy = [np.where(rng.random(2000) < 0.6, hidden[:, j // 4], rng.integers(0, 5, 2000)) for j in range(8)]
    coin = rng.integers(0, 2, 2000)
    measured = pairwise(as_table(np.column_stack([coin, *noisy])), log_det)
    assert measured[0, 1:].min() > max(measured[1:5, 1:5].max(), measured[5:, 5:].max())
    tree = learn_tree(np.column_stack([coin, *noisy]), method=method)
    groups = {frozenset(range(1, 5)), frozenset(range(5, 9))}
    sides = [{leaf for leaf in range(9) if split.side >> leaf & 1} for split in tree.splits]
    found = {frozenset(side) for inside in sides for side in (inside, set(range(9)) - inside)}
    assert found & groups


@pytest.mark.parametrize("method", ["nj", "snj"])
def test_weights_may_sum_to_one(method):
    """Not so for rg, clrg and clnj, which ask how many rows the weights stand for."""
    tree = random_tree(8, random_state=0)
    model = random_model(tree, n_states=2, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    codes = model.sample(5000, 0).codes()
    assert learn_tree(codes, method=method, weights=np.full(5000, 1 / 5000)).robinson_foulds(tree) == 0


# DendroPy as a judge


def with_all_columns_at_leaves(tree):
    """Observed inner nodes replaced by hidden ones with a leaf: the same splits, in a form that DendroPy knows."""
    inner = [node for node in range(tree.n_observed) if len(tree.neighbors[node]) > 1]
    number = {node: tree.n_nodes + i for i, node in enumerate(inner)}
    edges = [[number.get(end, end) for end in edge] for edge in tree.edges.tolist()]
    return Tree(tree.names, [*edges, *number.items()])


@pytest.mark.parametrize("method", ["spectral", "rg", "clrg", "clnj"])
def test_dendropy_agrees_on_how_far_learned_trees_are_from_the_truth(method):
    distances, many = [], 0
    for seed in range(6):
        tree = random_tree(14, 0.3, seed)
        model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.4, random_state=seed)
        learned = learn_tree(model.sample(300, seed), method=method, n_states=3)
        taxa = dendropy.TaxonNamespace(tree.names)
        texts = [with_all_columns_at_leaves(one).to_newick() for one in (learned, tree)]
        theirs = symmetric_difference(
            *(
                dendropy.Tree.get(data=text, schema="newick", rooting="force-unrooted", taxon_namespace=taxa)
                for text in texts
            )
        )
        distances.append(learned.robinson_foulds(tree))
        assert distances[-1] == theirs
        many += len(learned.splits) < 11
    assert max(distances) > 0
    assert many or method == "spectral"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("method", "representatives"), [*((one, "nearest") for one in METHODS), ("tensor", "random")])
def test_the_order_of_columns_changes_nothing(method, representatives, seed):
    table = sampled(seed, n_leaves=9, perturbation=0.4)
    order = np.random.default_rng(seed).permutation(9)
    other = permuted(table, order)
    options = {"method": method, "n_states": 2, "representatives": representatives, "random_state": seed}
    found, again = learn_tree(table, **options), learn_tree(other, **options)
    assert again.names == other.names
    assert again.reordered(table.names).splits == found.splits
