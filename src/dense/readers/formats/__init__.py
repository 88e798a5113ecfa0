"""One module for each format. `dense.readers.detect` has the table of them."""
