"""The ``TeamPeople`` of a team: whom it knows, whom it invites, and who joins and leaves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.society.formation.seats import NewcomerSeats
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.teams.team import Team
from virsci_society.society.teams.world import World

FormT = TypeVar("FormT", bound=Form)


class TeamPeople:
    """The scientists of the society, as one team deals with them; ``lab.people``.

    Args:
        world: the world in which they live.
        team: the team.
        pose: ``Lab.pose``.
        check: raises once the team is dissolved (rule 20).
    """

    def __init__(
        self, world: World, team: Team, pose: Callable[..., Answer[Any]], check: Callable[[], None]
    ) -> None:
        self._world, self._team, self._pose, self._check = world, team, pose, check

    @property
    def members(self) -> tuple[Profile, ...]:
        """Profiles of the members now, the leader first."""
        return tuple(self.profile(member) for member in self._team.members)

    def profile(self, who: str) -> Profile:
        """The public profile of a scientist as of now."""
        return self._world.profile(who)

    def load(self, who: str) -> int:
        """The number of teams in which a scientist works now."""
        return self._world.population.load(self._world.population.rows[who])

    def acquaintance(self, who: str) -> dict[str, Any]:
        """What an invitation depends on besides profiles.

        Returns:
            ``load`` (teams), ``ties`` (joint papers with the leader) and ``similarity`` of
            interests with the leader.
        """
        return {"load": self.load(who), **self._world.acquaintance(self._team.leader, who)}

    def invite(
        self, who: str, prompt: Prompt, form: type[FormT], seat: int, known: Mapping[str, Any]
    ) -> Answer[FormT]:
        """Invite a scientist; the Answer takes effect when the reply window has passed.

        Args:
            who: masked name of the scientist.
            prompt: page of the invitation.
            form: form of the reply.
            seat: number of the seat in the team that is to be filled.
            known: result of ``acquaintance``; further slots of the page.
        """
        # Kept until it is answered; what the end of the team overtakes is written as unanswered.
        self._team.open_invitations[who] = self._world.day, known
        return self._pose(
            who,
            prompt,
            form,
            "invite",
            seat=seat,
            within=self._team.times.reply_window,
            inviter=self.profile(self._team.leader),
            members=self.members,
            **known,
        )

    def join(self, who: str) -> bool:
        """Take a scientist into the team; False if the scientist has reached the limit of teams."""
        self._check()
        return self._world.join(self._team, who, "member")

    def why_not(self, who: str) -> str:
        """The reason why ``join`` returned False: ``full``, or ``gone`` from the society."""
        return "gone" if self._world.population.has_departed(who) else "full"

    def seat_newcomer(
        self, mentor: str, seats: NewcomerSeats | None, rng: np.random.Generator
    ) -> str:
        """Let a newcomer come and take a seat in the team at once.

        Args:
            mentor: masked name of the member from whom it has its place and some interests.
            seats: the rule by which it comes.
            rng: the random stream of the seat.

        Returns:
            The masked name of the newcomer, who is a member now.

        Raises:
            ProtocolError: the protocol has no such rule.
        """
        self._check()
        if seats is None:
            raise ProtocolError(f"{self._team.id}: the protocol has no seats for newcomers")
        population = self._world.population
        row = self._world.bring(population.rows[mentor], seats, rng)
        who = population.names[row]
        self._world.join(self._team, who, "member", arriving=True)
        return who

    def leave(self, who: str) -> None:
        """Let a member leave the team before its end; nothing if it has left the society."""
        self._check()
        if who in self._team.members:
            self._world.leave(self._team, who, stayed=False)

    def note_invitation(
        self, who: str, sent: float, known: Mapping[str, Any], outcome: str
    ) -> None:
        """Write the row of an invitation that was answered today.

        Args:
            who: masked name of the scientist.
            sent: date of the invitation, in days.
            known: result of ``acquaintance`` on that date.
            outcome: what came of it, as in the table ``invitations``.
        """
        self._team.open_invitations.pop(who, None)
        self._write_invitation(who, sent, known, self._world.day, outcome)

    def note_unanswered(self) -> None:
        """Write the rows of invitations that were open when the team, or the run, ended."""
        for who, (sent, known) in self._team.open_invitations.items():
            self._write_invitation(who, sent, known, None, None)
        self._team.open_invitations.clear()

    def _write_invitation(
        self,
        who: str,
        sent: float,
        known: Mapping[str, Any],
        answered: float | None,
        outcome: str | None,
    ) -> None:
        values = (known["load"], known["ties"], known["similarity"], known["load"] > 0)
        team = self._team
        self._world.log.row(
            "invitations", team.id, team.leader, who, sent, answered, outcome, *values
        )
