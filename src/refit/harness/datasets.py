"""Tasks by the name of their dataset: Harbor's registry says which they are, its cache holds them."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dense.errors import DenseError
from refit.harness.harbor_import import import_harbor

if TYPE_CHECKING:
    from harbor.models.job.config import DatasetConfig


async def resolve_dataset(dataset: str, registry: str | Path | None = None) -> list[tuple[str, Path]]:
    """The tasks of `NAME`, `NAME@VERSION` or `ORG/NAME@REF`, by name, downloaded where Harbor does not have them yet.

    `registry` is another one than Harbor's own: a file, or an address."""
    import_harbor()
    from harbor.tasks.client import TaskClient

    try:
        configs = await _dataset(dataset, registry).get_task_configs()
        ids = [config.get_task_id() for config in configs]
        downloads = await TaskClient().download_tasks(task_ids=ids)
    except Exception as error:  # registries, git and networks fail in ways of their own
        words = " ".join(str(error).split()) or type(error).__name__
        raise DenseError(f"dataset {dataset!r}: {words[:600]}") from None
    names = [task.get_name().rpartition("/")[2] for task in ids]
    tasks = [(name, download.path) for name, download in zip(names, downloads.results, strict=True)]
    if not tasks:
        raise DenseError(f"dataset {dataset!r}: has no tasks")
    return sorted(tasks)


def _dataset(dataset: str, registry: str | Path | None) -> DatasetConfig:
    from harbor.models.job.config import DatasetConfig

    name, _, version = dataset.partition("@")
    is_package, is_address = "/" in name, "://" in str(registry)
    return DatasetConfig(
        name=name,
        version=None if is_package else version or None,
        ref=version or None if is_package else None,
        registry_url=str(registry) if is_address else None,
        registry_path=None if registry is None or is_address else Path(registry),
    )
