"""How well a model fits: its gain on new rows beside simpler models, and how it was fitted."""

from dataclasses import fields
from math import inf, isfinite
from typing import Any

from latree._util.words import in_shell, setting
from latree.facts.words import candidate_name, worth_facts
from latree.interpret.worth import MAX_ROWS, chow_liu_tree, fit_simpler_models, measure_worth
from latree.model import LatentTreeModel
from latree.model.record import Record, Worth
from latree.model.row_model import bic
from latree.settings import Settings
from latree.table import Table

# The method of the model that the report is about, where methods are compared.
_OWN = "own"
# Names and descriptions of the simpler models, by their methods.
_SIMPLER = {
    "chow-liu": ("Chow-Liu tree", "the best tree without hidden variables"),
    "lcm": ("One hidden variable", "{} latent classes, as many as BIC chooses"),
}


def fit_facts(model: LatentTreeModel, table: Table | None, test: Table | None) -> dict[str, Any]:
    """Return the cross-validated gain, that on test rows, and what a fit remembers of itself."""
    record = model.record
    weight = table.total_weight if table is not None else record.total_weight if record else None
    log_likelihood = model.log_likelihood(table) if table is not None else record.log_likelihood if record else None
    worth = record.worth if record else None
    if worth is None and table is not None:
        worth = measure_worth(model, table)
    facts: dict[str, Any] = {
        "worth": worth_facts(worth, record.settings.goal if record else Settings.goal) if worth else None,
        "compared": _gains(worth) if worth else [],
        "n_fitted": min(table.n_rows, MAX_ROWS) if table is not None else None,
        "n_test": test.n_rows if test is not None else None,
        "test_gain": None,
        "history": [round(objective, 3) for objective in record.history] if record else [],
        "converged": record.converged if record else None,
        "warnings": [],  # about the rows of the report, beside those of the fit
        "python": python_lines(record),
        "record": _record_facts(record, model) if record else None,
        "n_states": model.n_states[model.tree.n_observed :].tolist(),
    }
    if log_likelihood is not None and weight is not None:
        held_out = model.log_density(test) / test.total_weight if test is not None else None
        facts["own"] = {
            "log_likelihood": _rounded(log_likelihood, 1),
            "bic": _rounded(bic(log_likelihood, model.n_parameters, weight), 1),
            "n_parameters": model.n_parameters,
            "held_out": _rounded(held_out),
        }
    if table is not None and test is not None:
        gains = _test_gains(model, table, test)
        facts["test_gain"] = gains[_OWN]
        for compared in facts["compared"]:
            compared["test_gain"] = gains.get(compared["method"])
    if table is not None and record and not _is_fitted(table, log_likelihood, record):
        facts["warnings"].append(_about_rows(table, record))
    return facts


def _gains(worth: Worth) -> list[dict[str, Any]]:
    """Return the gain of each simpler model of another kind per new row, and last that of the model itself."""
    rows: list[dict[str, Any]] = []
    for simpler in (one for one in worth.simpler if one.method != worth.kind):
        name, description = _SIMPLER.get(simpler.method, (simpler.method, "{} states"))
        figures = {"gain": _rounded(simpler.gain), "error": _rounded(simpler.error), "test_gain": None}
        rows.append(
            {"method": simpler.method, "name": name, "description": description.format(simpler.n_states), **figures}
        )
    own = {"gain": _rounded(worth.gain), "error": _rounded(worth.error), "test_gain": None}
    return [*rows, {"method": _OWN, "name": "This tree", "description": "", **own}]


def _test_gains(model: LatentTreeModel, table: Table, test: Table) -> dict[str, float | None]:
    """Return the mean gain per test row of the model, and of simpler models that are fitted to the table."""
    chow_liu = chow_liu_tree(table, model.tree)
    models = {simpler.method: simpler.model for simpler in fit_simpler_models(table, chow_liu)} | {_OWN: model}
    means = {method: found.log_likelihood(test) / test.total_weight for method, found in models.items()}
    independent = means.pop("independent")
    return {method: _rounded(mean - independent) for method, mean in means.items()}


def _rounded(value: float | None, decimals: int = 4) -> float | None:
    return round(value, decimals) if value is not None and isfinite(value) else None


def _about_rows(table: Table, record: Record) -> str:
    """Return how rows differ from those that the model was fitted to."""
    if record.weights_are and table.weights_are is None:
        given = setting("weights", "COLUMN") if in_shell() else "sample_weight"
        return f"The rows of the fit had weights, and these have none: give them with {given}."
    return (
        "These are not the rows that the model was fitted to: distributions of columns are those of other rows. "
        f"To score other rows, give the fitted ones as the data and the others with {setting('test')}."
    )


def _is_fitted(table: Table, log_likelihood: float | None, record: Record) -> bool:
    """Return whether rows are those that a model was fitted to, as far as their number and likelihood show."""
    return table.n_rows == record.n_rows and _is_same(log_likelihood, record.log_likelihood)


def _is_same(one: float | None, other: float | None) -> bool:
    """Return whether two log-likelihoods agree up to rounding; None and minus infinity both mean impossible rows."""
    if one is None or other is None or not isfinite(one):
        return (one is None or not isfinite(one)) and other is None
    return abs(one - other) <= 1e-6 * abs(other)


def _record_facts(record: Record, model: LatentTreeModel) -> dict[str, Any]:
    """Return what the summary does not say of a fit: the command, what was tried, and which kind of tree was chosen."""
    states = model.n_states[model.tree.n_observed :].tolist() or [1]
    own = (min(states), max(states), record.smoothing)
    # If several attempts have the states and smoothing of the model, the best of them was chosen.
    best = max(
        (attempt for attempt in record.tried if attempt[:3] == own),
        key=lambda attempt: -inf if attempt.held_out is None else attempt.held_out,
        default=None,
    )
    return {
        "command": record.command,
        "tried": [{**attempt._asdict(), "chosen": attempt is best} for attempt in record.tried],
        "counts": dict(record.counts),
        "chosen": candidate_name(record.candidates[0]) if record.candidates else None,
    }


def python_lines(record: Record | None) -> str:
    """Return the lines of Python that make a model like this one, and read it."""
    settings = record.settings if record else Settings()
    values = {f.name: getattr(settings, f.name) for f in fields(settings) if getattr(settings, f.name) != f.default}
    reading = record.reading.arguments() if record and record.reading else {}
    if record and record.weights_are == "survey":
        reading["weights_are"] = "survey"
    values |= {"reading": reading} if reading else {}
    chosen = [f"{name}={value!r}" for name, value in values.items()]
    needed, weights = ["# df: a data frame with these columns"], ""
    if record and record.unseen != "warn":
        chosen.append(f"unseen={record.unseen!r}")
    if record and record.labels:
        needed.append("# labels: your label of each column, by the name of the column")
        chosen.append("labels=labels")
    if record and record.weights is not None:
        needed[0] += f" and the weights of the rows, {record.weights!r}"
        weights = f", sample_weight={record.weights!r}"
    elif record and record.weights_are is not None:
        needed.append("# weights: the weight of each row")
        weights = ", sample_weight=weights"
    return "\n".join(
        [
            "import latree",
            "",
            *needed,
            f"model = latree.LatentTree({', '.join(chosen)}).fit(df{weights})",
            "model.groups_        # the groups of columns",
            "model.loadings()     # how strongly columns belong to them",
            "model.transform(df)  # where each row stands",
            f'model.report("report.html", df{weights})',
        ]
    )
