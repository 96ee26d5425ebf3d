"""Per-question scores computed from recorded traces."""
