"""Entry point `python -m rse_study`, for nodes without the script `rse-study`."""

from rse_study.cli import main

if __name__ == "__main__":
    main()
