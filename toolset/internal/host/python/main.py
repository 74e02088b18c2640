"""Serves the Python toolsets of one skill to the engine, as an MCP server on standard input and output.

    python -I -B main.py --skill DIR ENTRY...

An ENTRY is "module:Class", such as toolsets.hello:HelloExtended for the class in DIR/toolsets/hello.py.
Needs Python 3.9 and the standard library.
"""

import gc
import os
import sys


def main() -> None:
    if sys.version_info < (3, 9):
        sys.exit("toolsets need Python 3.9 or newer; %s is %s" % (sys.executable, sys.version.split()[0]))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    gc.disable()  # looking for garbage among what is imported takes a twelfth of the start, and finds none
    import agent.config  # loaded now, for toolsets to import when the host's folder is not searched any more
    import agent.tools.toolset
    from toolset_host import serve

    gc.freeze()
    gc.enable()
    sys.path.remove(here)
    serve.run(sys.argv[1:])


if __name__ == "__main__":
    main()
