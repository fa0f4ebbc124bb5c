"""HypoGen, with analyst, engineer, scientist and critic in rounds over retrieved literature."""
