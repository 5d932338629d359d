"""Renderers: each turns a document into text of one format."""
