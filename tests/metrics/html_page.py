"""A page taken apart: its elements and words, and whether it does nothing."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import virsci_society.metrics.report

TAGS = """
html head meta title style script body header main footer section nav a p h1 h2 h3 strong
dl div dt dd ol li
table caption thead tbody tr th td span figure figcaption svg g path use defs clippath rect text
article details summary pre code circle wbr
"""
ALLOWED = set(TAGS.split())


SCRIPT = (Path(virsci_society.metrics.report.__file__).parent / "page.js").read_text(
    encoding="utf-8"
)


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
    """No script but our own, no handler, no request, no way out of the page."""
    assert_only_own_script(html)
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


def assert_only_own_script(html):
    """At most one script, and that is the file beside the templates, allowed by its hash."""
    if "<script" not in html:
        return
    assert html.count("<script") == 1
    assert html.count("<script>" + SCRIPT + "</script>") == 1
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policies = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert [f"script-src 'sha256-{digest}';" in policy for policy in policies] == [True]
