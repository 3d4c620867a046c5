"""The command `python -m benchmarks.own_base`."""

from benchmarks.own_base.command import main

if __name__ == "__main__":
    main()
