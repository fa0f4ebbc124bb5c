"""The child process of ``use: local``: llama.cpp's server on a free port of 127.0.0.1.

It serves until its standard input is closed, which happens also when its parent is killed.
"""

import json
import os
import signal
import sys
import threading


def main() -> None:
    """Serve until the parent has ended."""
    # Ctrl-C is the parent's: it waits for calls that are under way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = settings["weights"], {settings["alias"]}
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    # Else every page in a browser of this machine, and every user of it, could ask the model.
    params.api_keys = [settings["key"]]
    params.ui = False
    # Returns when the weights are loaded; port 0, its default, is a free one.
    server = xllamacpp.Server(params)
    ready = {"address": server.listening_address, "xllamacpp": xllamacpp.__version__}
    print(json.dumps(ready), flush=True)
    threading.Event().wait()


def _end_with_parent() -> None:
    os.read(0, 1)  # not by the buffer, whose lock a failing main thread would wait for
    os._exit(0)


if __name__ == "__main__":
    main()
