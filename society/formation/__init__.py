"""Team formation, that is when teams are founded, who leads them, and who is drawn into them.

Read ``founding`` (rules for dates), ``leaders`` (rules for leaders) and ``selection`` (the base
class of selection policies) first; they see the society through ``world_view``. The draws are in
``sampling``. ``seats`` has the rules by which newcomers, an earlier team and the leader's own group
take seats, and how large past teams were.
"""
