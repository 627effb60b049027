"""`python -m migrator` is `migrate`."""

from migrator.cli import main

if __name__ == "__main__":
    main()
