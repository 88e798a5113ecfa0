"""What lies in folders: Harbor trials, files that are one trace together, what a walk leaves out, programs' stores.

In: a folder. Out: files and record folders for the readers. Opens no file that holds grades; never imports a format."""
