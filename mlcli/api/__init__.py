"""mlcli from Python and notebooks: the work of the commands, with data frames in and out."""
