"""llama.cpp's own HTTP server, with a model of random weights.

The package ``xllamacpp`` brings it as a wheel, so that no compiler is needed. As a program,
``python -m tests.peers.llama_server --model FILE --port PORT`` serves until it is ended.
"""

import argparse
import importlib.util
import sys
import threading
from pathlib import Path

from tests.peers.peer_process import PeerProcess

SLOTS, THREADS = 2, 1
"""Requests at a time, and threads: the machine is not the server's alone."""
CONTEXT = 32_768
"""Tokens of one request, prompt and reply; the others are refused."""


def missing():
    """Why the server cannot be started here; None if it can."""
    for package in ("xllamacpp", "gguf", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            return f"the package {package} is not installed; make test-peers installs it"
    return None


def llama_server(model, grammar, log):
    """The server, not yet started."""

    def command(port):
        told = ["--model", str(model), "--grammar", grammar, "--port", str(port)]
        return [sys.executable, "-m", "tests.peers.llama_server", *told]

    return PeerProcess(command, "/health", log)


def main():
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers.llama_server")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--grammar", choices=("gbnf", "llguidance"), default="gbnf")
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(given.model)
    params.port = given.port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.use_jinja = given.grammar == "gbnf"
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
