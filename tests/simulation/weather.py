"""Faults that no process brings about itself: what dies, leaves or joins, and when."""

from tests.simulation.ray_cluster import Cluster
from tests.simulation.scheduler import Process
from tests.simulation.world import World


def weather(world: World) -> None:
    """Let things happen that no process does itself."""
    scheduler, fates, draw = world.scheduler, world.fates, world.scheduler.draw
    while True:
        scheduler.pause(draw.expovariate(1 / 60))
        drivers = [
            one for one in scheduler.pids.values() if one.name.startswith("driver") and not one.is_dead
        ]
        if not drivers:
            continue
        one = draw.choice(drivers)
        cluster = world.clusters.get(id(one))
        happening = draw.choice(["node", "join", "ray", "coordinator", "interrupt", "worker", "kill"])
        if not fates.strike(0.15):
            continue
        scheduler.say(f"{happening} at {one.name}")
        if happening == "interrupt":
            one.num_interrupts += 1
            if one.num_interrupts == 1:
                one.interrupt()
        elif happening == "kill":
            scheduler.kill(one)
        elif cluster is None or cluster.lost_reason:
            fates.left += 1
        else:
            _strike_cluster(world, cluster, happening, one)


def _strike_cluster(world: World, cluster: Cluster, happening: str, driver: Process) -> None:
    draw = world.scheduler.draw
    if happening == "ray":
        cluster.fail("its head process (GCS) ended")
    elif happening == "coordinator" and cluster.actors:
        actor = draw.choice(list(cluster.actors.values()))
        # A driver that stands still learns of no worker: one that then hangs is known to nobody (see the docs).
        if actor.instance is not None and driver.stopped_until <= world.scheduler.now:
            actor.die()
            world.scheduler.pause(world.fates.seconds(20))
            actor.revive()
    elif happening == "worker" and cluster.nodes:
        alive = [one for node in cluster.nodes.values() for one in node.workers if not one.process.is_dead]
        if alive:
            cluster.lose(draw.choice(alive), is_cut_off=draw.random() < 0.3)
    elif not cluster.is_own and happening == "node" and cluster.nodes:
        cluster.leave(draw.choice(list(cluster.nodes)))
        world.scheduler.task(world.scheduler.current.process, lambda: _bring_node(world, cluster))
    elif not cluster.is_own and happening == "join":
        cluster.join(draw.choice([1, 2]))


def _bring_node(world: World, cluster: Cluster) -> None:
    world.scheduler.pause(world.fates.seconds(120))
    cluster.join(2)
