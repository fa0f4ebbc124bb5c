"""The nursery of processes that other tests rely on."""

import os

from tests.promises.conftest import KEY


def test_a_process_has_a_hash_seed_of_its_own(nursery):
    text = "the hash of a text"
    (once, again) = (nursery.call("tests.forked_commands:hash_of", text=text) for _ in range(2))
    assert once == again != hash(text)


def test_a_command_has_its_folder_its_environment_and_its_exit_code(nursery, tmp_path):
    told = nursery.society("list", cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert "quickstart" in told.stdout
    wrong = nursery.society("check", "none.yaml", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("none.yaml: no such file")
    show = "import os; print(os.getcwd(), os.environ['GIVEN'])"
    told = nursery.society("--help", cwd=tmp_path, env={"GIVEN": "x"}, before=show)
    assert told.stdout.startswith(f"{tmp_path} x\n")
    assert "GIVEN" not in os.environ


def test_a_branch_has_more_and_leaves_the_others_alone(nursery):
    branch = nursery.branch("openai", FAULTSERVER_KEY=KEY)
    show = "import os, sys; print('openai' in sys.modules, os.getenv('FAULTSERVER_KEY'))"
    assert branch.society("--help", before=show).stdout.startswith(f"True {KEY}\n")
    assert nursery.society("--help", before=show).stdout.startswith("False None\n")
    branch.close()
