import pandas as pd


def papers_by_authors(run):
    """Papers of the society by their number of authors; `papers` >= 1 (an example)."""
    authors = run.table("authorships").groupby("paper").size()
    counts = authors.value_counts().sort_index()
    return pd.DataFrame({"authors": counts.index, "papers": counts.to_numpy()})
