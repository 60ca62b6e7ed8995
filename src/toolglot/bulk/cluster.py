"""Runs chunks on a Ray cluster, with Ray Data. Each node reads the input itself, so its path must be the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolglot.bulk.chunks import Chunk
from toolglot.bulk.job import Done, Job, run_chunk
from toolglot.errors import CallerError, JobFailedError
from toolglot.io.json_codec import preview

_TASK_CHUNKS = 4  # a task of Ray takes some milliseconds to start
LOCAL = "local"  # starts a cluster on this machine for the run


class Cluster:
    """A connection to the cluster at `address`."""

    def __init__(self, address: str, workers: int | None) -> None:
        try:
            import ray.data  # noqa: PLC0415
        except ImportError:
            raise CallerError('--ray needs Ray: pip install "toolglot[ray]"') from None
        self._ray = ray
        self._limit = workers
        cores = workers if address == LOCAL else None
        ray.init(address, num_cpus=cores, include_dashboard=False if address == LOCAL else None, log_to_driver=False)
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def run(self, job: Job, chunks: Iterable[Chunk]) -> Iterator[Done]:
        """Results come in the order of the chunks."""
        import pyarrow as pa  # noqa: PLC0415

        def run_batch(batch: Any) -> Any:
            done = [msgspec.msgpack.encode(run_chunk(job, Chunk(**values))) for values in batch.to_pylist()]
            return pa.table({"done": pa.array(done, pa.large_binary())})

        items = [msgspec.structs.asdict(chunk) for chunk in chunks]
        if not items:
            return
        context = self._ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        dataset = self._ray.data.from_items(items, override_num_blocks=-(-len(items) // _TASK_CHUNKS))
        found = dataset.map_batches(run_batch, batch_size=None, batch_format="pyarrow", concurrency=self._limit)
        try:
            for batch in found.iter_batches(batch_size=None, batch_format="pyarrow"):
                for value in batch.column("done"):
                    yield msgspec.msgpack.decode(value.as_buffer(), type=Done)
        except self._ray.exceptions.RayError as error:
            raise JobFailedError(f"Ray: {preview(str(error).strip(), 1000)}") from None

    def close(self) -> None:
        self._ray.shutdown()
