"""The command `python -m benchmarks.search_arms`."""

from benchmarks.search_arms.command import main

if __name__ == "__main__":
    main()
