"""What a page of HTML holds: its tags, and its text outside scripts and styles."""

import re
from html.parser import HTMLParser


class Outline(HTMLParser):
    """Tags with their attributes, and the text on one line."""

    def __init__(self, html):
        super().__init__()
        self.tags, self._parts, self._silent = [], [], False
        self.feed(html)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self._parts))

    @property
    def figures(self):
        return [attrs["id"] for tag, attrs in self.tags if attrs.get("class") == "plot"]

    @property
    def anchors(self):
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        if not self._silent:
            self._parts.append(data)
