"""The command ``society`` in this process."""

import typer.testing

from virsci_society.scenarios.cli.app import app


def society(*arguments):
    """What a command prints and its exit code; a fault that it does not report is raised."""
    done = typer.testing.CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done
