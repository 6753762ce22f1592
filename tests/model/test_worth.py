"""What is said about the worth of a model."""

import pytest

from latree.model.record import SimplerGain, Worth, worth_lines


def worth(ahead, ahead_error=0.2, kind="latent tree", gain=3.0, error=0.1):
    tree = SimplerGain("chow-liu", 0, 3.0 - ahead, 0.1, ahead, ahead_error)
    return Worth(kind, 500, gain, error, (tree, SimplerGain("lcm", 4, 1.0, 0.1, 2.0, 0.1)))


def test_the_gain_has_its_error_and_direction():
    assert worth(0.0).headline() == "New rows are 3.00 ± 0.10 nats more probable than under independence."
    assert worth(0.0, gain=-0.0012, error=0.0004).headline() == (
        "New rows are 0.001 ± 0.000 nats less probable than under independence."
    )
    assert worth(0.0, kind="independent").headline() == "The model treats the columns as independent of each other."
    impossible = worth(0.0, gain=None, error=None).headline()
    assert impossible.startswith("Some new rows have probability 0")
    assert "use smoothing=0.1." in impossible


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0.5, "A Chow-Liu tree predicts new rows worse, by 0.50 ± 0.20 nats per row."),
        (0.3, "A Chow-Liu tree predicts new rows as well: the difference is 0.30 ± 0.20 nats per row."),
        (-0.3, "A Chow-Liu tree predicts new rows as well: the difference is 0.30 ± 0.20 nats per row."),
        (
            -0.5,
            "A Chow-Liu tree predicts new rows better, by 0.50 ± 0.20 nats per row. To predict, use goal='predict'.",
        ),
    ],
)
def test_the_verdict_needs_two_standard_errors(ahead, said):
    assert worth(ahead).verdict("explain") == said


def test_a_model_that_predicts_is_not_told_to_predict():
    assert worth(-0.5).verdict("predict") == "A Chow-Liu tree predicts new rows better, by 0.50 ± 0.20 nats per row."


def test_a_model_is_not_compared_with_its_own_kind():
    assert worth(-0.5, kind="chow-liu").verdict("explain") == (
        "One hidden variable with 4 states predicts new rows worse, by 2.00 ± 0.10 nats per row."
    )
    alone = Worth("latent tree", 500, 3.0, 0.1, ())
    assert alone.best_simpler is None
    assert alone.verdict("explain") == ""


def test_plain_data_have_figures_and_words():
    found = worth(-0.5).to_dict("explain")
    assert found["simpler"] == {
        "chow-liu": {"gain": 3.5, "standard_error": 0.1},
        "lcm": {"n_states": 4, "gain": 1.0, "standard_error": 0.1},
    }
    assert (found["gain"], found["standard_error"], found["n_rows"]) == (3.0, 0.1, 500)
    assert (found["best_simpler"], found["ahead"], found["ahead_standard_error"]) == ("chow-liu", -0.5, 0.2)
    unit = "One nat more means 2.7 times as probable."
    assert worth_lines(found) == [found["headline"], unit, found["verdict"]]
    assert worth_lines(None) == ["There are too few rows to measure how well the model predicts new ones."]
