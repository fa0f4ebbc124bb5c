"""R17: a model that cannot do it is stopped, and the run can be resumed."""

from tests.promises.conftest import digest_of, reset


def test_a_run_behind_unreadable_replies_stops_and_goes_on_only_if_asked(
    nursery, server, scenario, tmp_path, promise
):
    reset(server, rates={"malformed_reply": 1.0})
    usual, run = scenario(**{"backend.unreadable": None}), tmp_path / "run"
    code, _ = nursery.run(tmp_path / "log", "run", usual, "--out", run)
    told = (tmp_path / "log").read_text(encoding="utf-8")
    assert code == 5, told
    assert "Traceback" not in told
    assert "answers could not be used" in told
    assert told.count("  - ") == 3, told
    assert not (run / "digest").exists()
    again, _ = nursery.run(tmp_path / "log2", "run", usual, "--out", run)
    assert again == 5
    endless = scenario(**{"backend.unreadable": {"stop_at": 1}})
    assert nursery.run(tmp_path / "log3", "run", endless, "--out", run)[0] == 0
    assert "warning: " in (tmp_path / "log3").read_text(encoding="utf-8")
    whole = tmp_path / "whole"
    assert nursery.run(tmp_path / "log4", "run", endless, "--out", whole)[0] == 0
    assert digest_of(run) == digest_of(whole)
    promise("R17", "runs stopped because replies were not readable", 2)
