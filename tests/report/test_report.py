"""The facts of a report against the obvious way to compute them, and its HTML as a parser sees it."""

import itertools
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.models import model_on, naive_joint, small_models, table_of
from helpers.report import HOSTILE, SHAPES, hostile_model
from helpers.strategies import mixed_tree
from latree.errors import InputError
from latree.learn import Settings, learn_model
from latree.model import LatentTreeModel
from latree.model.record import Origin, Record
from latree.report import report_facts, report_html
from latree.report.charts import comparison_chart, convergence_chart
from latree.report.dependence import Dependence
from latree.report.details import MOST_CATEGORIES, Scale
from latree.report.groups import _Cutter, find_groups
from latree.report.labels import compare_labels
from latree.report.references import references
from latree.report.render import elided, percent, plain
from latree.report.strange import row_facts
from latree.table import Column, read_labels
from latree.tree import Tree

MODELS = small_models()


def naive_pair(model, u, v):
    """The joint distribution of two nodes by adding up that of all."""
    joint = naive_joint(model)
    others = tuple(node for node in range(joint.ndim) if node not in (u, v))
    return joint.sum(axis=others) if u < v else joint.sum(axis=others).T


def naive_information(model, u, v):
    pair = naive_pair(model, u, v)
    product = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
    return float((pair[pair > 0] * np.log(pair[pair > 0] / product[pair > 0])).sum())


@pytest.mark.parametrize("model", MODELS)
def test_information_of_columns_is_that_of_all_states_added_up(model):
    found = Dependence(model).between_columns
    for i, j in np.ndindex(found.shape):
        expected = naive_information(model, i, j) if i != j else 0
        assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_information_does_not_depend_on_how_many_columns_are_followed_at_once(monkeypatch):
    model = model_on(mixed_tree(12, 3), [3] * 40, 3)
    together = Dependence(model).between_columns
    monkeypatch.setattr("latree.report.dependence._STATES_AT_ONCE", 4)
    np.testing.assert_allclose(Dependence(model).between_columns, together, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_the_closest_columns_are_those_with_most_information(model):
    dependence = Dependence(model)
    for source in range(model.tree.n_nodes):
        others = [column for column in range(model.tree.n_observed) if column != source]
        found = dependence.closest(source, len(others))
        told = {relative.column: relative.information for relative in found}
        for column in others:
            assert told.get(column, 0.0) == pytest.approx(naive_information(model, source, column), rel=0, abs=1e-9)
        assert [relative.information for relative in found] == sorted(told.values(), reverse=True)
        for relative in found:
            pair = naive_pair(model, relative.column, source)
            np.testing.assert_allclose(relative.conditional, pair / pair.sum(axis=0), rtol=0, atol=1e-12)
        assert [relative.column for relative in dependence.closest(source, 2)] == [*told][:2]


def test_a_search_can_be_kept_within_a_group():
    model = MODELS[0]
    inside = {0, 1, 5}
    found = Dependence(model).closest(5, 5, within=inside)
    assert {relative.column for relative in found} == {0, 1}


def test_strength_is_0_for_independence_and_1_where_one_tells_the_other():
    tree = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    columns = tuple(Column(name, "integer", ("0", "1")) for name in "abc")
    same, none = np.eye(2), np.full((2, 2), 0.5)
    noisy = np.array([[0.8, 0.2], [0.2, 0.8]])
    model = LatentTreeModel(tree, columns, (same, none, noisy, np.full((2, 1), 0.5)))
    strengths = model.edge_strengths()
    assert strengths[:2] == pytest.approx([1, 0], abs=1e-7)
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    assert strengths[2] == pytest.approx(np.sqrt(1 - entropy / np.log(2)), rel=1e-9)


def planted(sizes, within=0.5, between=0.05):
    """A tree of stars around a middle, and the similarity of their columns."""
    d, h = sum(sizes), len(sizes)
    group = np.repeat(np.arange(h), sizes)
    edges = [(column, d + int(group[column])) for column in range(d)] + [(d + i, d + h) for i in range(h)]
    similarity = np.where(group[:, None] == group, within, between)
    np.fill_diagonal(similarity, 0)
    return Tree([f"x{i}" for i in range(d)], edges), similarity, group


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 3, 4, 5), (3, 30, 3), (6,) * 8])
def test_planted_groups_are_found(sizes):
    tree, similarity, group = planted(sizes)
    found = find_groups(tree, similarity)
    assert sorted(found_group.columns for found_group in found) == sorted(
        tuple(np.flatnonzero(group == number).tolist()) for number in range(len(sizes))
    )
    assert all(found_group.hub == tree.n_observed + group[found_group.columns[0]] for found_group in found)
    assert sum(len(found_group.edges) for found_group in found) == 2 * (len(sizes) - 1)


@pytest.mark.parametrize("model", [*MODELS, model_on(mixed_tree(14, 5), [2] * 60, 5)])
def test_groups_are_connected_pieces_that_share_no_column(model):
    tree = model.tree
    groups = find_groups(tree, Dependence(model).between_columns)
    assert sorted(column for group in groups for column in group.columns) == list(range(tree.n_observed))
    component = {node: part for part in tree.parts for node in range(tree.n_observed) if part >> node & 1}
    for group in groups:
        reached, waiting = {group.nodes[0]}, [group.nodes[0]]
        while waiting:
            node = waiting.pop()
            near = {other for other, _ in tree.neighbors[node]} & set(group.nodes) - reached
            reached |= near
            waiting.extend(near)
        assert reached == set(group.nodes)
        assert group.hub in group.nodes
        assert len({component[column] for column in group.columns}) == 1
        for edge in group.edges:
            assert len(set(tree.edges[edge].tolist()) & set(group.nodes)) == 1


def test_a_group_that_falls_apart_by_itself_is_parted_once_more():
    tree, similarity, group = planted((5, 5, 5, 5), within=0.5, between=0.01)
    near = (group[:, None] < 2) & (group < 2) & (group[:, None] != group)
    close = np.where(near, 0.2, similarity)
    edges = [edge for edge in tree.edges.tolist() if edge[0] < 20] + [[20, 24], [21, 24], [24, 25], [22, 25], [23, 25]]
    joined = Tree(tree.names, edges)
    cutter = _Cutter(joined, close, range(joined.n_nodes))
    assert len(cutter.pieces(cutter.best())) == 3  # what modularity alone makes of it
    assert [found.columns for found in find_groups(joined, close)] == [
        tuple(range(start, start + 5)) for start in (0, 5, 10, 15)
    ]


def naive_modularity(similarity, pieces):
    total = similarity.sum()
    parts = [np.ix_(piece, piece) for piece in pieces]
    shares = [similarity[piece].sum() / total for piece in pieces]
    return sum(similarity[part].sum() / total - share**2 for part, share in zip(parts, shares, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_no_other_cut_of_up_to_three_edges_is_better(seed):
    model = latree.random_model(
        latree.random_tree(9, random_state=seed), n_states=3, start="identity", perturbation=0.2, random_state=seed
    )
    tree, similarity = model.tree, Dependence(model).between_columns
    cutter = _Cutter(tree, similarity, range(tree.n_nodes))
    best = cutter.best()

    def pieces(cut):
        return [[node for node in piece if node < 9] for piece in cutter.pieces(frozenset(cut))]

    assert cutter.modularity(best) == pytest.approx(naive_modularity(similarity, pieces(best)), rel=1e-9)
    inner = [edge for edge, ends in enumerate(tree.edges.tolist()) if min(ends) >= 9]
    others = (cut for size in range(4) for cut in itertools.combinations(inner, size))
    assert max(naive_modularity(similarity, pieces(cut)) for cut in others) <= cutter.modularity(best) + 1e-9


def test_independent_columns_are_groups_of_their_own_and_a_star_is_one():
    lonely = Tree("abc", [])
    assert [group.columns for group in find_groups(lonely, np.zeros((3, 3)))] == [(0,), (1,), (2,)]
    star = Tree("abcdef", [(column, 6) for column in range(6)])
    assert [group.columns for group in find_groups(star, 1 - np.eye(6))] == [tuple(range(6))]


def test_labels_and_their_purity(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("column,label,more\nb,red,1\na,red,2\nc,<b>blue</b>,3\nother,green,4\n")
    known = read_labels(path, ["a", "b", "c", "d"])
    assert known == {"b": "red", "a": "red", "c": "<b>blue</b>"}
    labels = [known.get(name, "") for name in ("a", "b", "c", "d")]
    facts = compare_labels(labels, [[0, 2], [1, 3]])
    assert facts["names"] == ["red", "<b>blue</b>"]
    assert facts["of"] == [0, 0, 1, -1]
    assert facts["purity"] == pytest.approx(2 / 3, abs=1e-6)
    assert facts["groups"] == [
        {"label": "red", "count": 1, "labelled": 2},
        {"label": "red", "count": 1, "labelled": 1},
    ]
    assert compare_labels(["", ""], [[0], [1]])["purity"] is None


def test_rare_categories_are_added_up():
    n = MOST_CATEGORIES + 5
    shares = np.arange(1, n + 1) / np.arange(1, n + 1).sum()
    scale = Scale.of(Column("x", "text", tuple(f"v{i:02}" for i in range(n))), shares)
    assert scale.names == (*(f"v{i:02}" for i in range(6, n)), "6 others")
    assert not scale.ordered
    assert sum(scale.shown(shares)) == pytest.approx(1000, abs=len(scale.names) / 2)
    assert scale.shown(shares)[-1] == round(1000 * shares[:6].sum())


def test_bins_are_named_for_people():
    column = latree.as_table(np.linspace(0, 10, 41)[:, None], bins=3).columns[0]
    assert column.categories == ("<= 3.125", "(3.125, 6.625]", "> 6.625")
    scale = Scale.of(column, np.ones(3))
    assert scale.names == ("≤ 3.125", "3.125 to 6.625", "> 6.625")
    assert scale.bounds == ("3.125", "6.625")
    assert scale.ordered
    halves = latree.as_table(np.array([0.5, 1.5] * 5)[:, None]).columns[0]  # too few values to part: they name the bins
    assert Scale.of(halves, np.ones(2)).names == halves.categories
    assert Scale.of(halves, np.ones(2)).bounds == ()
    text = Column("x", "text", ("(a, b]", "<= c"))
    assert Scale.of(text, np.ones(2)).names == ("(a, b]", "<= c")


def test_the_strangest_rows_and_their_least_expected_cells():
    model = MODELS[3]
    codes = model.sample(40, random_state=1).codes()
    codes[7, 2] = -1
    table = table_of(model, codes)
    facts = row_facts(model, table, [5], 5)
    scores = model.log_likelihood_rows(table)
    assert [row["row"] for row in facts["strangest"]] == (np.argsort(scores, kind="stable")[:5] + 1).tolist()
    joint = naive_joint(model).sum(axis=5)
    for row in facts["strangest"]:
        cells = codes[row["row"] - 1]
        shares = {}
        for column in np.flatnonzero(cells >= 0).tolist():
            index = tuple(slice(None) if node == column or cells[node] < 0 else cells[node] for node in range(5))
            missing = [node for node in range(5) if node != column and cells[node] < 0]
            kept = [node for node in range(5) if node == column or cells[node] < 0]
            given = joint[index].sum(axis=tuple(kept.index(node) for node in missing))
            shares[column] = given[cells[column]] / given.sum()
            expected = str(int(np.argmax(given)))
            told = [cell for cell in row["cells"] if cell["column"] == column]
            assert all(cell["expected"] == expected for cell in told)
        for cell in row["cells"]:
            assert cell["share"] == pytest.approx(shares[cell["column"]], rel=0.06)
        assert {cell["column"] for cell in row["cells"]} == set(sorted(shares, key=shares.get)[:4])
    posterior = model.posteriors(table)["H1"]
    for row in facts["some"]:
        ((state, share),) = row["states"]
        assert state == posterior[row["row"] - 1].argmax()
        assert share == pytest.approx(1000 * posterior[row["row"] - 1].max(), abs=0.51)


def test_simple_models_of_many_rows_are_fitted_to_some_and_judged_by_all(monkeypatch):
    model = latree.random_model(
        latree.random_tree(6, random_state=0), n_states=3, start="identity", perturbation=0.2, random_state=0
    )
    table = model.sample(3000, 0)
    whole = report_facts(model, table)["fit"]
    assert whole["n_compared"] == 3000
    for module in ("references", "facts"):
        monkeypatch.setattr(f"latree.report.{module}.MOST_ROWS", 500)
    some = report_facts(model, table)["fit"]
    assert some["n_compared"] == 500
    assert "fitted to 500 rows drawn at random" in report_html(model, table)
    for one, all_ in zip(some["compared"], whole["compared"], strict=True):
        assert all_["log_likelihood"] - 1000 < one["log_likelihood"] < all_["log_likelihood"] - 0.01


def test_references_are_ordered_and_no_worse_than_independence():
    model = latree.random_model(
        latree.random_tree(6, random_state=0), n_states=3, start="identity", perturbation=0.2, random_state=0
    )
    table = model.sample(500, random_state=0)
    found = list(references(table, 0.1))
    assert [reference.name for reference in found] == ["Independent columns", "Chow-Liu tree", "One hidden variable"]
    scores = [reference.model.log_likelihood(table) for reference in found]
    assert min(scores[1:]) > scores[0]
    frequencies = [np.bincount(column, minlength=3) for column in table.codes().T]
    best = sum((counts * np.log(counts / 500)).sum() for counts in frequencies)
    assert scores[0] == pytest.approx(best, rel=1e-4)


@pytest.fixture(scope="module")
def learned():
    model = latree.random_model(
        latree.random_tree(7, random_state=2), n_states=3, start="identity", perturbation=0.2, random_state=2
    )
    table = model.sample(300, random_state=2)
    settings = Settings(method="nj", criterion="bic", bootstrap=3, random_state=4)
    return learn_model(table, settings, origin=Origin("answers.csv", "latree fit answers.csv", None))


def test_a_model_remembers_its_fit_and_so_does_its_file(learned, tmp_path):
    learned.model.save(tmp_path / "model.json")
    record = LatentTreeModel.load(tmp_path / "model.json").record
    assert record == learned.model.record
    assert (record.method, record.criterion, record.seed, record.bootstrap) == ("nj", "bic", 4, 3)
    assert record.history == tuple(learned.fit.monitor.history)
    assert record.log_likelihood == learned.summary["log_likelihood"]
    assert record.tried
    chosen = {(attempt.most, attempt.smoothing) for attempt in record.tried}
    assert (max(learned.choice.n_states), learned.smoothing) in chosen
    assert all((attempt.bic is None) is (attempt.held_out is None) for attempt in record.tried)


def test_attempts_tell_what_held_out_rows_said(learned):
    own = next(
        attempt
        for attempt in learned.choice.tried
        if (attempt.fewest, attempt.most) == (min(learned.choice.n_states), max(learned.choice.n_states))
        and attempt.smoothing == learned.choice.smoothing
    )
    assert own.held_out == pytest.approx(learned.choice.scores.sum() / 300, rel=1e-9)


def test_a_record_of_no_rows_is_refused(learned):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    for change in ({"total_weight": 0.0}, {"n_missing": [301] + [0] * 6}):
        with pytest.raises(InputError, match="too small"):
            Record.from_dict(plain_record | change, 7)


WRONG = {
    "latree": 1,
    "source": ["x"],
    "method": None,
    "seed": -1,
    "n_rows": 2.5,
    "total_weight": "many",
    "n_missing": [0, 1],
    "log_likelihood": True,
    "converged": 1,
    "smoothing": None,
    "history": [1.0, "2"],
    "tried": [[1, 2, 3.0, None]],
    "counts": [["exchanges", 1.5]],
    "warnings": "none",
    "version": 2,
    "command": "\ud800",
}


@pytest.mark.parametrize("field", WRONG)
def test_a_record_is_read_as_hostile_input(learned, field):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    assert Record.from_dict(plain_record, 7) == learned.model.record
    with pytest.raises(InputError, match=field if field != "version" else "version 2"):
        Record.from_dict(plain_record | {field: WRONG[field]}, 7)
    with pytest.raises(InputError, match="fit"):
        Record.from_dict([plain_record], 7)


def test_facts_are_plain_data_that_do_not_hang_on_the_last_bits(learned):
    facts = report_facts(learned.model, learned.table, rows=3)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    shaken = LatentTreeModel(
        learned.model.tree,
        learned.model.columns,
        tuple(table * (1 + 1e-15) for table in learned.model.tables),
        learned.model.record,
    )
    assert report_facts(shaken, learned.table, rows=3) == facts


def test_a_report_without_data_has_what_the_model_knows(learned):
    with_data, without = report_facts(learned.model, learned.table), report_facts(learned.model)
    assert [column["data"] for column in without["columns"]] == [None] * 7
    for key in ("n_rows", "tree", "groups", "hidden", "data", "names"):
        assert with_data[key] == without[key]
    assert without["fit"]["own"] == with_data["fit"]["own"]
    assert without["fit"]["compared"] == []
    counts = np.bincount(learned.table.codes()[:, 0], minlength=3)
    assert with_data["columns"][0]["data"] == [round(1000 * count / 300) for count in counts.tolist()]


def test_other_rows_than_those_fitted_are_told(learned):
    assert report_facts(learned.model, learned.table)["fit"]["warnings"] == list(learned.warnings)
    other = learned.model.sample(300, random_state=9)
    assert "these are not the rows" in report_facts(learned.model, other)["fit"]["warnings"][-1]
    facts = report_facts(learned.model, learned.table, test=other)["fit"]
    assert facts["own"]["held_out"] == pytest.approx(learned.model.log_likelihood(other) / 300, abs=1e-4)
    assert all(compared["held_out"] is not None for compared in facts["compared"])


class Page(HTMLParser):
    """Collects the elements, texts and scripts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.styles = [], [], [], []
        self.text, self._inside = "", None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attributes]
        self._inside = tag
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside == "style":
            self.styles[-1] += data
        else:
            self.text += data


def test_names_stay_text():
    plain_page, page = (
        Page(report_html(latree.random_model(latree.random_tree(12)))),
        Page(report_html(hostile_model())),
    )
    assert len(page.scripts) == len(plain_page.scripts) == 3
    assert page.scripts[1:] == plain_page.scripts[1:]
    assert set(page.tags) == set(plain_page.tags)
    assert not [attribute for attribute in page.attributes if attribute[1].startswith("on")]
    assert json.loads(page.scripts[0])["names"][: len(HOSTILE)] == HOSTILE
    assert not re.search("[<>&\u2028\u2029]", page.scripts[0])
    assert "{{ 7 * 7 }}" in page.text
    assert "<script>window.canary=1</script>" in page.text


def test_nothing_but_the_pages_own_scripts_and_style_may_run():
    page = Page(report_html(MODELS[0]))
    (policy,) = [value for tag, name, value in page.attributes if tag == "meta" and value.startswith("default-src")]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def hashes(texts):
        return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashes(page.scripts[1:])
    assert rules["style-src"] == hashes(page.styles)
    assert "unsafe" not in policy
    assert not [value for _, name, value in page.attributes if name in ("src", "style", "srcset")]
    links = [value for _, name, value in page.attributes if name == "href"]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", page.scripts[2])


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_tree_has_a_report(name):
    tree = SHAPES[name]
    model = model_on(tree, [2] * tree.n_nodes, 0)
    table = model.sample(50, random_state=0)
    html = report_html(model, table, rows=2, test=table, labels={tree.names[0]: "x"})
    assert "<noscript>" in html
    assert html == report_html(model, table, rows=2, test=table, labels={tree.names[0]: "x"})


def test_variables_of_one_state_have_a_report():
    model = model_on(SHAPES["parts"], [1, 2, 3, 1, 2, 1, 1], 0)
    page = report_html(model, model.sample(20, random_state=0), rows=2)
    assert "nan" not in json.loads(Page(page).scripts[0])["tree"]["strength"]


def test_one_attempt_is_the_chosen_one(learned):
    tried = report_facts(learned.model)["fit"]["record"]["tried"]
    (chosen,) = [attempt for attempt in tried if attempt["chosen"]]
    assert chosen["smoothing"] == learned.smoothing
    assert chosen["bic"] == min(attempt["bic"] for attempt in tried if attempt["most"] == chosen["most"])


def test_the_estimator_writes_a_report(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 4)), columns=[*"abcd"])
    frame["b"] = frame["a"]
    fitted = latree.LatentTree("nj", n_states=2, random_state=0).fit(frame)
    fitted.report(tmp_path / "report.html", frame, labels={"a": "first"}, rows=2, test=frame)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(text in page for text in ("first", "60 other rows", "The strangest", "60 rows"))
    weights = np.arange(60) % 3
    heavy = latree.LatentTree("nj", n_states=2, random_state=0).fit(frame, sample_weight=weights)
    for name, given in (("heavy", {"sample_weight": weights}), ("light", {})):
        heavy.report(tmp_path / f"{name}.html", frame, **given)
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert ("these are not the rows" in page) == (name == "light")
    fitted.report(tmp_path / "bare.html")
    with pytest.raises(InputError, match="already exists"):
        fitted.report(tmp_path / "bare.html")


def test_the_file_stays_small():
    model = latree.random_model(
        latree.random_tree(60, random_state=0), n_states=10, hidden_states=12, start="identity", random_state=0
    )
    table = model.sample(400, random_state=0)
    assert len(report_html(model, table, rows=10).encode()) < 400_000


def test_charts_begin_at_independence_and_end_at_the_best():
    scores = {"per_row": -9.0, "held_out": None}
    fit = {"compared": [{"name": "a", **scores}, {"name": "b", **scores, "per_row": -8.0}]}
    assert comparison_chart(fit) is None
    chart = comparison_chart({**fit, "own": {**scores, "per_row": -6.0}})
    assert [(bar["value"], bar["own"]) for bar in chart["bars"]] == [(1.0, False), (3.0, True)]
    assert chart["bars"][1]["width"] == pytest.approx(3 * chart["bars"][0]["width"], rel=0.01)
    worse = comparison_chart({**fit, "own": {**scores, "per_row": -10.0}})
    assert worse["bars"][1]["x"] < worse["zero"]
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))


def test_words_and_numbers_for_people():
    assert plain("two\nlines\t") == "two lines"
    assert plain("\u2028") == plain("\u202e") == "(blank)"
    assert plain("👩\u200d👧") == "👩\u200d👧"
    assert elided("x" * 5000, 20) == "x" * 19 + "…"
    assert [percent(share) for share in (None, 0, 0.004, 0.5, 1)] == [
        "–",
        "0\u00a0%",
        "0.4\u00a0%",
        "50\u00a0%",
        "100\u00a0%",
    ]
