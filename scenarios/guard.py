"""Guard: every way a command can fail, as one message and an exit code, never a traceback."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable
from typing import NoReturn, ParamSpec

import typer

from agents.errors import SocietyError, Stopped
from agents.secrets import redact

P = ParamSpec("P")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what a command raises into a message on stderr and the exit code it stands for.

    SIGTERM is taken like Ctrl-C; a fault of the program itself keeps its traceback.
    """

    @functools.wraps(command)
    def careful(*args: P.args, **kwargs: P.kwargs) -> None:
        before = _on_sigterm(_interrupt)
        try:
            command(*args, **kwargs)
        except Stopped as error:
            _leave(f"stopped: {error}\nthe same command goes on with it", error.exit_code)
        except SocietyError as error:
            _leave(str(error), error.exit_code)
        except KeyboardInterrupt:
            _leave("interrupted; the same command goes on with it", Stopped.exit_code)
        finally:
            _on_sigterm(before)

    return careful


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _on_sigterm(handler: object) -> object:
    try:
        return signal.signal(signal.SIGTERM, handler)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        # Not on the main thread, or a handler that was not set from Python.
        return signal.SIG_DFL


def _leave(message: str, code: int) -> NoReturn:
    # A message may quote a stranger's file; a terminal must not obey what stands in it.
    told = redact(message).splitlines()
    lines = (line if line.isprintable() else repr(line)[1:-1] for line in told)
    typer.echo("\n".join(lines), err=True)
    raise typer.Exit(code)
