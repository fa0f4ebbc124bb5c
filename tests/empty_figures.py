"""Empty pictures in the place of figures, for runs whose figures are not what is tested."""

from collections.abc import Callable

EMPTY = '<svg width="1pt" height="1pt" viewBox="0 0 1 1" version="1.1"></svg>'


def empty_figures(savefig: Callable[..., None], drawn: Callable[[], bool]) -> Callable[..., None]:
    """A ``Figure.savefig`` that saves an empty picture, unless ``drawn`` says that figures count.

    Drawing takes most of the time of a page, and every finished run has a page.
    """

    def save(self, target, *arguments, **how):
        if drawn() or how.get("format") != "svg":
            return savefig(self, target, *arguments, **how)
        target.write(EMPTY)

    return save
