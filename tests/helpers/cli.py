"""The command line as tests run it."""

import io
import re
import sys
from unittest import mock

import pytest
from click.testing import CliRunner

from latree.__main__ import commands, main

# What a stage prints that takes more than ten seconds: on a slow machine, any of them.
_PROGRESS = re.compile(r"latree: .+: (\d+ %, )?\d+ s(, (about|at most) \d+ s left)?")


def run(*args):
    """Run the command line in this process; return its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["latree", *map(str, args)]
    with mock.patch.multiple(sys, argv=argv, stdout=out, stderr=err), pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code or 0, out.getvalue(), err.getvalue()


def succeed(*args):
    """Run a command that must succeed and print nothing on standard error but progress; return what it prints."""
    code, out, err = run(*args)
    assert (code, [line for line in err.splitlines() if not _PROGRESS.fullmatch(line)]) == (0, [])
    return out


def invoke(*arguments):
    """Run a command without the outer shell that turns errors into messages; return click's result."""
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])
