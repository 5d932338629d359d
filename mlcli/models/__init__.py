"""Methods, one file each, in folders by family."""
