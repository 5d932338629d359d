"""The metrics themselves: every decorated function in these files is one."""
