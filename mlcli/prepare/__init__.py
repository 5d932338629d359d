"""Steps: what is learned from training rows and changes a table; one file each."""
