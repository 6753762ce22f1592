"""What a model is worth, in figures and in words: how much more probable it makes new rows, beside simpler models."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from latree._util.spelling import setting
from latree.settings import Goal

# A difference of two models is clear if it is more than this many times its standard error.
CLEAR = 2.0

# What readers call kinds of models: methods, and the two trees of ``auto``.
KINDS = {
    "independent": "independent columns",
    "chow-liu": "a Chow-Liu tree",
    "lcm": "one hidden variable",
    "hclt": "a hidden Chow-Liu tree",
    "resolved": "the fully resolved tree",
    "explained": "the tree that explains the columns",
}


class SimplerGain(NamedTuple):
    """What a simpler model gains, and how far the model is ahead of it.

    Attributes
    ----------
    method : {"chow-liu", "lcm"}
        The method that learns it: a Chow-Liu tree, or a latent class model (one hidden variable).
    n_states : int
        Number of states of its hidden variable; 0 if there is none.
    gain, error : float or None
        Its own gain, and the standard error.
    ahead, ahead_error : float or None
        How much more the model gains on the same rows, and the standard error; None if the model's gain is None.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import measure_worth
    >>> tree = latree.random_tree(6, random_state=0)
    >>> true = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> chow_liu, one_hidden = measure_worth(true, true.sample(300, random_state=0)).simpler
    >>> chow_liu.name, one_hidden.name
    ('a Chow-Liu tree', 'one hidden variable with 4 states')
    """

    method: str
    n_states: int
    gain: float | None
    error: float | None
    ahead: float | None
    ahead_error: float | None

    @property
    def name(self) -> str:
        """What readers call it."""
        return KINDS.get(self.method, self.method) + (f" with {self.n_states} states" if self.n_states else "")


class Worth(NamedTuple):
    """How much more probable a model makes new rows than independent columns do: the cross-validated gain.

    Attributes
    ----------
    kind : {"independent", "chow-liu", "lcm", "latent tree"}
        The method that learns trees of this kind.
    n_rows : int
        Number of held-out rows that were scored.
    gain : float or None
        Mean gain per row, in nats; None if some held-out rows have probability 0.
    error : float or None
        Its standard error.
    simpler : tuple of SimplerGain
        The same for simpler models: a Chow-Liu tree, and one hidden variable.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import measure_worth
    >>> tree = latree.random_tree(6, random_state=0)
    >>> true = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> worth = measure_worth(true, true.sample(300, random_state=0))
    >>> worth.best_simpler.name
    'a Chow-Liu tree'
    """

    kind: str
    n_rows: int
    gain: float | None
    error: float | None
    simpler: tuple[SimplerGain, ...]

    @property
    def best_simpler(self) -> SimplerGain | None:
        """The simpler model of another kind that gains the most; None if there is none."""
        others = [simpler for simpler in self.simpler if simpler.gain is not None and simpler.method != self.kind]
        return max(others, key=lambda simpler: simpler.gain or 0.0, default=None)

    def to_dict(self, goal: Goal) -> dict[str, Any]:
        """Return the figures and the verdict as plain data, for ``summary.json``."""
        best = self.best_simpler
        return {
            "headline": self.headline(),
            "verdict": self.verdict(goal),
            "n_rows": self.n_rows,
            "gain": self.gain,
            "standard_error": self.error,
            "simpler": {
                simpler.method: {
                    **({"n_states": simpler.n_states} if simpler.n_states else {}),
                    "gain": simpler.gain,
                    "standard_error": simpler.error,
                }
                for simpler in self.simpler
            },
            "best_simpler": best.method if best else None,
            "ahead": best.ahead if best else None,
            "ahead_standard_error": best.ahead_error if best else None,
        }

    def headline(self) -> str:
        """Return the gain in one sentence."""
        if self.gain is None or self.error is None:
            return f"Some new rows have probability 0 under this model. To avoid that, use {setting('smoothing', 0.1)}."
        if self.kind == "independent":
            return "The model treats the columns as independent of each other."
        direction = "more" if self.gain >= 0 else "less"
        return f"New rows are {figure(abs(self.gain), self.error)} nats {direction} probable than under independence."

    def verdict(self, goal: Goal) -> str:
        """Return in one or two sentences whether a simpler model of another kind predicts new rows as well or better.

        Parameters
        ----------
        goal : {"explain", "predict"}
            What the model was made for.
        """
        best = self.best_simpler
        if best is None or best.ahead is None or best.ahead_error is None:
            return ""
        difference = figure(abs(best.ahead), best.ahead_error)
        name = best.name[0].upper() + best.name[1:]
        if best.ahead > CLEAR * best.ahead_error:
            return f"{name} predicts new rows worse, by {difference} nats per row."
        if best.ahead >= -CLEAR * best.ahead_error:
            return f"{name} predicts new rows as well: the difference is {difference} nats per row."
        advice = f" To predict, use {setting('goal', 'predict')}." if goal == "explain" else ""
        return f"{name} predicts new rows better, by {difference} nats per row.{advice}"


def worth_lines(facts: Mapping[str, Any] | None) -> list[str]:
    """Return what a summary says about the worth of a model, in plain words."""
    if facts is None:
        return ["There are too few rows to measure how well the model predicts new ones."]
    unit = "One nat more means 2.7 times as probable." if " nats " in facts["headline"] else ""
    return [line for line in (facts["headline"], unit, facts["verdict"]) if line]


def figure(value: float, error: float) -> str:
    """Return a figure with its standard error, with two digits after the point, or three where errors are small."""
    digits = 2 if error >= 0.01 else 3
    return f"{value:.{digits}f} ± {error:.{digits}f}"
