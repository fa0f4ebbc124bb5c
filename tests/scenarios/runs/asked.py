"""What the offline scientists of a run are asked, and runs that stop at one of their calls."""

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.agents.offline.backend import Offline, answer_offline


class Asked:
    """Notes ids and dates; stops a run once so many ids hold a text."""

    def __init__(self, monkeypatch, stop_at=None, of=""):
        self.ids, self.dates = [], {}

        async def complete(_, request):
            if sum(of in one for one in self.ids) == stop_at:
                raise Stopped("pulled the plug")
            self.ids.append(request.id)
            self.dates[request.id] = request.asked
            return answer_offline(request)

        monkeypatch.setattr(Offline, "complete", complete)


def run_until(monkeypatch, stop_at, run, of=""):
    """Run until a call, at which the run must stop; tells what was asked until then."""
    with monkeypatch.context() as patch:
        asked = Asked(patch, stop_at, of)
        with pytest.raises(Stopped, match="pulled the plug"):
            run()
    return asked


def digest(folder):
    return (folder / "digest").read_text()
