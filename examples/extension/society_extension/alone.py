from pathlib import Path

from virsci_society import Form, Manuscript, Prompt, TeamProtocol

PAGE = Prompt(Path(__file__).with_name("prompts") / "essay.txt")


class Essay(Form):
    title: str
    abstract: str

    def words(self):
        return f"{self.title}\n{self.abstract}"


class Alone(TeamProtocol):
    """One scientist writes one essay (an example, after nobody)."""

    topic: str = "networks"

    def run(self, team, lab):
        essay = yield from lab.stage("writing", self.write(team, lab))
        return Manuscript(text=essay)

    def write(self, team, lab):
        yield from lab.notice()
        with lab.convene(turn=1) as everybody:
            yield everybody
            return (yield from lab.ask(team.leader, PAGE, Essay, topic=self.topic))
