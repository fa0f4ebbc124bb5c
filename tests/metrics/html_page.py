"""A page taken apart: its elements and words, and whether it does nothing."""

import re
from html.parser import HTMLParser

TAGS = """
html head meta title style body header main footer section nav a p h1 h2 h3 strong
dl div dt dd ol li
table caption thead tbody tr th td span figure figcaption svg g path use defs clippath rect text
article details summary pre code circle wbr
"""
ALLOWED = set(TAGS.split())


class Page(HTMLParser):
    """Collect the elements of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.ids = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.words.append(data)

    def text(self):
        return " ".join(" ".join(self.words).split())


def assert_inert(html):
    """No script, no handler, no request, no way out of the page."""
    for tag, attrs in Page(html).elements:
        assert tag in ALLOWED, tag
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action", "formaction", "xlink:href", "srcdoc")
            if name == "href":
                assert value.startswith("#"), (tag, value)
            if name == "style":
                assert "url(" not in value.replace("url(#", ""), value
    styles = "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
