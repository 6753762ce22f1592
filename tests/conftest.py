"""Shared by all tests: settings of hypothesis, and which tests are slow."""

from pathlib import Path

import pytest
from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("latree", deadline=None)
settings.load_profile("latree")

# Files whose tests take several seconds together: `make check` leaves them out.
SLOW = {
    "_util/test_checkpoint.py",
    "cli/test_common.py",
    "cli/test_fit.py",
    "cli/test_main.py",
    "_util/test_terminal.py",
    "export/test_bif.py",
    "export/test_dot.py",
    "export/test_pgmpy_network.py",
    "export/test_xmlbif.py",
    "figure/test_draw.py",
    "figure/test_radial.py",
    "inference/test_em.py",
    "learners/test_auto.py",
    "learners/test_chow_liu_grouping.py",
    "learners/test_divide_conquer.py",
    "learners/test_explain.py",
    "learners/test_harmeling_williams.py",
    "learners/test_methods.py",
    "learners/test_neighbor_joining.py",
    "learners/test_predict.py",
    "learners/test_recursive_grouping.py",
    "learners/test_spectral_grouping.py",
    "learners/test_support.py",
    "model/test_states.py",
    "paper/experiments/test_power.py",
    "paper/experiments/test_quartets.py",
    "paper/experiments/test_reproduce.py",
    "report/test_browser_drawing.py",
    "report/test_browser_page.py",
    "search/test_rearrange.py",
    "explain/test_dependence.py",
    "report/test_render.py",
    "search/test_explain.py",
    "search/test_states.py",
    "table/test_dask.py",
    "test_estimator.py",
}


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix() in SLOW:
            item.add_marker(pytest.mark.slow)
