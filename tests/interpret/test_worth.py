"""The cross-validated gain: honest on models that are too large, the same for the same rows, wherever they are."""

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.tables import keep_all_on_disk, through_parquet
from latree._util.progress import reported_to
from latree.interpret.worth import Refits, measure_worth
from latree.model import LatentTreeModel, fit_model
from latree.table import Table
from latree.tree import Tree


def tree_model(seed=1):
    """Return a model of 8 dependent columns with a tree of hidden variables."""
    tree = latree.random_tree(8, random_state=seed)
    return latree.random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.2, random_state=seed)


def independent_model(n_columns=8, n_states=4):
    return model_on(Tree([f"c{i}" for i in range(n_columns)], []), [n_states] * n_columns, 0)


def star(table):
    return Tree(table.names, [(column, table.n_columns) for column in range(table.n_columns)])


def naive_worth(model, table, n_folds=3):
    """Return the gain and its error the obvious way, with EM that starts from the truth."""
    fold = np.random.default_rng(7).permutation(table.n_rows) % n_folds
    gains = np.empty(table.n_rows)
    for number in range(n_folds):
        fitted, judged = table.take(np.flatnonzero(fold != number)), table.take(np.flatnonzero(fold == number))
        refit = fit_model(fitted, model.tree, model.n_states[table.n_columns :].tolist(), start=model).model
        codes, others = judged.codes(), fitted.codes()
        shares = [(np.bincount(others[:, j], minlength=4) + 0.1) / (len(others) + 0.4) for j in range(codes.shape[1])]
        independent = sum(np.log(share[codes[:, j]]) for j, share in enumerate(shares))
        gains[fold == number] = refit.log_likelihood_rows(judged) - independent
    return gains.mean(), gains.std() / np.sqrt(len(gains))


def test_the_gain_is_that_of_obvious_cross_validation():
    model = tree_model()
    table = model.sample(900, random_state=3)
    worth = measure_worth(model, table)
    gain, error = naive_worth(model, table)
    assert worth.n_rows == 900
    assert worth.gain == pytest.approx(gain, abs=0.15 * error + 0.02)
    assert worth.error == pytest.approx(error, rel=0.05)
    # The true tree predicts better than any simpler model.
    assert [simpler.method for simpler in worth.simpler] == ["chow-liu", "lcm"]
    for simpler in worth.simpler:
        assert simpler.ahead == pytest.approx(worth.gain - simpler.gain)
        assert simpler.ahead > 3 * simpler.ahead_error
        assert simpler.ahead_error < simpler.error + worth.error


@pytest.mark.parametrize("n_states", [4, 32])
def test_a_model_with_too_many_states_looks_as_bad_as_it_is(n_states):
    """Rows that are held out must not be known: the figure is that of truly new rows, for as many fitted rows."""
    truth = independent_model()
    table, new = truth.sample(300, random_state=0), truth.sample(5000, random_state=1)
    model = fit_model(table, star(table), n_states, random_state=0).model
    on_new_rows = np.mean(
        [
            (fit.log_likelihood_rows(new) - truth.log_likelihood_rows(new)).mean()
            for seed in range(4)
            for fit in [fit_model(truth.sample(200, random_state=9), star(table), n_states, random_state=seed).model]
        ]
    )
    worth = measure_worth(model, table)
    assert worth.gain == pytest.approx(on_new_rows, abs=2 * worth.error)
    assert worth.gain < -5 * worth.error
    assert (model.log_likelihood_rows(table) - truth.log_likelihood_rows(table)).mean() > 0  # what is not reported


def test_a_random_start_that_is_stuck_is_left_for_the_outline_of_the_model(monkeypatch):
    model = tree_model()
    table = model.sample(600, random_state=0)

    def chosen_starts(stuck_by):
        """Return whether each fold started at random, if EM gets this many nats further from the outline."""
        fits, real = [], fit_model

        def fake(*arguments, **options):
            fit = real(*arguments, **options)
            if "start" not in options:  # a simpler model
                return fit
            fits.append(options["start"] is None)
            object.__setattr__(fit, "objective", 0.0 if options["start"] is None else stuck_by)
            return fit

        monkeypatch.setattr("latree.interpret.worth.fit_model", fake)
        monkeypatch.setattr("latree._util.workers.n_threads", lambda: 1)  # a copy of the process would not tell
        measure_worth(model, table)
        monkeypatch.undo()
        return fits

    assert chosen_starts(20.0) == [True, False, True, True]
    assert chosen_starts(50.0) == [True, False, False, False]


def test_the_outline_hides_what_few_rows_taught():
    model = tree_model()
    outline = Refits(model, 0.1).starts[1]
    for mine, rough, marginal in zip(model.tables, outline.tables, model.network.marginals(), strict=True):
        np.testing.assert_allclose(rough.sum(axis=0), 1)
        assert np.abs(rough - marginal[:, None]).max() <= 0.5 * np.abs(mine - marginal[:, None]).max() + 1e-12


def test_models_without_hidden_variables_are_fitted_once_per_fold():
    table = tree_model().sample(100, random_state=0)
    chain = model_on(Tree(table.names, [(i, i + 1) for i in range(7)]), [4] * 8, 0)
    assert Refits(chain, 0.1).starts == [None]
    worth = measure_worth(LatentTreeModel(chain.tree, table.columns, chain.tables), table)
    assert worth.kind == "chow-liu"


@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        ([], "independent"),
        ([(0, 1), (1, 2)], "chow-liu"),
        ([(0, 4), (1, 4), (2, 4), (3, 4)], "lcm"),
        ([(0, 4), (1, 4), (2, 4)], "latent tree"),
        ([(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], "latent tree"),
    ],
)
def test_the_kind_of_a_model_is_that_of_its_tree(edges, kind):
    tree = Tree("abcd", edges)
    model = model_on(tree, [2] * tree.n_nodes, 0)
    worth = measure_worth(model, model.sample(60, random_state=0))
    assert worth.kind == kind
    if kind == "independent":
        assert (worth.gain, worth.error) == (0.0, 0.0)


def test_fewer_than_thirty_rows_have_no_figure():
    model = tree_model()
    assert measure_worth(model, model.sample(29, random_state=0)) is None
    assert measure_worth(model, model.sample(30, random_state=0)).n_rows == 30


def test_the_same_rows_give_the_same_figures_wherever_they_are(tmp_path, monkeypatch):
    keep_all_on_disk(monkeypatch)
    model = tree_model()
    codes = model.sample(400, random_state=0).codes()
    codes[::5, 2] = -1
    table = Table.from_codes(model.columns, codes)
    disk = through_parquet(table, tmp_path)
    encoded = Table(table.columns, disk.rows)
    assert measure_worth(model, table) == measure_worth(model, table) == measure_worth(model, encoded)


def test_missing_cells_are_summed_out():
    model = tree_model()
    codes = model.sample(900, random_state=3).codes()
    whole = measure_worth(model, Table.from_codes(model.columns, codes))
    codes[:, 4:] = -1
    codes[::2, 4:] = model.sample(900, random_state=3).codes()[::2, 4:]
    half = measure_worth(model, Table.from_codes(model.columns, codes))
    assert 0 < half.gain < 0.8 * whole.gain


def test_whole_weights_repeat_rows():
    model = tree_model()
    rng = np.random.default_rng(0)
    codes, weights = model.sample(150, random_state=0).codes(), rng.integers(0, 4, size=150)
    weighted = Table.from_codes(model.columns, codes, weights.astype(float))
    repeated = Table.from_codes(model.columns, np.repeat(codes, weights, axis=0))
    assert measure_worth(model, weighted) == measure_worth(model, repeated)


def test_other_weights_weigh_rows():
    model = tree_model()
    codes = model.sample(400, random_state=0).codes()
    plain = measure_worth(model, Table.from_codes(model.columns, codes))
    halves = measure_worth(model, Table.from_codes(model.columns, codes, np.full(400, 0.5)), smoothing=0.05)
    # Half the weight and half the smoothing give the same model; that of the simpler models is fixed.
    assert (halves.gain, halves.error) == pytest.approx((plain.gain, plain.error), abs=0.02)
    # Rows of independent columns with little weight change little.
    noise = model.sample(400, random_state=9).codes()
    rng = np.random.default_rng(1)
    for column in noise.T:
        rng.shuffle(column)
    mixed = np.concatenate([codes, noise])
    light = Table.from_codes(model.columns, mixed, np.repeat([1.0, 0.001], 400))
    heavy = Table.from_codes(model.columns, mixed, np.repeat([1.0, 0.999], 400))
    assert measure_worth(model, light).gain == pytest.approx(plain.gain, abs=0.15)
    assert measure_worth(model, heavy).gain < plain.gain - 0.3
    zero = Table.from_codes(model.columns, mixed, np.repeat([0.5, 0.0], 400))
    assert measure_worth(model, zero).n_rows == 400


def test_many_rows_are_a_sample_of_which_one_fold_is_held_out(monkeypatch):
    model = tree_model()
    table = model.sample(2000, random_state=0)
    whole = measure_worth(model, table)
    assert whole.n_rows == 2000
    monkeypatch.setattr("latree.interpret.worth._MAX_JUDGED", 700)
    assert measure_worth(model, table).n_rows == pytest.approx(1333, abs=1)
    monkeypatch.setattr("latree.interpret.worth.MAX_USED", 900)
    some = measure_worth(model, table)
    assert some.n_rows == 900
    monkeypatch.setattr("latree.interpret.worth._MAX_JUDGED", 300)
    some = measure_worth(model, table)
    assert some.n_rows == 300
    assert abs(some.gain - whole.gain) < 4 * some.error
    weighted = Table.from_codes(model.columns, table.codes(), np.full(2000, 10.0**9))
    assert measure_worth(model, weighted).n_rows == 300


def test_impossible_rows_have_no_gain():
    model = tree_model()
    table = model.sample(60, random_state=0)
    worth = measure_worth(fit_model(table, model.tree, 3, smoothing=0.0, random_state=0).model, table, smoothing=0.0)
    assert (worth.gain, worth.error) == (None, None)
    assert [simpler.ahead for simpler in worth.simpler] == [None, None]
    assert all(simpler.gain is not None for simpler in worth.simpler)


def test_smoothing_is_that_of_the_models_own_fit():
    table = tree_model().sample(200, random_state=0)
    fitted = latree.LatentTree("nj", n_states=3, smoothing=5.0, random_state=0).fit(table)
    assert measure_worth(fitted.model_, table) == measure_worth(fitted.model_, table, smoothing=5.0)
    assert measure_worth(fitted.model_, table) != measure_worth(fitted.model_, table, smoothing=0.1)
    assert fitted.model_.record.worth == measure_worth(fitted.model_, table)
    assert fitted.summary_["worth"]["gain"] == fitted.model_.record.worth.gain


def test_progress_counts_the_folds():
    model, seen = tree_model(), []
    table = model.sample(60, random_state=0)
    with reported_to(lambda *numbers: seen.append(numbers)):
        measure_worth(model, table)
    assert seen == [(0, 3), (1, 3), (3, 3)]  # the later ones are fitted at the same time


def test_chow_liu_trees_keep_the_edges_of_all_rows_as_the_model_does():
    """Like is compared with like: a Chow-Liu tree of all rows is exactly as good as the one beside it."""
    table = tree_model().sample(100, random_state=0)
    fitted = latree.LatentTree("chow-liu", random_state=0).fit(table)
    chow_liu, _ = fitted.model_.record.worth.simpler
    assert (chow_liu.ahead, chow_liu.ahead_error) == pytest.approx((0, 0), abs=1e-4)
