"""From cells to answers: here, in a pool, or in children that can be killed."""
