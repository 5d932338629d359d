"""``python -m mlcli``."""

from mlcli.cli.main import main

main()
