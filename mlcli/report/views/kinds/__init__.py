"""Views of answers, a file for each kind of task."""
