"""Methods that find rules between the items of rows."""
