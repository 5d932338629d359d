"""Methods that ask one question of a row after another."""
