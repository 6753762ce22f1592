"""Estimators that are saved and loaded again say the same."""

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from helpers.cli import succeed
from helpers.estimator import CONVERT, fitted_quickly, frame, odd_frame, quick
from latree import InputError, LatentTree, export_model
from latree.paper.simulate import random_model, random_tree


def as_texts(data):
    """Return the cells of a frame or an array as texts, in which NaN is equal to itself."""
    return np.asarray(data.to_pandas() if isinstance(data, pa.Table) else data, dtype=object).astype(str).tolist()


def same_answers(one, other, data):
    """Assert that two estimators say the same about data."""
    asked = ("transform", "predict", "predict_proba", "impute", "reliability", "score_samples")
    pairs = [(getattr(one, ask)(data), getattr(other, ask)(data)) for ask in asked]
    pairs += [(getattr(one, ask)(), getattr(other, ask)()) for ask in ("loadings", "profiles")]
    pairs.append((one.sample(20, random_state=1), other.sample(20, random_state=1)))
    for told, again in pairs:
        assert type(told) is type(again)
        assert as_texts(told) == as_texts(again)
    assert one.groups_ == other.groups_
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.tree_.to_newick() == other.tree_.to_newick()
    assert other.summary_ == {key: value for key, value in one.summary_.items() if key != "seconds"}


@pytest.mark.parametrize("kind", [*CONVERT, "array"])
def test_a_saved_estimator_says_the_same(kind, tmp_path):
    data = odd_frame().drop(columns="often")
    reading = {"drop": ["planet"], "identifier": "person", "missing_also": [-99], "weights_are": "survey"}
    how = {"reading": reading, "unseen": "missing", "goal": "predict"}
    how |= {"labels": {"count": "how much", "size": "how much", "level": "how much"}}
    given = CONVERT.get(kind, lambda f: f)(data)
    if kind == "array":
        how = {"reading": {"weights_are": "survey"}}
        given = data[["count", "size", "level", "age", "age"]].assign(constant=1).to_numpy(dtype=float)
        given[::7, 1] = np.nan
    fitted = quick(**how).fit(given, sample_weight=np.linspace(5, 90, 200)).rename({"H1": "first"})
    fitted.save(tmp_path / "model.json")
    loaded = LatentTree.load(tmp_path / "model.json")
    same_answers(fitted, loaded, given)
    for name in ("one", "other"):
        (fitted if name == "one" else loaded).report(tmp_path / name, given)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    told, again = fitted.get_params(), loaded.get_params()
    assert again == told
    with pytest.raises(ValueError, match="feature"):
        loaded.transform(given[:, :3] if kind == "array" else CONVERT[kind](data[["size", "level"]]))


def test_an_export_is_that_of_the_model(tmp_path):
    fitted = fitted_quickly()
    fitted.export(tmp_path / "one.bif")
    export_model(fitted.model_, tmp_path / "two.bif")
    assert (tmp_path / "one.bif").read_bytes() == (tmp_path / "two.bif").read_bytes()


def test_what_the_command_line_fitted_can_be_loaded_and_what_was_saved_works_there(tmp_path):
    data = frame(100)
    data.assign(id=range(len(data)), w=1).to_csv(tmp_path / "data.csv", index=False)
    how = ["--method", "nj", "--states", 3, "--smoothing", 0.1]
    succeed("fit", tmp_path / "data.csv", "--out", tmp_path / "run", "--drop", "id,w", "--quiet", *how)
    loaded = LatentTree.load(tmp_path / "run")
    same_answers(quick(reading={"drop": ["id", "w"]}).fit(tmp_path / "data.csv"), loaded, data)
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes()) | {"seconds": 0} == json.loads(
        json.dumps(loaded.summary_ | {"seconds": 0})
    )
    loaded.rename({loaded.groups_[0].name: "first"}).save(tmp_path / "again.json")
    assert "first" in succeed("groups", tmp_path / "again.json")


def test_files_that_are_no_estimators_are_refused(tmp_path):
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "model.json")
    random_model(random_tree(4, 0.5, 0), n_states=2, random_state=0).save(tmp_path / "model.json")
    with pytest.raises(InputError, match=r": this model was not fitted.*LatentTreeModel\.load"):
        LatentTree.load(tmp_path)
    quick().fit(frame(50)).save(tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    plain["fit"]["reliability"] = []
    (tmp_path / "model.json").write_text(json.dumps(plain))
    with pytest.raises(InputError, match=r"model.json: the fit's reliability has 0 pairs for \d scores"):
        LatentTree.load(tmp_path / "model.json")
