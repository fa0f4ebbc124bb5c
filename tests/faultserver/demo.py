"""``make demo-live``: a whole run over HTTP against the fault server, without a model or a key."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.faultserver.__main__ import add_options, plan_of
from tests.faultserver.process import ROOT, FaultServer

OUT = Path("runs/demo-live")
COMMAND = (
    "import sys, tests.faultserver; from virsci_society.scenarios.cli.app import main; "
    "sys.argv[0] = 'society'; main()"
)
"""The command ``society``, in a process that sends the slots along."""
TOLD = """\
The server was asked {requests} times about {calls} calls over {connections} connections, at most \
{most_at_once} at once.
It sent {answers} answers ({repeated_answers} calls were answered twice) with \
{prompt_tokens} + {completion_tokens} tokens.
outcomes: {outcomes}
faults: {faults}"""


def main():
    """Run the quickstart society against the server; returns the exit code of the run."""
    parser = argparse.ArgumentParser(prog="make demo-live", description=__doc__)
    add_options(parser)
    parser.add_argument("--scenario", default="quickstart")
    parser.add_argument("--out", type=Path, default=OUT, help="the run folder")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    with FaultServer(plan_of(given)) as server:
        keys = [
            "backend.use=litellm",
            "backend.model=openai/test",
            f"backend.api_base={server.url}",
        ]
        command = [sys.executable, "-c", COMMAND, "run", given.scenario, "--out", str(given.out)]
        for key in (*keys, *given.set):
            command += ["--set", key]
        # No secret: the server takes any key, and the variable is set for this command alone.
        environment = os.environ | {"OPENAI_API_KEY": "not-a-key"}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        counts = server.counts()
    if code == 0:
        print(f"Open the report: {(ROOT / given.out / 'report.html').resolve()}")
    print(TOLD.format(**counts))
    if counts["requests"] == 0 and code == 0:
        print(f"Nothing had to be asked: {given.out} was finished before. Remove it to run anew.")
    return code


if __name__ == "__main__":
    sys.exit(main())
