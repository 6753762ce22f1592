"""Shared by all tests: settings of hypothesis, which tests are slow, which come first, and which Windows cannot run."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from latree._util import workers

# Two workers use both cores already: copies of a process would only wait for them. Tests of copies set their own value.
workers._WORTH_A_COPY = 2.0

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
    "paper/test_power.py",
    "paper/test_quartets.py",
    "paper/test_reproduce.py",
    "report/test_browser_ask.py",
    "report/test_browser_drawing.py",
    "report/test_browser_page.py",
    "interpret/test_dependence.py",
    "report/test_render.py",
    "search/test_explain.py",
    "search/test_states.py",
    "table/test_dask.py",
    "test_estimator.py",
    "test_estimator_data.py",
    "test_estimator_file.py",
    "test_meaning.py",
    "test_site.py",
    "test_snippets.py",
    "test_wheel.py",
}

# Tests that `make test` leaves to `make test-site`, `make test-paper` and `make test-wheel`: files, or a folder.
ELSEWHERE = {"site": ("test_site.py", "test_snippets.py"), "paper": ("paper/",), "wheel": ("test_wheel.py",)}

# The longest tests begin first, so that no process has one of them left when the others are done.
FIRST = ("paper/test_reproduce.py", "table/test_dask.py", "report/test_browser_drawing.py")

# Tests that need signals, modes of files or symbolic links: Windows has none, or only for administrators.
POSIX = {
    "_util/test_files.py::test_a_file_is_never_replaced_by_a_folder_nor_a_folder_by_a_file",
    "_util/test_files.py::test_permissions_follow_the_umask",
    "_util/test_files.py::test_outputs_have_to_be_new",
    "cli/test_common.py::test_a_process_that_is_ended_goes_on",
    "cli/test_common.py::test_no_command_replaces_its_inputs",
    "cli/test_main.py::test_ctrl_c_leaves_nothing_behind",
}


def name_of(item):
    return item.path.relative_to(Path(__file__).parent).as_posix()


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: name_of(item) not in FIRST)
    for item in items:
        file = name_of(item)
        if file in SLOW:
            item.add_marker(pytest.mark.slow)
        for name, beginnings in ELSEWHERE.items():
            if file.startswith(beginnings):
                item.add_marker(name)
        if os.name == "nt" and f"{file}::{item.name.partition('[')[0]}" in POSIX:
            item.add_marker(pytest.mark.skip(reason="needs signals, modes of files or symbolic links"))
