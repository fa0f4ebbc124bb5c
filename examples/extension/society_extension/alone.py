from pathlib import Path

import virsci_society as vs

PAGE = vs.Prompt(Path(__file__).with_name("prompts") / "essay.txt")


class Essay(vs.Form):
    title: str
    abstract: str

    def words(self):
        return f"{self.title}\n{self.abstract}"


class Alone(vs.TeamProtocol):
    """One scientist writes one essay (an example, after nobody)."""

    topic: str = "networks"

    def run(self, team, lab):
        essay = yield from lab.stage("writing", self.write(team, lab))
        return vs.Manuscript(text=essay)

    def write(self, team, lab):
        yield from lab.notice()
        with lab.convene(turn=1) as everybody:
            yield everybody
            return (yield from lab.ask(team.leader, PAGE, Essay, topic=self.topic))
