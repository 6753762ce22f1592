"""The paragraph for a paper: every number is that of the summary, and what was not done is not said."""

import re

import numpy as np
import pytest

from helpers.report import learned_run
from latree import InputError, LatentTree, Reading, random_model, random_tree
from latree.datasets import make_questionnaire
from latree.facts.citation import _METHODS, cite
from latree.facts.found import facts_of
from latree.interpret.groups import with_groups
from latree.learners.methods import METHODS
from latree.report.render import report_html

SENTENCE = re.compile(r"[.] (?=[A-Z])")


@pytest.fixture(scope="module")
def questionnaire():
    return LatentTree(random_state=3, n_resamples=2).fit(make_questionnaire(300, missing=0.02, random_state=1).data)


def paragraph(model, **how):
    return cite(facts_of(model), **how).split("\n", 1)[0]


def test_numbers_are_those_of_the_summary(questionnaire):
    summary, text = questionnaire.summary_, paragraph(questionnaire.model_)
    assert f"latent tree model of 20 columns was fitted to 300 rows with latree {summary['latree']} " in text
    assert "the random seed was 3." in text
    assert "chosen by BIC (Schwarz, 1978)" in text
    assert f"the {summary['missing_cells']} missing cells" in text
    assert "with 0.1 pseudo-rows added" in text
    assert f"{summary['n_hidden']} hidden variables and {summary['n_groups']} groups of columns" in text
    assert all(f"'{group.name}'" in text for group in questionnaire.groups_ if group.level == "main")
    assert "2 random halves of the rows" in text
    assert "(Lemoine et al., 2018)" in text
    worth = summary["worth"]
    assert f"{worth['gain']:.2f} ± {worth['standard_error']:.2f} nats per row" in text
    shares = [one["reliability"] for one in summary["reliability"].values()]
    assert f"reliability of {min(shares):.2f} to {max(shares):.2f}" in text
    assert 3 <= len(SENTENCE.split(text)) <= 7


def test_groups_that_were_given_were_not_found():
    answers = make_questionnaire(100, random_state=1)
    rows = answers.data.filter(regex="worry|social")
    model = LatentTree(key={name: answers.labels[name] for name in rows}, random_state=0, n_resamples=0).fit(rows)
    text = paragraph(model.model_)
    assert "The groups of columns were given: each has one hidden variable, and these form a Chow-Liu tree (" in text
    assert f"the random seed was 0. {model.summary_['key']['headline']} " in text
    assert "default method" not in text


def test_what_was_not_done_is_not_said():
    text = cite(facts_of(with_groups(learned_run().model)))
    assert "by neighbour joining on log-det distances (Saitou & Nei, 1987; Lake, 1994)" in text
    assert "3 bootstrap samples" in text
    for other in ("halves", "missing", "BIC", "Lemoine", "Schwarz", "weights", "default method"):
        assert other not in text
    assert "likelihood of held-out rows" in text


def test_weights_bins_and_columns_left_out_are_said():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 4))
    rows = np.column_stack([rows, np.ones(200)])
    with pytest.warns(UserWarning, match="says nothing|left out"):
        model = LatentTree("lcm", n_states=2, reading=Reading(bins=3), random_state=0).fit(
            rows, sample_weight=np.full(200, 2)
        )
    text = paragraph(model.model_)
    assert "weights that are counts, which count as 400 rows" in text
    assert "the numbers of 4 columns were put into bins" in text
    assert "1 more column without information was left out" in text
    assert "Each hidden variable has 2 states" in text


def test_a_run_without_a_seed_says_so():
    model = LatentTree("lcm", n_states=2).fit(learned_run().model.sample(100, random_state=0))
    assert "no random seed was set" in paragraph(model.model_)


def test_independent_columns_have_no_groups_and_no_scores():
    rows = np.random.default_rng(0).integers(3, size=(200, 5))
    text = paragraph(LatentTree(random_state=0, n_resamples=0).fit(rows).model_)
    assert "No column was found to depend on another one." in text
    for other in ("hidden variables", "EM", "score", "nats"):
        assert other not in text.replace("an edge between two hidden variables", "")


def test_every_method_has_a_sentence_and_its_references():
    assert set(_METHODS) == set(METHODS) - {"auto"}
    for name, (_, keys) in _METHODS.items():
        years = re.findall(r"\((\d{4})\)|\b(1994)\b", METHODS[name].reference)
        assert all(any(str(year) in key for key in keys) for pair in years for year in pair if year), name


def test_references_are_those_that_the_text_cites(questionnaire):
    text = cite(facts_of(questionnaire.model_))
    first, _, listed = text.partition("\n\nReferences\n\n")
    for short in re.findall(r"(?:\w+ et al[.]|\w+), (?:19|20)\d\d", first):
        name, year = short.split(" et al")[0].split(",")[0], short[-4:]
        assert re.search(rf"^- {name}.*\({year}\)", listed, re.MULTILINE), short
    bibtex = questionnaire.cite(format="bibtex")
    assert len(re.findall("^@", bibtex, re.MULTILINE)) == listed.count("\n")
    assert bibtex.count("{") == bibtex.count("}")
    assert "@software{latree," in bibtex


def test_names_of_groups_are_no_markup(questionnaire):
    old = next(group.name for group in questionnaire.groups_ if group.level == "main")
    model = questionnaire.model_.rename({old: "*[x](y)*"})
    assert r"\*\[x\](y)\*" in cite(facts_of(model), "markdown")
    assert "'*[x](y)*'" in cite(facts_of(model), "text")


def test_a_model_that_was_not_fitted_is_refused():
    model = random_model(random_tree(6, random_state=0), n_states=2, random_state=0)
    with pytest.raises(InputError, match="does not say how it was made"):
        cite(facts_of(with_groups(model)))
    assert 'id="citation"' not in report_html(model)


def test_an_unknown_format_is_refused(questionnaire):
    with pytest.raises(InputError, match="one of text, markdown, bibtex, not 'latex'"):
        questionnaire.cite(format="latex")


def test_the_report_has_it_with_a_button(questionnaire):
    page = report_html(questionnaire.model_)
    assert 'data-copy="citation"' in page
    assert "was fitted to 300 rows with latree" in page
