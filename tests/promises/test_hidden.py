"""R8 and R15: no secret on disk or screen, and offline means offline."""

import json

import pytest

from tests.promises.conftest import reset

CANARY = "canary-5f1e0c7b9d3a4e62"
TRAPS = "echo_key", "echo_key_200", "unauthorised", "bad_gateway", "dropped"

RECORD = """
import json, socket, sys
assert not {{"litellm", "openai"}} & set(sys.modules)
def note(original, place):
    def asked(*arguments, **kwargs):
        with open({log!r}, "a") as log:
            log.write(json.dumps(str(arguments[place])) + "\\n")
        return original(*arguments, **kwargs)
    return asked
socket.getaddrinfo = note(socket.getaddrinfo, 0)
connect = socket.socket.connect
socket.socket.connect = lambda self, address: note(connect, 1)(self, address)
"""
"""Lets a process note every name it looks up and every address it connects to."""


@pytest.fixture
def society(offline_nursery, tmp_path):
    """The command, in a process that has imported no client; what it said and whom it reached."""

    def run(*arguments, check=0, before="", **environment):
        log = tmp_path / "reached"
        log.touch()
        record = RECORD.format(log=str(log))
        how = {"cwd": tmp_path, "env": environment, "before": record + before, "page": True}
        done = offline_nursery.society(*arguments, **how)
        assert done.returncode == check, done.stderr
        reached = [json.loads(line) for line in log.read_text().splitlines()]
        return done.stdout + done.stderr, [name for name in reached if not is_here(name)]

    return run


def is_here(name):
    return any(one in name for one in ("127.0.0.1", "localhost", "::1", "None")) or "/" in name


def bytes_under(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("use", "trap"),
    [
        ("openai", "echo_key_200"),
        ("litellm", "echo_key"),
        *(
            pytest.param("openai", trap, marks=pytest.mark.slow)
            for trap in TRAPS
            if trap != "echo_key_200"
        ),
        *(pytest.param("litellm", trap, marks=pytest.mark.slow) for trap in TRAPS[1:3]),
    ],
)
def test_no_secret_reaches_disk_or_screen(society, server, scenario, tmp_path, promise, use, trap):
    reset(server, rates={trap: 0.3}, streak=2, retry_after=0.01)
    path = scenario(
        **{
            "backend.use": use,
            "backend.model": "openai/test" if use == "litellm" else "test",
            "backend.key": "SOME_PROVIDER_API_KEY",
            "until": "3w",
        }
    )
    told, reached = society(
        *("run", path, "--out", tmp_path / "run"),
        check=5 if trap == "unauthorised" else 0,
        SOME_PROVIDER_API_KEY=CANARY,
        LITELLM_LOG="DEBUG",
        OPENAI_LOG="debug",
    )
    assert server.counts()["faults"].get(trap, 0) > 0
    assert CANARY not in told
    assert reached == []
    written = bytes_under(tmp_path / "run")
    assert any(path.name.startswith("journal.sqlite") for path in written)
    for path, content in written.items():
        assert CANARY.encode() not in content, path
    promise("R8", "bytes of run folders and screens searched", sum(map(len, written.values())))
    promise("R8", "canaries found", 0)
    promise("R15", "commands watched", 1)


@pytest.mark.parametrize(
    "setting",
    [
        f"backend.api_base=http://user:{CANARY}@127.0.0.1:1/v1",
        f"backend.api_base=http://127.0.0.1:1/v1?api_key={CANARY}",
        f"backend.key=sk-{CANARY}",
        f"backend.extra={{api_key: {CANARY}}}",
    ],
)
def test_a_secret_in_a_scenario_is_refused_without_repeating_it(
    nursery, scenario, tmp_path, setting, promise
):
    arguments = ("run", scenario(), "--set", setting, "--out", tmp_path / "run")
    assert nursery.run(tmp_path / "log", *arguments)[0] == 2
    told = (tmp_path / "log").read_text(encoding="utf-8")
    assert CANARY not in told
    assert "Traceback" not in told
    promise("R8", "secrets in scenarios that were refused unspoken", 1)


def test_a_traceback_of_the_program_shows_no_key(society, tmp_path, promise):
    """A fault of our own, with the key in its message."""
    fault = (
        "import os, virsci_society.scenarios.runs.execute\n"
        "def broken(*_, **__):\n"
        "    raise RuntimeError('key ' + os.environ['SOME_PROVIDER_API_KEY'])\n"
        "virsci_society.scenarios.runs.execute.run_scenario = broken\n"
    )
    asked = ("run", "quickstart", "--out", tmp_path / "run")
    told, _ = society(*asked, check=1, before=fault, SOME_PROVIDER_API_KEY=CANARY)
    assert "Traceback" in told
    assert "RuntimeError: key [redacted]" in told
    assert CANARY not in told
    promise("R8", "tracebacks searched", 1)


def test_the_message_about_a_class_of_a_users_own_shows_no_key(society, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text(
        "from virsci_society.agents.gateway.backend import Backend\n"
        "class Broken(Backend):\n"
        "    @property\n"
        "    def inline(self):\n"
        "        return True\n"
        "    async def complete(self, request):\n"
        "        import os\n"
        "        raise RuntimeError('key ' + os.environ['SOME_PROVIDER_API_KEY'])\n"
    )
    path = tmp_path / "own.yaml"
    path.write_text("extends: quickstart\nbackend: {use: 'broken:Broken'}\n")
    told, _ = society("run", path, "--trust", check=2, SOME_PROVIDER_API_KEY=CANARY)
    assert "RuntimeError: key [redacted]" in told
    assert CANARY not in told


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "command", ["run", pytest.param("live", marks=pytest.mark.slow), "plan", "doctor", "list"]
)
def test_offline_means_offline(society, server, scenario, tmp_path, promise, command):
    """No name is looked up and no address reached but this machine's own."""
    reset(server)
    live = {"use": "litellm", "model": "openai/test", "api_base": server.url, "key": "SOME_KEY"}
    few = ("until=8w", "population.ecosystem.scientists=12", "population.ecosystem.papers=80")
    small = [part for setting in few for part in ("--set", setting)]
    arguments = {
        "run": ("run", "quickstart", *small, "--out", tmp_path / "run"),
        "live": ("run", scenario(backend=live, until="3w"), "--out", tmp_path / "run"),
        "plan": ("plan", "quickstart", *small),
        "doctor": ("doctor", "quickstart"),
        "list": ("list",),
    }[command]
    _, reached = society(*arguments, SOME_KEY="not-a-real-key")
    assert reached == []
    promise("R15", "commands watched", 1)
    promise("R15", "attempts to reach another machine", len(reached))
