import virsci_society as vs


class Friends(vs.Acceptance):
    """Former co-authors accept while they are in few teams; strangers seldom do."""

    stranger: float = 0.2
    most: int = 3

    def probability(self, invitation):
        if invitation.load >= self.most:
            return 0.0
        return 1.0 if invitation.joint_papers else self.stranger
