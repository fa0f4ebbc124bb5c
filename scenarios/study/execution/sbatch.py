"""The shell script that runs a study under Slurm: an array of tasks, and a job that gathers them.

It calls ``sbatch`` twice: for the array, of whose N tasks each does every N-th run, and, with a
dependency on it, for the report. Shortly before the time of a task is over Slurm signals its shell,
which stops the runs in order and puts the task into the queue again.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

MOST_TASKS = 1000
"""Slurm's ``MaxArraySize`` is 1,001 by default."""
SECONDS_BEFORE = 120
"""The signal comes so long before the end of a task's time; a study stops within 15 seconds."""

SCRIPT = """\
#!/bin/sh
# {runs} runs of the study {name}, as an array of {tasks} tasks, and a job that gathers them:
#   sh job.sh --partition=NAME --mem=4G
# What is given goes to sbatch. The same once more does what is missing. SOCIETY is the command:
#   SOCIETY="apptainer exec virsci-society.sif society" sh job.sh
set -eu
export SOCIETY="${{SOCIETY:-society}}"
$SOCIETY study lock {arguments}
array=$(sbatch --parsable --job-name={name} --array=0-{last} --time={time} \\
  --signal=B:TERM@{before} --requeue --open-mode=append "$@" <<'TASK'
#!/bin/sh
stopped=
run=
trap 'stopped=1; test -z "$run" || kill -TERM "$run"' TERM
$SOCIETY study run {arguments} --index "$SLURM_ARRAY_TASK_ID/{tasks}" \\
  --jobs "${{SLURM_CPUS_PER_TASK:-1}}" &
run=$!
code=0
wait "$run" || code=$?
if test -n "$stopped"; then # that wait ended with the signal
  code=0
  wait "$run" || code=$?
  test "$code" -eq 0 || scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
TASK
)
array=${{array%%;*}}
sbatch --job-name={name}-report --dependency="afterok:$array" --kill-on-invalid-dep=yes \\
  "$@" <<'REPORT'
#!/bin/sh
exec $SOCIETY study report {arguments}
REPORT
"""


def array_script(
    arguments: Sequence[str], name: str, runs: int, *, tasks: int | None = None, time: str
) -> str:
    """The script, to be run by ``sh``.

    Args:
        arguments: of ``society study run``, ``lock`` and ``report``: the study and its options.
        name: of the study.
        runs: how many it has.
        tasks: of the array; None: one for each run, at most 1,000.
        time: the limit of a task, as Slurm writes it (``4:00:00``).
    """
    tasks = min(runs, tasks or MOST_TASKS)
    return SCRIPT.format(
        arguments=shlex.join(arguments),
        name=shlex.quote(name),
        runs=runs,
        tasks=tasks,
        last=tasks - 1,
        time=shlex.quote(time),
        before=SECONDS_BEFORE,
    )
