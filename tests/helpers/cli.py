"""The command line as tests run it."""

import io
import sys
from unittest import mock

import pytest

from latree.__main__ import main


def run(*args):
    """Run the command line in this process; give its exit code, what it prints, and what it complains about."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["latree", *map(str, args)]
    with mock.patch.multiple(sys, argv=argv, stdout=out, stderr=err), pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code or 0, out.getvalue(), err.getvalue()


def succeed(*args):
    """Run a command that must succeed and say nothing on standard error; give what it prints."""
    code, out, err = run(*args)
    assert (code, err) == (0, "")
    return out
