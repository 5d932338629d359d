"""From a file or a shell to an Experiment and its cells."""
