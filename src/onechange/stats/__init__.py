"""Statistics on plain arrays: no files, no frames, no question ids, no printing."""
