"""Inference over replicates: intervals, comparisons, effect sizes, shapes, known coverage."""
