"""Pictures: findings drawn with characters, or with matplotlib."""
