"""What peers are given to run."""
