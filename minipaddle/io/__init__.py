"""io: datasets, and batches out of them.

    dataloader/   what a DataLoader is made of
    reader        batches out of a dataset

Paddle: python/paddle/io/.
"""

from minipaddle.io.dataloader.batch_sampler import BatchSampler, DistributedBatchSampler
from minipaddle.io.dataloader.dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from minipaddle.io.dataloader.sampler import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from minipaddle.io.dataloader.worker import WorkerInfo, get_worker_info
from minipaddle.io.reader import DataLoader

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedBatchSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "get_worker_info",
    "random_split",
]
