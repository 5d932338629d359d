"""mlcli: which method works on my data, by how much, and can I trust the number?"""

__version__ = "0.1.0"
