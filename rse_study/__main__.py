"""`python -m rse_study` is `rse-study`.

For nodes that have the code, and no script of it.
"""

from rse_study.cli import main

if __name__ == "__main__":
    main()
