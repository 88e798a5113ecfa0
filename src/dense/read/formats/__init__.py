"""One module for each format. `dense.read.detect` has the table of them."""
