"""``python -m mlcli``."""

import os
import sys

if sys.path[0] in ("", os.getcwd()):  # as under mlcli itself, no file of the working folder is imported
    del sys.path[0]

from mlcli.cli.main import main

main()
