"""The version of this package; the distribution `dense-feedback` takes it from here."""

__version__ = "0.1.0"
