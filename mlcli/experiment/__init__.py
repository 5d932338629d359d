"""Experiments: what is asked for, what is run, what is kept of it, and models in files.

spec    from a file or a shell to an ``Experiment`` and its cells
run     from cells to answers: here, on several processes, or in children that can be killed
store   answers that are not run again
saved   models in files: written, read, and used to predict other data
"""
