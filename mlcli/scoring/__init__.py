"""What stored answers come to in numbers: cells with their scores, differences, curves, importances, gates."""
