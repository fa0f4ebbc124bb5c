"""Base classes of the rules by which a team works: its protocol, and its paper's publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from virsci_society.society.teams.team import AuthorOrder, PublicationRule, Team, TeamRule

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab


class TeamProtocol(TeamRule):
    """How a team works, as one process per team.

    Subclass it, write ``run``, give it a ``citation``. The protocol touches the world only
    through ``lab``; it reads an Answer only when the next step depends on it.

    Attributes:
        citation: where the protocol was published; empty for one of this project.

    Example:
        >>> class Patience(vs.TeamProtocol):
        ...     days: vs.Days = 10.0
        ...     def run(self, team, lab):
        ...         yield from lab.wait(self.days)
        ...         raise vs.Dissolved("nothing came to mind")
        >>> next(Patience(days="2w").run(team, lab))
        <Timeout(14.0) ...>
        >>> Patience().name
        'patience'
    """

    citation: ClassVar[str] = ""

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values follow from another key."""
        return frozenset()

    @property
    def stages(self) -> frozenset[str] | None:
        """The stages whose meetings leave homework; None: not stated, so any name may be one."""
        return None

    @property
    def components(self) -> tuple[TeamProtocol, ...]:
        """The protocols of the teams: this one, or its components."""
        return (self,)

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Run the work of one team, as a SimPy process.

        Raises:
            Dissolved: the team ends without a paper; the message is the reason.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A team's manuscript: Answers that are read on the publication date (rule 13).

    Attributes:
        text: settles to something with ``title`` and ``abstract``.
        cites: settles to the ids of the cited works.
        neighbour_query: settles to the text that is embedded as the paper; None: title and
            abstract.

    Example:
        >>> essay = vs.Answer("Scientist1/1/essay", 7.0, (), False, read=lambda self: "words")
        >>> manuscript = vs.Manuscript(text=essay)
        >>> manuscript.author_order, manuscript.cites
        ('leader_first', None)
    """

    text: Answer[Any]
    cites: Answer[tuple[str, ...]] | None = None
    neighbour_query: Answer[str] | None = None
    author_order: AuthorOrder = "leader_first"


class Publication(PublicationRule):
    """Subclass it and write ``consider``; a team keeps the rule of its founding.

    Example:
        >>> class Issues(vs.Publication):
        ...     every: vs.Days = 30.0
        ...     def consider(self, team, lab, manuscript):
        ...         yield from lab.wait(self.every - lab.now % self.every)
        ...         return manuscript
        >>> list(Issues(every="2w").consider(team, lab, None))
        [<Timeout(14.0) ...>]
    """

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Everything between handing in and acceptance, as a SimPy process.

        The team has no members any more: its authors may work in others meanwhile.

        Raises:
            Dissolved: it was accepted nowhere; the message is the reason.
        """
        raise NotImplementedError

    @property
    def windows(self) -> Mapping[str, float]:
        """Days, by key, until a reply is read; shorter windows make the clock wait more."""
        return {}
