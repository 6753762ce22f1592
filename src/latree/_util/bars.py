"""One progress bar per stage of some work, drawn by rich. Only work on a terminal imports this module."""

from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, GetTimeCallable, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

MIN_SECONDS = 2.0  # a stage that takes less time is not shown
_BAR_WIDTH = 40  # in characters; narrower on a narrow terminal
_REFRESHES_PER_SECOND = 5
_SPEED_PERIOD = 3600.0  # seconds over which the speed of a stage is averaged

# The time left is shown once this share of the stage is done, or once it has run for this many seconds.
_MIN_SHARE = 0.05
_MIN_SECONDS_FOR_TIME_LEFT = 10.0


class StageBars(Progress):
    """Bars of stages that follow each other; each stage ends where the next one begins.

    Parameters
    ----------
    console : Console, optional
        Where the bars are drawn; standard error by default.
    get_time : callable, optional
        The clock, in seconds.
    """

    def __init__(self, console: Console | None = None, get_time: GetTimeCallable | None = None) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR_WIDTH),
            TaskProgressColumn(),
            TimesColumn(table_column=Column(no_wrap=True)),
            console=console or Console(stderr=True),
            refresh_per_second=_REFRESHES_PER_SECOND,
            speed_estimate_period=_SPEED_PERIOD,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=get_time,
        )

    def get_renderables(self) -> "list[RenderableType]":
        """Return a table of the stages that have taken long enough."""
        long = [task for task in self.tasks if (task.elapsed or 0.0) >= MIN_SECONDS]
        return [self.make_tasks_table(long)] if long else []

    def begin(self, name: str, at_most: bool = False) -> Callable[[int, int], None]:
        """End the current stage, begin another one, and return the callback for its progress."""
        for task in self.tasks[-1:]:
            self.update(task.id, total=1, completed=1)
            self.stop_task(task.id)
        number = self.add_task(name, total=None, at_most=at_most)
        passes = 1

        def report(done: int, total: int) -> None:
            nonlocal passes
            task = self.tasks[number]
            if done < task.completed:  # the same work starts again
                passes += 1
                task.finished_time = None
            description = name if passes == 1 else f"{name} ({passes})"
            self.update(number, completed=done, total=total or None, description=description)

        return report


class TimesColumn(ProgressColumn):
    """The time that a stage has taken and, when it can be estimated, the time left."""

    def render(self, task: Task) -> Text:
        """Return a text such as "0:12 about 0:30 left"."""
        elapsed = task.elapsed or 0.0
        text = _clock(elapsed)
        is_reliable = task.percentage >= 100 * _MIN_SHARE or elapsed >= _MIN_SECONDS_FOR_TIME_LEFT
        if is_reliable and task.time_remaining:
            text += f" {'at most' if task.fields['at_most'] else 'about'} {_clock(task.time_remaining)} left"
        return Text(text)


def _clock(seconds: float) -> str:
    """Format seconds as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
