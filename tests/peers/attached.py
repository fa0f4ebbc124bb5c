"""``python -m tests.peers.attached COMMAND...``: a child process that cannot outlive its parent.

The command runs until it ends or the standard input of this process is closed, which happens also
when the process at the other end is killed.
"""

import subprocess
import sys
import threading

GRACE = 10.0
"""Seconds between being asked to end and being killed."""


def main():
    """Run the command; returns its exit code."""
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def end_with_input():
        sys.stdin.buffer.read()
        child.terminate()
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=end_with_input, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
