"""What `deep-jit run --profile` and `deep-jit replay` show of modelled time (emulator.md 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shared.jit.errors import ConfigError

if TYPE_CHECKING:
    from .._shared.emulator.timing import TimingProfile

__all__ = ["TimingWishes", "profile_json", "show_profiles", "timing_options", "write_files"]


@dataclass
class TimingWishes:
    """What a command line wants to know of modelled time.

    Attributes:
        mode: ``fast``, ``replay``, or "" when nothing is wanted.
        profile: print the busy table of each launch.
        timeline: file for the Chrome trace of the last launch.
        plot: file for the picture of its pipes.
        trace: file for its trace, for `deep-jit replay`.
        profiles: of the launches, in order.
    """

    mode: str = ""
    profile: bool = False
    timeline: Path | None = None
    plot: Path | None = None
    trace: Path | None = None
    profiles: list[TimingProfile] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.mode and (self.profile or self.timeline or self.plot or self.trace):
            self.mode = "replay"

    @contextmanager
    def in_process(self) -> Iterator[None]:
        """Watches the launches of this process."""
        if not self.mode:
            yield
            return
        from .._shared.emulator.timing import save_trace, timed_launches

        with timed_launches() as self.profiles:
            yield
        if self.profiles:
            write_files(None, self.mode, self.timeline, self.plot)
            if self.trace:
                save_trace(self.trace)

    def read(self, folder: Path) -> None:
        """Models the launches whose traces a program left in a folder."""
        from .._shared.emulator.timing import replay_trace
        from ..run import load_runtime

        traces = sorted(folder.glob("*.trace"))
        if not traces:
            return
        load_runtime()
        self.profiles = [replay_trace(trace, mode=self.mode) for trace in traces]
        write_files(traces[-1], self.mode, self.timeline, self.plot)
        if self.trace:
            self.trace.write_bytes(traces[-1].read_bytes())


def timing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that `run` and `replay` share."""
    file = click.Path(dir_okay=False, path_type=Path)
    for option in (
        click.option("--plot", type=file, help="Draw the pipes of block 0 (.png, .svg)."),
        click.option(
            "--timeline", type=file, help="Write a Chrome trace of the last launch for Perfetto."
        ),
    ):
        command = option(command)
    return command


def write_files(
    trace: Path | None,
    mode: str,
    timeline: Path | None,
    plot: Path | None,
    constants: Mapping[str, float] | None = None,
) -> None:
    """Writes the pictures of a trace; None for the last timed kernel of this process."""
    if not (timeline or plot):
        return
    from .._shared.emulator.timeline import load_timeline, write_chrome_trace

    loaded = load_timeline(trace, mode=mode, constants=constants)
    if timeline:
        write_chrome_trace(timeline, loaded)
    if plot:
        from .._shared.emulator.plots import plot_timeline

        plot_timeline(plot, loaded)


def profile_json(profile: TimingProfile) -> dict[str, Any]:
    """Plain JSON values of a profile; they say that they are modelled."""
    from .._shared.emulator.bank_conflicts import bank_conflict_lines

    derived = {
        "modelled": True,
        "tflops": profile.tflops,
        "gbps": profile.gbps,
        "verdict": profile.verdict,
        "bank_conflicts": profile.bank_conflicts,
        "bank_conflict_lines": bank_conflict_lines(profile),
    }
    return asdict(profile) | derived


def show_profiles(profiles: Sequence[TimingProfile]) -> None:
    """Prints time, rates, verdict and a busy table of each launch to stderr."""
    from .._shared.emulator.timing_table import print_profile

    for profile in profiles:
        print_profile(profile, to_stderr=True)


def parse_constants(words: Sequence[str]) -> dict[str, float]:
    """Reads NAME=VALUE words.

    Raises:
        ConfigError: a word has another form.
    """
    values = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            values[name] = float(text)
        except ValueError:
            raise ConfigError(
                f"--set got {word!r}; allowed: NAME=NUMBER, for example hbm_read_gbps=4000"
            ) from None
    return values
