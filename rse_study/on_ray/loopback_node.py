"""A command that starts a node on the loopback: `ray start`, which allows only a head there.

`python -m rse_study.on_ray.loopback_node OPTIONS`, in a cluster with `LOOPBACK` in its environment.
"""

from rse_study.on_ray.nodes.private_ray import ray_start_on_loopback

if __name__ == "__main__":
    ray_start_on_loopback()
