"""What all datasets have in common."""

import numpy as np
import pytest

import latree
from latree.datasets import load_python_manual, make_alignment, make_everyday, make_questionnaire

ALL = [load_python_manual, make_alignment, make_everyday, make_questionnaire]


@pytest.mark.parametrize("make", ALL)
def test_a_dataset_is_a_table_that_fit_takes(make):
    dataset = make()
    table = latree.as_table(dataset.data)
    assert table.n_rows == len(dataset.rows) >= 800
    assert (table.n_states >= 2).all()
    assert str(table.n_rows) in dataset.description
    assert set(dataset.labels) in (set(), set(table.names))
    assert dataset.tree is None or dataset.tree.names == table.names


@pytest.mark.parametrize("make", ALL)
def test_a_dataset_is_always_the_same(make):
    one, other = make(), make()
    assert one.data.equals(other.data)
    assert one.rows.equals(other.rows)


@pytest.mark.parametrize("make", [make_alignment, make_everyday, make_questionnaire])
def test_seeds_and_numbers_of_rows(make):
    assert len(make(7).data) == 7
    assert not np.array_equal(make(50, random_state=0).data, make(50, random_state=1).data)


@pytest.mark.parametrize("make", ALL)
def test_no_library_of_frames_is_needed(make, monkeypatch):
    monkeypatch.setattr("latree._util.arrays._LIBRARIES", ())
    assert isinstance(make().data, dict)


def test_questions_in_words_have_the_groups_that_were_meant():
    everyday = make_everyday()
    assert everyday.texts.keys() == everyday.labels.keys() == set(everyday.data.columns)
    model = latree.LatentTree(random_state=0).fit(everyday.data)
    surprises = ("sleeps badly", "likes to travel")
    group_of = {name: number for number, group in enumerate(model.groups_) for name in group.columns}
    of_label = {group_of[name]: label for name, label in everyday.labels.items() if name not in surprises}
    assert sorted(of_label.values()) == ["health", "ideas", "mood", "order", "people"]
    assert of_label[group_of["sleeps badly"]] == "mood"
