"""Networks of layers: activations, outputs with their loss, backpropagation, optimisers, training."""
