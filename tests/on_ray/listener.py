"""A callback of a study's run that remembers."""


class Listener:
    """A callback that remembers which cells started, and the messages."""

    def __init__(self):
        self.started_cells, self.found_cells, self.heard = [], [], []

    def cells_found(self, cells):
        self.found_cells.extend(cell.identity for cell in cells)

    def started(self, cell):
        self.started_cells.append((cell.number, cell.seed))

    def message(self, text):
        self.heard.append(text)

    def advanced(self, activity, done, total, detail=""):
        self.heard.append(f"{activity}: {done} of {total}")

    def progressed(self, cell, t, num_steps, metrics): ...

    def ended(self, cell, record): ...

    def lost(self, cell, reason):
        raise AssertionError(reason)

    def node_lost(self, node, cells):
        raise AssertionError(node)
