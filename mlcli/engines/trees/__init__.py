"""Decision trees: growing them on binned columns, their structure, and how they are explained."""
