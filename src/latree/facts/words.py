"""The facts in words: every sentence that the text, the page and the notebook say about a model is made here, once."""

from collections.abc import Mapping, Sequence
from math import exp
from statistics import NormalDist
from typing import Any

from latree._util.words import counted, listed, percent, plural, setting, shortened
from latree.model.query import MIN_CORRELATION
from latree.model.record import Candidate, Key, Place, SimplerGain, Worth
from latree.settings import Goal

# An edge is sure from this support on, in per cent, and likely from this one on.
SURE, LIKELY = 90, 50
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
# Most candidates for prediction, beside the chosen one; most redundant pairs, and letters of a name there; most groups.
_LISTED_KINDS = 2
_LISTED_PAIRS, _MAX_NAME = 5, 40
_LISTED_GROUPS = 3
# The chance that any column of a table is said to fit another group better, if none does; columns that a line names.
_BY_CHANCE, _LISTED_COLUMNS = 0.05, 12
# What is said of columns that do not simply fit the group that they were given.
_VERDICTS = {
    "better in another group": "These columns fit another group better, by so many nats per row",
    "not seen to fit": "All other columns together say too little about these for a group to be seen",
    "fits a group": "These columns have no group, but would fit one, by so many nats per row",
    "fits no group": "These columns have no group, and fit none",
}
# Columns among those of another label are named if they are at most this share of all.
_FEW_AGAINST = 0.25
# The most numbers of groups, below the main one and above it, that a line says how well they come again.
_LISTED_LEVELS = 3


def finding(n_edges: int, n_hidden: int, n_groups: int) -> str:
    """Return what kind of story a report tells.

    Returns
    -------
    {"independent", "one hidden variable", "groups", "no groups"}
        No column depends on another; one hidden variable explains all of one group; there are groups; columns depend on
        each other, but too few of them to form a group.
    """
    if not n_edges:
        return "independent"
    if n_hidden == 1 and n_groups == 1:
        return "one hidden variable"
    return "groups" if n_groups else "no groups"


def headline(facts: dict[str, Any]) -> str:
    """Return the title of a report: what was found, and how it compares with the labels of the user."""
    n_columns, n_groups = facts["n_columns"], len(facts["groups"])
    if facts["finding"] == "independent":
        return "No dependence found"
    if facts["finding"] == "one hidden variable":
        n_states = counted(facts["groups"][0]["n_states"], "state")
        return f"One hidden variable with {n_states} explains {counted(n_columns, 'column')}"
    if facts["finding"] == "no groups":
        return f"{counted(n_columns, 'column')} form no groups"
    if facts["is_given"]:
        return f"{counted(n_columns, 'column')} in {counted(n_groups, 'group')}, as given"
    verb = "fall into" if n_groups > 1 else "form"
    found = f"{counted(n_columns, 'column')} {verb} {counted(n_groups, 'group')}"
    match = facts["labels"]["match"] if facts["labels"] else ""
    return found + (f": {match}" if match else "")


def label_match(facts: Mapping[str, Any]) -> str:
    """Return how many labels come out as groups, in words; nothing if that says little.

    Parameters
    ----------
    facts : mapping
        From :func:`compare_labels`.
    """
    n_labels, n_groups = len(facts["names"]), len(facts["groups"])
    n_whole, n_exact = sum(facts["whole"]), sum(facts["exact"])
    if n_labels < 2 or n_groups < 2:
        return ""
    if n_exact == n_labels == n_groups:
        return f"exactly your {n_labels} labels"
    if not n_whole:
        return ""
    return f"{n_whole} of your {n_labels} labels {'is' if n_whole == 1 else 'are'} whole, {n_exact or 'none'} exact"


def label_meaning(match: str) -> str:
    """Return what the words of :func:`label_match` mean; nothing if they need no explanation."""
    if "whole" not in match:
        return ""
    return "A label is whole if all its columns are in one group, and exact if that group has no others."


def certainty(support: Sequence[int | None], groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many edges are sure, likely and unsure, and how stable the groups are.

    Parameters
    ----------
    support : sequence of int or None
        Of each edge in per cent; None for edges without support.
    groups : sequence of mapping
        The main groups.
    """
    known = [share for share in support if share is not None]
    sure = sum(share >= SURE for share in known)
    likely = sum(LIKELY <= share < SURE for share in known)
    stable = [group for group in groups if group["stability"] is not None]
    least = min(stable, key=lambda group: percent(group["stability"]), default=None)
    return {
        "n_edges": len(known),
        "sure": sure,
        "likely": likely,
        "unsure": len(known) - sure - likely,
        "stability": sum(group["stability"] for group in stable) / len(stable) if stable else None,
        "least_stable": None if least is None else least["number"],
    }


def certainty_lines(found: Mapping[str, Any]) -> list[str]:
    """Return a line about the support of edges, from :func:`certainty`; none if no edge has support."""
    if not found["n_edges"]:
        return []
    others = [f"{found[kind]} {kind}" for kind in ("likely", "unsure") if found[kind]]
    return [", ".join([f"{found['sure']} of {found['n_edges']} edges sure", *others]) + "."]


def levels_lines(levels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line about how well the number of groups comes again, and numbers near it; none if that is unknown.

    Parameters
    ----------
    levels : sequence of mapping
        From :func:`latree.facts.found.facts_of`.
    """
    main = next((place for place, level in enumerate(levels) if level["is_main"]), None)
    if main is None or levels[main]["comes_again"] is None:
        return []
    # One group of all columns always comes again.
    others = [
        level for level in levels[max(main - _LISTED_LEVELS, 0) : main + _LISTED_LEVELS + 1] if not level["is_main"]
    ]
    shares = [f"{one['n_groups']}:\u00a0{percent(one['comes_again'])}\u00a0%" for one in others if one["n_groups"] > 1]
    beside = f" Other numbers of groups: {', '.join(shares)}." if shares else ""
    found = f"{plural(levels[main]['n_groups'], 'group')} {'come' if levels[main]['n_groups'] > 1 else 'comes'} again"
    return [f"In parts of the rows, {found}: {percent(levels[main]['comes_again'])}\u00a0%.{beside}"]


def discovery_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return what a reader would not have guessed, one sentence each.

    Parameters
    ----------
    facts : mapping
        With ``misplaced``, ``labels``, ``groups``, ``names``, ``between``, ``closest`` and ``unexpected``.
    """
    return [
        *_misplaced(facts["misplaced"]),
        *_against_their_label(facts["labels"], facts["groups"], facts["names"]),
        *_between(facts["between"]),
        *_closest(facts["closest"]),
        *_unexpected(facts["unexpected"]),
    ]


def _named(parts: Sequence[str], n_all: int) -> str:
    more = [f"and {n_all - len(parts):,} more"] * (n_all > len(parts))
    return ", ".join([*parts, *more])


def _short(name: str) -> str:
    return shortened(name, _MAX_NAME)


def _group(name: str) -> str:
    """Return the name of a group; in quotes if a comma in it could be one of the sentence."""
    return f"'{_short(name)}'" if "," in name else _short(name)


def _correlation(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _misplaced(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence about columns that fit another group better than the one that they were given."""
    if not columns:
        return []
    shown = [f"{_short(one['column'])} ({_group(one['other'])})" for one in columns[:_LISTED_COLUMNS]]
    fit = "fits another group better than its own" if len(columns) == 1 else "fit another group better than their own"
    return [f"{counted(len(columns), 'column')} {fit}: {_named(shown, len(columns))}."]


def _against_their_label(
    labels: Mapping[str, Any] | None, groups: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> list[str]:
    """Return a sentence about columns that are among those of another label."""
    if labels is None or len(groups) < 2:
        return []
    found = [
        (names[column], labels["names"][labels["of"][column]], match["label"])
        for match in labels["groups"]
        for column in match["others"]
    ]
    if not found:
        return []
    # Where groups mix labels throughout, no single column is news.
    if len(found) > len(names) * _FEW_AGAINST:
        return []
    shown = [f"{_short(name)} ({_short(own)}) is with {_short(other)}" for name, own, other in found[:_LISTED_PAIRS]]
    verb = "is" if len(found) == 1 else "are"
    return [f"{counted(len(found), 'column')} {verb} among those of another label: {_named(shown, len(found))}."]


def _between(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence about columns that often go to another group."""
    shown = []
    for one in columns[:_LISTED_GROUPS]:
        own, other = percent(one["stability"] or 0), percent(one["share"])
        neither = f", neither in {100 - own - other}\u00a0%" if own + other < 100 else ""
        shown.append(
            f"{_short(one['name'])} ({_group(one['group'])} in {own}\u00a0% of the searches, "
            f"{_group(one['other'])} in {other}\u00a0%{neither})"
        )
    return [f"Between groups: {_named(shown, len(columns))}."] if shown else []


def _closest(pair: Mapping[str, Any] | None) -> list[str]:
    """Return a sentence about the two groups that depend on each other most."""
    if pair is None or abs(pair["correlation"]) < MIN_CORRELATION:
        return []
    one, other = map(_group, pair["groups"])
    value = _correlation(pair["correlation"])
    if not pair["has_order"]:
        return [f"Of all groups, {one} and {other} depend on each other most (informational correlation {value})."]
    ends = "high" if pair["correlation"] > 0 else "low"
    return [
        f"Rows that are high on {one} are often {ends} on {other}: no two groups depend on each other more "
        f"(correlation {value})."
    ]


def _unexpected(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence about pairs of columns that the tree does not explain."""
    shown = [
        f"{_short(one['names'][0])} and {_short(one['names'][1])} "
        f"({_correlation(one['in_rows'])} in the rows, {_correlation(one['in_model'])} in the tree)"
        for one in pairs
    ]
    return [f"Correlations that the tree does not explain: {', '.join(shown)}."] if shown else []


def caption(facts: Mapping[str, Any], *, folded: bool) -> str:
    """Return a caption for the picture of the tree."""
    rows = f" in {counted(facts['n_rows'], 'row')}" if facts["n_rows"] is not None else ""
    hidden = f" with {counted(facts['n_hidden'], 'hidden variable')}" if facts["n_hidden"] else ""
    parts = [f"Latent tree of {counted(facts['n_columns'], 'column')}{rows}{hidden}."]
    if len(facts["groups"]) > 1:
        parts.append("Colours and numbers are groups of columns.")
    if folded:
        parts.append("Circles stand for groups and branches; their area is that of their columns.")
    parts.append("Thick and short edges mean strong dependence.")
    if facts["certainty"]["n_edges"]:
        parts.append(
            f"Numbers are the support of edges in per cent; edges are solid from {SURE}\u00a0%, dashed from "
            f"{LIKELY}\u00a0% and dotted below."
        )
    if facts["labels"]:
        parts.append("Marks before the names are labels.")
    return " ".join(parts)


def usefulness(gain: float | None, n_columns: int) -> str:
    """Return in words how much better than independent columns a model guesses cells of new rows; nothing if unknown.

    A gain of g nats per row of d columns makes a cell ``exp(g / d)`` times as probable, in the geometric mean.
    """
    if gain is None or n_columns < 1:
        return ""
    times = exp(gain / n_columns)
    figure = f"{times:.0f}" if times >= 10 else f"{times:.1f}" if times >= 1.95 else f"{times:.2f}"
    return f"{figure} times as good a guess per cell"


def stability_words(groups: Sequence[Mapping[str, Any]]) -> str:
    """Return how stable groups are, from the least to the most stable one; nothing if that is unknown."""
    shares = sorted(percent(group["stability"]) for group in groups if group["stability"] is not None)
    if not shares:
        return ""
    noun = "Group" if len(groups) == 1 else "Groups"
    verb = "is" if len(groups) == 1 else "are"
    if shares[0] == shares[-1]:
        return f"{noun} {verb} {shares[0]}\u00a0% stable"
    return f"{noun} {verb} {shares[0]} to {shares[-1]}\u00a0% stable"


def independence(n_columns: int, n_rows: int | None) -> str:
    """Return a sentence about columns of which no two are connected."""
    rows = "the rows" if n_rows is None else plural(n_rows, "row")
    return f"The {n_columns} columns are independent of each other, as far as {rows} show."


def kinds_lines(names: Sequence[str]) -> list[str]:
    """Return a line about groups whose states are kinds, by their names, if there are any."""
    if not names:
        return []
    shown = listed(names[:_LISTED_GROUPS])
    owner = shown if len(names) <= _LISTED_GROUPS else f"{len(names)} groups, such as {shown},"
    return [f"The states of {owner} are kinds of rows, not steps from low to high: read the state, not the score."]


def redundancy_lines(pairs: Sequence[tuple[Sequence[str], float]]) -> list[str]:
    """Return a line about redundant pairs of columns, with their strengths; none if there are none."""
    left = "still correlate {}after their group is taken into account"
    both = [" and ".join(shortened(name, _MAX_NAME) for name in names) for names, _ in pairs[:_LISTED_PAIRS]]
    if len(pairs) == 1:
        return [f"Possibly redundant: {both[0]} {left.format(f'{pairs[0][1]:.2f} ')}."]
    shown = [f"{names} ({strength:.2f})" for names, (_, strength) in zip(both, pairs, strict=False)]
    if len(pairs) > _LISTED_PAIRS:
        shown.append(f"and {plural(len(pairs) - _LISTED_PAIRS, 'more pair')}")
    return [f"Possibly redundant, as they {left.format('')}: {', '.join(shown)}."] if shown else []


def figure(value: float, error: float) -> str:
    """Return a figure with its standard error, with two digits after the point, or three where errors are small."""
    digits = 2 if error >= 0.01 else 3
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def worth_facts(worth: Worth, goal: Goal) -> dict[str, Any]:
    """Return the figures of a model's worth and the verdict on them, as plain data.

    Parameters
    ----------
    worth : Worth
    goal : {"explain", "predict"}
        What the model was made for.
    """
    best = worth.best_simpler
    return {
        "headline": _gain(worth),
        "verdict": _verdict(best, goal),
        "n_rows": worth.n_rows,
        "gain": worth.gain,
        "standard_error": worth.error,
        "simpler": {
            simpler.method: {
                **({"n_states": simpler.n_states} if simpler.n_states else {}),
                "gain": simpler.gain,
                "standard_error": simpler.error,
            }
            for simpler in worth.simpler
        },
        "best_simpler": best.method if best else None,
        "ahead": best.ahead if best else None,
        "ahead_standard_error": best.ahead_error if best else None,
    }


def _gain(worth: Worth) -> str:
    """Return the gain in one sentence."""
    if worth.gain is None or worth.error is None:
        return f"Some new rows have probability 0 under this model. To avoid that, use {setting('smoothing', 0.1)}."
    if worth.kind == "independent":
        return "The model treats the columns as independent of each other."
    direction = "more" if worth.gain >= 0 else "less"
    return f"New rows are {figure(abs(worth.gain), worth.error)} nats {direction} probable than under independence."


def _verdict(best: SimplerGain | None, goal: Goal) -> str:
    """Return in one or two sentences whether a simpler model of another kind predicts new rows as well or better."""
    if best is None or best.ahead is None or best.ahead_error is None:
        return ""
    difference = figure(abs(best.ahead), best.ahead_error)
    name = KINDS.get(best.method, best.method) + (f" with {best.n_states} states" if best.n_states else "")
    name = name[0].upper() + name[1:]
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


def key_facts(key: Key) -> dict[str, Any]:
    """Return what held-out rows say of groups that were given, as plain data and in words."""
    # By chance alone, at most a twentieth of all tables has a column that is said to fit a group that is not its own.
    n_groups = len({place.group for place in key.places} - {None})
    n_tests = sum(n_groups - (place.group is not None) for place in key.places)
    sure = NormalDist().inv_cdf(1 - _BY_CHANCE / max(n_tests, 1))
    rows = [place._asdict() | {"verdict": _verdict_of(place, sure)} for place in key.places]
    return {
        "n_rows": key.n_rows,
        "found": {"n_groups": key.n_groups, "n_hidden": key.n_hidden, "agreement": key.agreement},
        "found_ahead": key.ahead,
        "error": key.error,
        "headline": _key_headline(key),
        "columns": rows,
    }


def _verdict_of(place: Place, sure: float) -> str:
    """Return whether a column fits its group: fits, fits better in another one, or does not fit anywhere."""
    if place.ahead is not None and place.ahead_error is not None and place.ahead > sure * place.ahead_error:
        return "better in another group" if place.group is not None else "fits a group"
    if place.group is None:
        return "fits no group"
    return "fits" if place.gain > CLEAR * place.error else "not seen to fit"


def misplaced(facts: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the columns that fit another group better than the one that they were given, the clearest first."""
    columns = [] if facts is None else [one for one in facts["columns"] if one["verdict"] == "better in another group"]
    return sorted(columns, key=lambda one: -one["ahead"])


def _key_headline(key: Key) -> str:
    found = "what latree finds"
    if key.ahead is None or key.error is None:
        return f"These groups cannot be compared with {found}: some held-out rows are impossible under one of the two."
    difference = figure(abs(key.ahead), key.error)
    if abs(key.ahead) <= CLEAR * key.error:
        return f"These groups predict new rows about as well as {found}: {difference} nats per row apart."
    return (
        f"These groups predict new rows {'worse' if key.ahead > 0 else 'better'} than {found}, by {difference} nats "
        "per row."
    )


def key_lines(facts: Mapping[str, Any] | None) -> list[str]:
    """Return what a summary says about groups that were given, in plain words."""
    if facts is None:
        return []
    of = {verdict: [one for one in facts["columns"] if one["verdict"] == verdict] for verdict in _VERDICTS}
    found = facts["found"]
    lines = [
        f"{facts['headline']} Learned in parts of the rows, that has {found['n_groups']:.2g} groups and "
        f"{found['n_hidden']:.2g} hidden variables on average; the adjusted Rand index of its groups and these is "
        f"{found['agreement']:.2f} (1: the same)."
    ]
    for verdict, text in _VERDICTS.items():
        columns = sorted(of[verdict], key=lambda one: -(one["ahead"] or 0))
        if not columns:
            continue
        is_elsewhere = verdict in ("better in another group", "fits a group")
        named = [
            f"{one['column']} in {one['other']} ({figure(one['ahead'], one['ahead_error'])})"
            if is_elsewhere
            else one["column"]
            for one in columns[:_LISTED_COLUMNS]
        ]
        more = [f"{len(columns) - _LISTED_COLUMNS} more"] if len(columns) > _LISTED_COLUMNS else []
        lines.append(f"{text}: {', '.join([*named, *more])}.")
    if not of["better in another group"]:
        lines.insert(1, "No column is seen to fit another group better than its own.")
    return lines


def candidate_name(candidate: Candidate) -> str:
    """Return a kind of model in plain words, with its short name."""
    return f"{KINDS[candidate.kind]} ({candidate.kind})" if candidate.kind in KINDS else candidate.kind


def candidate_lines(candidates: Sequence[Candidate]) -> list[str]:
    """Return a line about the kind of tree that held-out rows chose, and those next to it."""
    if not candidates:
        return []
    chosen, *others = candidates
    # The simplest of several that are about as good is chosen, so that others may be slightly ahead.
    beside = [
        f"{candidate_name(other)} {'−' if other.behind > 0 else '+'}{figure(abs(other.behind), other.error)}"
        for other in others[:_LISTED_KINDS]
    ]
    others_too = f" Beside it, in nats per row: {', '.join(beside)}." if beside else ""
    goal = setting("goal", "explain")
    return [f"Held-out rows chose {candidate_name(chosen)}.{others_too} For groups of columns to read, use {goal}."]
