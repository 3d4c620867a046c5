"""What a study asks an autoscaler for: placement groups that wait as cells would.

They are not detached: they end with the driver, also where it is killed. A request of
`ray.autoscaler.sdk` would stand for ever, and keep nodes that nobody uses.
"""

from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group

from rse_study.on_ray.capacity import share_of
from rse_study.on_ray.reservation import labels_of_bundles
from rse_study.study.definition.config import Resources

MAX_GROUPS = 200


class Demand:
    """Asks for room for more cells than fit now."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._groups: list[PlacementGroup] = []

    def ask(self, num_cells: int) -> None:
        """Ask for room for so many cells, instead of what was asked for before."""
        wanted, resources = min(num_cells, MAX_GROUPS), self._resources
        while len(self._groups) > max(wanted, 0):
            remove_placement_group(self._groups.pop())
        for _ in range(wanted - len(self._groups)):
            bundles = [share_of(resources)] * resources.workers
            labels = labels_of_bundles(resources, resources.workers)
            self._groups.append(placement_group(bundles, strategy="PACK", **labels))
