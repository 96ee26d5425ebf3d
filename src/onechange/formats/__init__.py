"""One module per foreign result format, each with `sniff` and `read`."""
