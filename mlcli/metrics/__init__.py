"""Pure functions of answers: scores, intervals and tests of difference."""
