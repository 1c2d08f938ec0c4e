"""A program that starts another one."""

import subprocess
import sys


def depth(levels):
    if levels == 0:
        return "child"
    return depth(levels - 1)  # stop: depth


if len(sys.argv) > 1:
    numbers = list(range(90))
    print(depth(60), len(numbers))
else:
    sys.exit(subprocess.call([sys.executable, __file__, "child"]))
