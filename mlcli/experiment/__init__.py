"""Experiments: what is asked for, how rows are split, what is run, and what is kept of it.

Asking: from a file or a shell to an ``Experiment``
    cells           the words: specs of what is asked, the cell, and what came of it
    spec            an experiment file, with every problem of it at once
    _shapes         its keys and their types, complained of in plain words
    written         a value with its line and column
    entries, entry  models, steps and protocols by id, checked against what each declares
    model_text      models as they are typed in a shell
    json_schema     the same shape for editors
    first           a first experiment file for a dataset

Planning: from an ``Experiment`` to its cells
    plan            every dataset with every model, all defaults resolved
    _grounds        the datasets, each with its kind of task and a protocol that can split it
    _metrics        whether the metrics can judge them
    _skipping       why a model cannot be run on a dataset
    labels          what models are called where two would have one name
    _faults         errors kept until all has been looked at

Running: from cells to answers
    runner          many cells: here, in a pool, or in children that can be killed
    ledger          all cells of a batch: what is stored, what is waiting, how far it is
    course          one cell on its way
    preparation     its rows and splits, shared with cells that meet the same ones; blocks of splits
    learner         what learns in a split, seeded by content
    engine          one block: learn, ask, note what went wrong
    at_once         all splits of a cell together, where the method has a shortcut
    split_results   what splits gave, one by one or together
    hearing         what is warned of meanwhile
    parcel          what a worker sends back
    pace            how long work may take, from what is done
    pool            worker processes
    copies          those that begin as copies of this one
    newcomers       those that joblib starts anew
    supervise       child processes with a budget, or under suspicion
    protocols/      the ways to split, one file each

Keeping: answers that are not run again
    versions        the key of a cell: all that its result depends on
    _sources        what sources do, parsed once
    payload         answers as bytes
    store           cells, blocks and endings in SQLite
    run_log         runs, shown again as they were
    facts           cells and datasets as JSON
    _database       the file: opened, locked, its troubles in words
    _tables         its tables

Saved models: a model in a file
    saved_model     a pipeline with what is needed to ask it again
    model_file      written and read without running code
    _rehearsal      whether what was read is of one piece
    alignment       the columns of other data as the model knows them
    fingerprints    by which it knows again the rows that it learned from
"""
