from society_extension.alone import Essay


def write_essay(asked):
    topic = asked.slots["topic"]
    nearest = asked.nearest(topic) or "what is known"
    return {"title": f"On {topic}", "abstract": f"We look at {topic} from {nearest}."}


OFFLINE_RULES = {Essay: write_essay}
