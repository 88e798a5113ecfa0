"""One module or package for each format; `dense.readers.detect` has the table of them.

In: JSON records with their locations. Out: streams of steps. The docstring of each module is its section in
docs/formats.md. A format never imports another one, nor the file layer's internals."""
