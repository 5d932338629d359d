"""mlcli from Python and notebooks: what the verbs of the shell do, with data frames in and out."""
