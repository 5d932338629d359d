"""Methods that see rows through a kernel function alone: how alike each two of them are."""
