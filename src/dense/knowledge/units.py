"""Units of limits, words for measures, and signs of limits that must be reached."""

from __future__ import annotations

FLOORS = (
    *("least", "more than", "greater", "larger", "longer", "higher", "above", "over", "minimum", "exceed"),
    *(">", "≥", "≧", "⩾"),
)
"""Signs of limits that must be reached; a denial before them turns them round: `no more than`."""
SCALES = {
    **dict.fromkeys(("", "b", "byte", "bytes"), 1.0),
    **dict.fromkeys(("k", "kb", "kilobytes"), 1e3),
    **dict.fromkeys(("m", "mb", "megabytes"), 1e6),
    **dict.fromkeys(("g", "gb", "gigabytes"), 1e9),
}
SECONDS = {
    **dict.fromkeys(("ms", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
}
METRICS = frozenset(
    """accuracy precision recall f1 rate wins win reward score error mse rmse mae loss similarity ssim coverage speedup
    ratio difference diff correlation r2 auc bleu psnr perplexity""".split()
)
