"""`python -m memoir`, and the `memoir` command that pip installs: hands over to the program."""

import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    # Inside a wheel the tree is _tree; in an installed tree this file is lib/memoir/python/memoir/__main__.py.
    for tree in (os.path.join(here, "_tree"), os.path.join(here, *[os.pardir] * 4)):
        program = os.path.join(tree, "bin", "memoir")
        if os.path.exists(program):
            os.execv(program, ["memoir", *sys.argv[1:]])
    sys.exit(f"memoir: no bin/memoir beside {here}; install Memoir again")


if __name__ == "__main__":
    main()
