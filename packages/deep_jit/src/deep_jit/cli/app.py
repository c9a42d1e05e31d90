"""The commands of `deep-jit`; an error of the JIT ends them with its text and status 1."""

from __future__ import annotations

import sys
from typing import Any

import click

from .._shared.jit.errors import Error
from .._version import __version__
from .cache import cache
from .doctor import run_doctor
from .replay import replay
from .run import run
from .warm import warm

__all__ = ["app"]


class _App(click.Group):
    """A group that shows errors of the JIT as texts."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Error as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output has gone: nothing to report
            raise click.exceptions.Exit(1) from None


@click.group(cls=_App, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deep-jit")
def app() -> None:
    """Compile, cache and run Ascend C kernels; look after the cache they live in."""


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
)
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Report versions, compilers, CANN, devices and cache; run a kernel on every target found."""
    ctx.exit(run_doctor(ctx.args))


app.add_command(warm)
app.add_command(cache)
app.add_command(run)
app.add_command(replay)
