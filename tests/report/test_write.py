"""A report is written to a new file."""

import numpy as np
import pandas as pd

import latree
from latree.report.render import write_report


def test_the_estimator_writes_a_report(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 4)), columns=[*"abcd"])
    frame["b"] = frame["a"]
    fitted = latree.LatentTree("nj", n_states=2, random_state=0).fit(frame)
    fitted.report(tmp_path / "report.html", frame, labels={"a": "first"}, rows=2, test=frame)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(text in page for text in ("first", "60 test rows", "The most unusual rows", "60 rows"))
    weights = np.arange(60) % 3
    heavy = latree.LatentTree("nj", n_states=2, random_state=0).fit(frame, sample_weight=weights)
    for name, given in (("heavy", {"sample_weight": weights}), ("light", {})):
        heavy.report(tmp_path / f"{name}.html", frame, **given)
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert ("had weights, and these have none: give them with sample_weight" in page) == (name == "light")
        assert "are not the rows that the model was fitted to" not in page
    frame["w"] = weights
    named = latree.LatentTree("nj", n_states=2, random_state=0).fit(frame, sample_weight="w")
    named.report(tmp_path / "named.html", frame)
    assert "these have none" not in (tmp_path / "named.html").read_text(encoding="utf-8")
    fitted.report(tmp_path / "heavy.html")
    assert (tmp_path / "heavy.html").read_text(encoding="utf-8") != page


def test_a_report_is_written_as_it_is(tmp_path):
    for html in ("<p>é</p>", "other"):
        write_report(str(tmp_path / "report.html"), html)
        assert (tmp_path / "report.html").read_bytes() == html.encode()
