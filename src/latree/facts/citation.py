"""A paragraph for a paper: what was done, with which settings, versions, numbers and references.

Every sentence says only what the record of the fit says. References are those of what was used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from latree._util.words import counted, listed, plural
from latree.errors import InputError
from latree.facts.words import KINDS, figure, misplaced

Form: TypeAlias = Literal["text", "markdown", "bibtex"]
FORMS: tuple[Form, ...] = get_args(Form)

# More groups are counted, and not named.
_MAX_NAMED = 8


class Reference(NamedTuple):
    """A publication, with the fields that BibTeX has."""

    short: str  # as the text cites it
    kind: str
    author: str  # surnames first, divided by "and"
    title: str
    where: Mapping[str, str]


def _article(journal: str, volume: str, pages: str, year: int) -> dict[str, str]:
    return {"journal": journal, "volume": volume, "pages": pages, "year": str(year)}


_REFERENCES = {
    "dempster1977": Reference(
        "Dempster et al., 1977",
        "article",
        "Dempster, A. P. and Laird, N. M. and Rubin, D. B.",
        "Maximum likelihood from incomplete data via the EM algorithm",
        _article("Journal of the Royal Statistical Society, Series B", "39", "1--38", 1977),
    ),
    "schwarz1978": Reference(
        "Schwarz, 1978",
        "article",
        "Schwarz, G.",
        "Estimating the dimension of a model",
        _article("The Annals of Statistics", "6", "461--464", 1978),
    ),
    "lemoine2018": Reference(
        "Lemoine et al., 2018",
        "article",
        "Lemoine, F. and Domelevo Entfellner, J.-B. and Wilkinson, E. and Correia, D. and D{\\'a}vila Felipe, M. and "
        "De Oliveira, T. and Gascuel, O.",
        "Renewing Felsenstein's phylogenetic bootstrap in the era of big data",
        _article("Nature", "556", "452--456", 2018),
    ),
    "cronbach1951": Reference(
        "Cronbach, 1951",
        "article",
        "Cronbach, L. J.",
        "Coefficient alpha and the internal structure of tests",
        _article("Psychometrika", "16", "297--334", 1951),
    ),
    "ishteva2013": Reference(
        "Ishteva et al., 2013",
        "inproceedings",
        "Ishteva, M. and Park, H. and Song, L.",
        "Unfolding latent tree structures using 4th order tensors",
        {"booktitle": "Proceedings of the 30th International Conference on Machine Learning", "year": "2013"},
    ),
    "saitou1987": Reference(
        "Saitou & Nei, 1987",
        "article",
        "Saitou, N. and Nei, M.",
        "The neighbor-joining method: a new method for reconstructing phylogenetic trees",
        _article("Molecular Biology and Evolution", "4", "406--425", 1987),
    ),
    "lake1994": Reference(
        "Lake, 1994",
        "article",
        "Lake, J. A.",
        "Reconstructing evolutionary trees from DNA and protein sequences: paralinear distances",
        _article("Proceedings of the National Academy of Sciences", "91", "1455--1459", 1994),
    ),
    "jaffe2021": Reference(
        "Jaffe et al., 2021",
        "article",
        "Jaffe, A. and Amsel, N. and Aizenbud, Y. and Nadler, B. and Chang, J. T. and Kluger, Y.",
        "Spectral neighbor joining for reconstruction of latent tree models",
        _article("SIAM Journal on Mathematics of Data Science", "3", "113--141", 2021),
    ),
    "anandkumar2011": Reference(
        "Anandkumar et al., 2011",
        "inproceedings",
        "Anandkumar, A. and Chaudhuri, K. and Hsu, D. and Kakade, S. M. and Song, L. and Zhang, T.",
        "Spectral methods for learning multivariate latent tree structure",
        {"booktitle": "Advances in Neural Information Processing Systems 24", "year": "2011"},
    ),
    "choi2011": Reference(
        "Choi et al., 2011",
        "article",
        "Choi, M. J. and Tan, V. Y. F. and Anandkumar, A. and Willsky, A. S.",
        "Learning latent tree graphical models",
        _article("Journal of Machine Learning Research", "12", "1771--1812", 2011),
    ),
    "harmeling2011": Reference(
        "Harmeling & Williams, 2011",
        "article",
        "Harmeling, S. and Williams, C. K. I.",
        "Greedy learning of binary latent trees",
        _article("IEEE Transactions on Pattern Analysis and Machine Intelligence", "33", "1087--1097", 2011),
    ),
    "chow1968": Reference(
        "Chow & Liu, 1968",
        "article",
        "Chow, C. K. and Liu, C. N.",
        "Approximating discrete probability distributions with dependence trees",
        _article("IEEE Transactions on Information Theory", "14", "462--467", 1968),
    ),
    "liu2021": Reference(
        "Liu & Van den Broeck, 2021",
        "inproceedings",
        "Liu, A. and Van den Broeck, G.",
        "Tractable regularization of probabilistic circuits",
        {"booktitle": "Advances in Neural Information Processing Systems 34", "year": "2021"},
    ),
    "lazarsfeld1968": Reference(
        "Lazarsfeld & Henry, 1968",
        "book",
        "Lazarsfeld, P. F. and Henry, N. W.",
        "Latent structure analysis",
        {"publisher": "Houghton Mifflin", "year": "1968"},
    ),
}

# How each method learns the tree, and whose it is. `auto` has sentences of its own.
_METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tensor": ("by quartet tests on fourth-order tensors and divide and conquer", ("ishteva2013",)),
    "nj": ("by neighbour joining on log-det distances", ("saitou1987", "lake1994")),
    "snj": ("by spectral neighbour joining", ("jaffe2021",)),
    "spectral": ("by spectral quartet tests (Spectral@k)", ("anandkumar2011",)),
    "rg": ("by recursive grouping", ("choi2011",)),
    "clrg": ("by Chow-Liu recursive grouping", ("choi2011",)),
    "clnj": ("by Chow-Liu neighbour joining", ("choi2011",)),
    "hw": ("by greedy joining of binary latent trees", ("harmeling2011",)),
    "chow-liu": ("as the Chow-Liu tree of the columns", ("chow1968",)),
    "hclt": ("as a hidden Chow-Liu tree", ("liu2021",)),
    "lcm": ("as a latent class model, with one hidden variable", ("lazarsfeld1968",)),
    "independent": ("as independent columns", ()),
}


class Citation(NamedTuple):
    """A paragraph, and the keys of what it cites."""

    paragraph: str
    version: str
    references: tuple[str, ...]


def citation(facts: Mapping[str, Any]) -> Citation:
    """Return what a paper should say of a fit.

    Parameters
    ----------
    facts : dict
        From :func:`latree.facts.found.facts_of`.
    """
    summary = facts["summary"]
    if not summary:
        raise InputError("this model does not say how it was made, so there is nothing to cite: fit it with latree")
    used: list[str] = []

    def cited(*keys: str) -> str:
        used.extend(key for key in keys if key not in used)
        return f" ({'; '.join(_REFERENCES[key].short for key in keys)})" if keys else ""

    sentences = [
        _data(summary, cited),
        _tree(summary, cited),
        _estimates(summary, cited),
        _found(facts, summary, cited),
        _worth(summary),
        _scores(summary, cited),
    ]
    return Citation(" ".join(filter(None, sentences)), summary["latree"], tuple(used))


def _data(summary: Mapping[str, Any], cited: Any) -> str:
    rows, weights = counted(summary["n_rows"], "row"), ""
    if summary["weights"]:
        is_survey = summary["weights"]["are"] == "survey"
        effective = f"{summary['weights']['effective_rows']:{',.1f' if is_survey else ',g'}}"
        what = "survey weights" if is_survey else "weights that are counts"
        weights = f" with {what}, which count as {effective} rows,"
    more = []
    if summary["binned_columns"]:
        more.append(f"the numbers of {plural(summary['binned_columns'], 'column')} were put into bins")
    if left_out := len(summary["left_out"]):
        more.append(
            f"{plural(left_out, 'more column')} without information {'was' if left_out == 1 else 'were'} left out"
        )
    kind, columns = "latent tree" if summary["n_hidden"] else "tree", counted(summary["n_columns"], "column")
    return (
        f"A {kind} model of {columns} was fitted to {rows}{weights} with latree {summary['latree']} "
        "(The latree developers), which began as an implementation of the method of unfolding latent tree structures"
        f"{cited('ishteva2013')}{''.join(f'; {one}' for one in more)}."
    )


def _tree(summary: Mapping[str, Any], cited: Any) -> str:
    settings = summary["settings"]
    seed = settings["random_state"]
    end = f"; the random seed was {seed}." if seed is not None else "; no random seed was set."
    method, candidates = settings["method"], summary["candidates"]
    if method != "auto":
        how, keys = _METHODS[method]
        return f"The tree was learned {how}{cited(*keys)}{end}"
    if candidates:
        kind = candidates[0]["kind"]
        keys = _METHODS[kind][1] if kind in _METHODS else ()
        name = KINDS.get(kind, kind)
        others = f"the likelihood of held-out rows chose it among {len(candidates)} kinds of models"
        return f"The model is {name}{cited(*keys)}: {others}{end}" if len(candidates) > 1 else f"It is {name}{end}"
    if settings["key"] is not None:
        compared = f" {key['headline']} {_misplaced(key)}" if (key := summary["key"]) else ""
        return (
            "The groups of columns were given: each has one hidden variable, and these form a Chow-Liu tree"
            f"{cited(*_METHODS['chow-liu'][1])}{end}{compared}"
        )
    if settings["resolve"] == "all":
        return f"The tree was learned by latree's default method, as a fully resolved binary tree{end}"
    return (
        "The tree was learned by latree's default method, which keeps an edge between two hidden variables only where "
        f"the two predict held-out rows better than one in their place{end}"
    )


def _misplaced(key: Mapping[str, Any]) -> str:
    """Return which columns fit another group better than the one that they were given."""
    found = misplaced(key)
    if not found:
        return "No column was seen to fit another group better than its own."
    shown = [
        f"{one['column']} in {one['other']} (by {figure(one['ahead'], one['ahead_error'])} nats per row)"
        for one in found[:_MAX_NAMED]
    ]
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    fit = "fits another group better than its own" if len(found) == 1 else "fit another group better than their own"
    return (
        f"In tests at the 5 % level for all columns together, {counted(len(found), 'column')} {fit}: "
        f"{', '.join(shown)}{more}."
    )


def _estimates(summary: Mapping[str, Any], cited: Any) -> str:
    settings, text = summary["settings"], ""
    if summary["n_hidden"] and settings["n_states"] is not None:
        text = f"Each hidden variable has {plural(settings['n_states'], 'state')}; "
    elif summary["n_hidden"] and settings["method"] != "hw" and settings["goal"] == "explain":
        text = f"The numbers of states of the hidden variables were chosen by BIC{cited('schwarz1978')}; "
    elif summary["n_hidden"] and settings["method"] != "hw":
        text = "The numbers of states of the hidden variables were chosen by the likelihood of held-out rows; "
    by_em = summary["n_hidden"] or summary["missing_cells"]
    text += f"the parameters were estimated by EM{cited('dempster1977')}" if by_em else "the parameters were estimated"
    if summary["smoothing"]:
        rows = f"{summary['smoothing']:g} pseudo-row{'' if summary['smoothing'] == 1 else 's'}"
        text += f", with {rows} added to every cell of the probability tables"
    if by_em and not summary["converged"]:
        text += f", which was stopped after {plural(summary['iterations'], 'iteration')}"
    if missing := summary["missing_cells"]:
        share = 100 * missing / (summary["n_rows"] * summary["n_columns"])
        text += (
            f". All rows were used: the {counted(missing, 'missing cell')} ({share:.2g} %) were summed out, on the "
            "assumption that they are missing at random"
        )
    return f"{text[0].upper()}{text[1:]}."


def _found(facts: Mapping[str, Any], summary: Mapping[str, Any], cited: Any) -> str:
    if facts["finding"] == "independent":
        return "No column was found to depend on another one."
    groups, settings = facts["groups"], summary["settings"]
    hidden = counted(summary["n_hidden"], "hidden variable") if summary["n_hidden"] else "no hidden variables"
    text = f"The model has {hidden}"
    if groups:
        names = listed([group["name"] for group in groups]) if 1 < len(groups) <= _MAX_NAMED else ""
        text += f" and {counted(len(groups), 'group')} of columns{f' ({names})' if names else ''}"
        text += f"; {counted(len(facts['alone']), 'column')} belong to no group" if len(facts["alone"]) > 1 else ""
    stabilities = [group["stability"] for group in groups if group["stability"] is not None]
    halves = f"{settings['n_resamples']} random halves of the rows"
    if stabilities:
        text += (
            f"; in searches on {halves}, the columns of a group were in that group again in "
            f"{_range([round(100 * share) for share in stabilities])} % of the cases"
        )
    support = [round(100 * share) for share in summary["support"].values()]
    if support and settings["bootstrap"]:
        text += f"; edges have a support of {_range(support)} % in {counted(settings['bootstrap'], 'bootstrap sample')}"
    elif support:
        where = "these halves" if stabilities else halves
        text += (
            f"; the support of edges, which is based on transfer support{cited('lemoine2018')}, is {_range(support)} %"
        )
        text += f" in {where}"
    return f"{text}."


def _worth(summary: Mapping[str, Any]) -> str:
    worth = summary["worth"]
    if worth is None or worth["gain"] is None or worth["standard_error"] is None or not summary["n_hidden"]:
        return ""
    more = "more" if worth["gain"] >= 0 else "less"
    others = [
        f"{KINDS[method]} by {simpler['gain']:.2f}"
        for method, simpler in worth["simpler"].items()
        if simpler["gain"] is not None
    ]
    beside = f" ({'; '.join(others)})" if others else ""
    return (
        f"In cross-validation, held-out rows were {figure(abs(worth['gain']), worth['standard_error'])} nats per row "
        f"(± standard error) {more} probable than under independent columns{beside}."
    )


def _scores(summary: Mapping[str, Any], cited: Any) -> str:
    found = summary["reliability"].values()
    shares = [one["reliability"] for one in found if one["reliability"] is not None]
    if not shares:
        return ""
    alphas = [one["alpha"] for one in found if one["alpha"] is not None]
    beside = f"; Cronbach's alpha is {_range(alphas)}{cited('cronbach1951')}" if len(alphas) == len(shares) else ""
    what = (
        "score of the group, a posterior mean, has"
        if len(shares) == 1
        else "scores of the groups, posterior means, have"
    )
    return f"The {what} a model-based reliability of {_range(shares)}{beside}."


def _range(numbers: Sequence[float]) -> str:
    """Return the smallest and the largest number, with two decimals unless they are whole."""
    ends = [f"{x:d}" if isinstance(x, int) else f"{x:.2f}" for x in (min(numbers), max(numbers))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def cite(facts: Mapping[str, Any], form: Form = "text") -> str:
    """Return what a paper should say of a fit, with references, as text in one of the forms."""
    if form not in FORMS:
        raise InputError(f"format must be one of {', '.join(FORMS)}, not {form!r:.60}")
    found = citation(facts)
    if form == "bibtex":
        return "\n".join([_software(found.version), *(_bibtex(key) for key in found.references)])
    mark = "*" if form == "markdown" else ""
    lines = [
        f"The latree developers: {mark}latree: latent tree models of discrete tables{mark}, version {found.version}.",
        *(_line(_REFERENCES[key], mark) for key in found.references),
    ]
    paragraph = _escaped(found.paragraph) if form == "markdown" else found.paragraph
    return "\n".join([paragraph, "", "References", "", *(f"- {line}" for line in lines)]) + "\n"


def _escaped(text: str) -> str:
    """Return text in which names of groups are no markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)


def _line(reference: Reference, mark: str) -> str:
    where = reference.where
    author = ", ".join(one.strip() for one in reference.author.replace("{\\'a}", "á").split(" and "))
    place = where.get("journal") or where.get("booktitle") or where["publisher"]
    place += f" {where['volume']}, {where['pages'].replace('--', '–')}" if "volume" in where else ""
    return f"{author} ({where['year']}): {mark}{reference.title}{mark}. {place}."


def _software(version: str) -> str:
    return _entry(
        "software",
        "latree",
        {
            "author": "{The latree developers}",
            "title": "latree: latent tree models of discrete tables",
            "version": version,
        },
    )


def _bibtex(key: str) -> str:
    reference = _REFERENCES[key]
    return _entry(
        reference.kind, key, {"author": reference.author, "title": f"{{{reference.title}}}", **reference.where}
    )


def _entry(kind: str, key: str, values: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in values.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])
