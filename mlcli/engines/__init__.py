"""What several methods compute with, named by what it computes; engines know no methods."""
