"""Zollman's model and that of Weisberg and Muldoon, written a second time, in numpy alone.

Nothing of the source is called. Many replicates are simulated at once, as arrays.
"""

import numpy as np

# Zollman 2010: Beta beliefs about two methods, priors uniform in (0, 4), all at once in a period.


def adjacency(network, size):
    """Who hears whom, oneself included, as a matrix of 0 and 1."""
    hears = np.eye(size)
    ring = np.arange(size if network != "wheel" else size - 1) + (network == "wheel")
    hears[ring, np.roll(ring, 1)] = hears[np.roll(ring, 1), ring] = 1
    if network == "wheel":
        hears[0, :] = hears[:, 0] = 1
    return np.ones((size, size)) if network == "complete" else hears


def bandits(network, size, edge, trials, periods, replicates, seed):
    """Of each replicate: whether all use the better method at the end, and since which period."""
    rng, hears = np.random.default_rng(seed), adjacency(network, size)
    beta = rng.uniform(0, 4, (replicates, size, 2, 2))
    since, before = np.zeros(replicates), np.full(replicates, -1.0)
    for period in range(periods):
        expected = beta[..., 0] / beta.sum(axis=-1)
        better = expected[..., 1] > expected[..., 0]
        all_better = better.all(axis=1).astype(float)
        since[all_better != before] = period
        before = all_better
        successes = rng.binomial(trials, np.where(better, 0.5 + edge, 0.5))
        for method, used in enumerate((~better, better)):
            beta[:, :, method, 0] += (successes * used) @ hears
            beta[:, :, method, 1] += ((trials - successes) * used) @ hears
    return before == 1, since


# Weisberg and Muldoon 2009, as in the program of the paper but for headings: a torus of 101 x 101.

DX = np.array([-1, -1, 0, 1, 1, 1, 0, -1])
DY = np.array([0, 1, 1, 1, 0, -1, -1, -1])


def hills():
    """Significance in thousandths; coordinates run from -50 to 50, peaks are at 25 and -5."""
    x, y = np.mgrid[-50:51, -50:51]

    def quadratic(u, a, b, c):
        return a * (x - u) ** 2 + b * (x - u) * (y - u) + c * (y - u) ** 2

    first = 0.75 * np.exp(-quadratic(25, 0.02, 0.01, 0.02))
    second = 0.70 * np.exp(-quadratic(-5, 0.01, 0.01, 0.01))
    return np.floor(1000 * (first + second)).astype(int)


def searches(strategy, people, periods, replicates, seed):
    """Epistemic progress of each replicate after so many periods, and whether both peaks are found.

    In a period all patches where somebody stands are marked, then all move.
    """
    rng, height = np.random.default_rng(seed), hills()
    low = np.argwhere(height < 10)
    at = low[rng.integers(len(low), size=(replicates, people))]
    x, y = at[..., 0], at[..., 1]
    heading, previous = rng.integers(8, size=x.shape), np.zeros(x.shape, int)
    visited = np.zeros((replicates, 101, 101), bool)
    run = np.arange(replicates)[:, None]
    for _ in range(periods):
        visited[run, x, y] = True
        here = height[x, y]
        near_x, near_y = (x[..., None] + DX) % 101, (y[..., None] + DY) % 101
        near, known = height[near_x, near_y], visited[run[..., None], near_x, near_y]
        chance = rng.random(near.shape)
        # Heights are whole numbers: a random number below 1 breaks ties.
        best = np.where(known, near + chance, -1)
        fresh = np.where(known, -1, chance)
        to_best, to_fresh = best.argmax(axis=-1), fresh.argmax(axis=-1)
        any_fresh, top = ~known.all(axis=-1), np.floor(best.max(axis=-1))
        turned, stays = rng.integers(8, size=x.shape), np.zeros(x.shape, bool)
        backwards = here < previous
        if strategy == "control":
            restless = rng.random(x.shape) < 0.02
            step = np.where(here > previous, heading, turned)
            stays = (here == previous) & ~restless
        elif strategy == "maverick":
            ahead = np.take_along_axis(known, heading[..., None], axis=-1)[..., 0]
            onward = np.where(ahead, to_fresh, heading)
            step = np.where(any_fresh, onward, to_best)
            stays = ~any_fresh & (top < here)
        else:
            follows = top >= here if strategy == "published_follower" else top > here
            step = np.where(follows, to_best, to_fresh)
            stays = ~follows & ~any_fresh
            backwards = np.zeros(x.shape, bool)
        step = np.where(backwards, (heading + 4) % 8, step)
        moves = backwards | ~stays
        previous = np.where(moves & ~backwards, here, previous)
        x = np.where(moves, (x + DX[step]) % 101, x)
        y = np.where(moves, (y + DY[step]) % 101, y)
        heading = np.where(backwards, turned, np.where(moves, step, heading))
    visited[run, x, y] = True
    progress = (visited & (height > 0)).sum(axis=(1, 2)) / (height > 0).sum()
    return progress, visited[:, 75, 75] & visited[:, 45, 45]
