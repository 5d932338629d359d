"""Methods that add one small tree after another, each to what the ones before leave wrong."""
