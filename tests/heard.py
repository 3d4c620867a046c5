"""An `ActivityCallback` that remembers what it hears."""


class Heard:
    def __init__(self):
        self.messages, self.activities = [], []

    def message(self, text):
        self.messages.append(text)

    def advanced(self, activity, done, total, detail=""):
        self.activities.append((activity, done, total))

    @property
    def names(self):
        """The activities, each once, in the order of their beginning."""
        return list(dict.fromkeys(name for name, _, _ in self.activities))
