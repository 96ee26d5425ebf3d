"""`python -m onechange`."""

from onechange.cli import main

if __name__ == "__main__":
    main()
