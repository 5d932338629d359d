"""The shell: one file per verb; it parses, calls and renders, and holds no logic."""
