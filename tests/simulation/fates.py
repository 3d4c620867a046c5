"""What may happen in a schedule, drawn from its seed: deaths, hangs and stalls."""

from dataclasses import dataclass
from math import inf

from tests.simulation.scheduler import Killed, Scheduler


@dataclass
class Fates:
    """What may happen in a schedule, and how often; nothing does once `left` is 0."""

    scheduler: Scheduler
    left: int
    driver_dies: float = 0.0
    worker_dies: float = 0.0
    worker_hangs: float = 0.0
    stalls: float = 0.0
    yields: float = 0.0

    def chance(self, share: float) -> bool:
        return self.left > 0 and self.scheduler.draw.random() < share

    def seconds(self, typical: float) -> float:
        """Draw a duration: mostly short, now and then twenty times as long."""
        long = 20.0 if self.scheduler.draw.random() < 0.03 and self.left else 1.0
        return self.scheduler.draw.expovariate(1 / typical) * long

    def strike(self, share: float) -> bool:
        """Whether a fault happens now; each is counted."""
        if self.chance(share):
            self.left -= 1
            return True
        return False

    def moment(self, what: str) -> None:
        """Let something happen to the process that is about to write, or to report."""
        scheduler = self.scheduler
        if scheduler.current is None:
            return
        scheduler.live()
        process = scheduler.current.process
        scheduler.say(what)
        is_driver = process.name.startswith("driver")
        if self.strike(self.driver_dies if is_driver else self.worker_dies):
            scheduler.kill(process)
            raise Killed
        is_task = process.name == "worker-task"  # nobody watches the silence of those that only score
        if not is_driver and not is_task and self.strike(self.worker_hangs):
            scheduler.say("hangs")
            process.stopped_until = inf
            scheduler.pause(0)
        elif self.strike(self.stalls):
            process.stopped_until = scheduler.now + self.seconds(100)
            scheduler.say(f"stands still until {process.stopped_until:.0f}")
            scheduler.pause(0)
        elif self.chance(self.yields):
            scheduler.pause(self.seconds(0.3))
