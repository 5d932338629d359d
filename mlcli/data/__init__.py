"""From a CSV file and its sidecar to a dataset."""
