"""Discriminants: each class is a normal distribution, and a row belongs to the class that explains it best."""
