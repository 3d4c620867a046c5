"""A callback of a study's run that remembers."""


class Listener:
    """A callback that remembers what happens, in its order; nothing may be lost."""

    def __init__(self):
        self.events, self.started_cells, self.found_cells, self.heard = [], [], [], []

    def cells_found(self, cells):
        self.events.append(("found", len(cells)))
        self.found_cells.extend(cell.identity for cell in cells)

    def started(self, cell):
        self.events.append(("started", cell.number))
        self.started_cells.append((cell.number, cell.seed))

    def progressed(self, cell, t, num_steps, metrics):
        self.events.append(("progressed", cell.number, t, num_steps))

    def ended(self, cell, record):
        self.events.append(("ended", cell.number, record.status))

    def message(self, text):
        self.events.append(("message", text))
        self.heard.append(text)

    def advanced(self, activity, done, total, detail=""):
        self.message(f"{activity}: {done} of {total}")

    def lost(self, cell, reason):
        raise AssertionError(reason)

    def node_lost(self, node, cells):
        raise AssertionError(node)
