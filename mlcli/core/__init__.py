"""What every other room rests on: parameters, registry, kinds of task, tables, answers and model bases."""
