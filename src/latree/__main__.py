"""The command line with all its commands. ``python -m latree`` runs it, too.

Commands import heavy modules only when they need them, so that ``--help`` is instant.
"""

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


def _interrupted(message: str) -> NoReturn:
    """End after Ctrl-C without waiting for threads that are still working, as a normal exit would."""
    print(f"latree: {message}", file=sys.stderr, flush=True)
    os._exit(130)


_INTERRUPTED = "interrupted; nothing was written"

try:
    import click

    from latree import __version__
    from latree._util.words import as_in_shell
    from latree.cli.common import Interrupted
    from latree.cli.compare import compare
    from latree.cli.fit import demo, fit
    from latree.cli.questionnaire import ask, items, short
    from latree.cli.reading import check
    from latree.cli.results import cite, export, groups, methods, plot, rename, report, topics
    from latree.cli.rows import impute, sample, score, transform
    from latree.cli.tables import compare_tables
    from latree.errors import FitWarning, InputError
    from latree.paper.commands import power, reproduce, theory
except KeyboardInterrupt:  # imports take a second
    _interrupted(_INTERRUPTED)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="latree")
@click.pass_context
def commands(context: click.Context) -> None:
    """Find the hidden variables behind a table: which columns belong together, and where each row stands.

    Start with `latree demo`, or with `latree check data.csv` and `latree fit data.csv --out run`.
    """
    context.with_resource(as_in_shell())
    context.with_resource(_as_notes())
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@contextmanager
def _as_notes() -> Iterator[None]:
    """Print warnings about data as notes, each of them once."""
    told = set()
    with warnings.catch_warnings():
        show_others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, FitWarning):
                show_others(message, category, *place, **more)
            elif str(message) not in told:
                told.add(str(message))
                click.echo(f"note: {message}", err=True)

        warnings.simplefilter("always", FitWarning)
        warnings.showwarning = show
        yield


_COMMANDS = (
    fit,
    check,
    compare,
    compare_tables,
    methods,
    demo,
    groups,
    topics,
    rename,
    cite,
    transform,
    ask,
    short,
    items,
    score,
    sample,
    impute,
    plot,
    report,
    export,
    reproduce,
    theory,
    power,
)
for command in _COMMANDS:
    commands.add_command(command)


def main() -> None:
    """Run the command line. The exit code is 2, with one line, for errors that the user can fix, and 130 for Ctrl-C."""
    # A program may be started with closed streams, and an old terminal shows ? for characters that it does not have.
    # Tables that go to a file or to another program are UTF-8 as all files of latree, also on Windows.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_free = "PYTHONIOENCODING" not in os.environ and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if is_free else None, errors="replace")
    try:
        sys.exit(commands.main(prog_name="latree", standalone_mode=False))
    except click.ClickException as error:
        hint = (
            "; put a pattern of file names in quotes" if "unexpected extra argument" in error.format_message() else ""
        )
        _fail(error.format_message() + hint)
    except InputError as error:
        _fail(str(error))
    except MemoryError:
        _fail("not enough memory")
    except OSError as error:
        if error.filename is None and not _can_print():
            _fail_to_print(error)
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except (KeyboardInterrupt, click.Abort) as error:
        _interrupted(str(error) if isinstance(error, Interrupted) else _INTERRUPTED)


def _can_print() -> bool:
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def _fail_to_print(error: OSError) -> NoReturn:
    """End with 1, because the results were computed, and --out is written; only the text on the terminal is lost."""
    # What is still in the buffer would fail again at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    out = " --out is written." if "--out" in sys.argv else ""
    click.echo(f"latree: cannot print: {error.strerror or error}.{out}", err=True)
    sys.exit(1)


def _fail(message: str) -> NoReturn:
    click.echo(f"latree: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
