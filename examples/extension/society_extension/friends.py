from virsci_society import Acceptance


class Friends(Acceptance):
    """Former co-authors accept while they are in few teams; strangers seldom do."""

    stranger: float = 0.2
    most: int = 3

    def probability(self, invitation):
        if invitation.load >= self.most:
            return 0.0
        return 1.0 if invitation.joint_papers else self.stranger
