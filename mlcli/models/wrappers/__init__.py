"""Methods that change what another method learns."""
