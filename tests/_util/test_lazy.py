"""Public names that are imported on first use."""

import subprocess
import sys

import pytest

import latree.paper


def test_names_are_imported_on_first_use():
    program = (
        "import sys, latree.paper; assert 'numpy' not in sys.modules; assert 'tree_facts' in dir(latree.paper); "
        "facts = latree.paper.tree_facts; assert vars(latree.paper)['tree_facts'] is facts; "
        "assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_public_folders_are_imported_on_first_use():
    program = (
        "import sys, types, latree; assert 'numpy' not in sys.modules; "
        "folders = 'table tree counts learners model interpret figure export report paper'.split(); "
        "assert {*folders} <= {*dir(latree)}; "
        "assert not any('latree.' + folder in sys.modules for folder in folders); "
        "assert callable(latree.interpret.loadings) and latree.interpret is sys.modules['latree.interpret']; "
        "assert all(isinstance(getattr(latree, folder), types.ModuleType) for folder in folders)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_name_is_there_and_no_other():
    assert all(callable(getattr(latree.paper, name)) for name in latree.paper.__all__)
    with pytest.raises(AttributeError, match=r"module 'latree\.paper' has no attribute 'random_forest'"):
        _ = latree.paper.random_forest
