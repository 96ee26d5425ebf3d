"""Reports: one comparison or decision, rendered for the reader at hand."""
