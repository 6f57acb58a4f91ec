"""What a DataLoader is made of.

    batch_sampler     which samples make one batch
    collate           many samples become one batch
    dataloader_iter   one pass over a dataset with workers
    dataset           where samples come from, by number or one after the other
    fetcher           gets the samples of one batch and collates them
    sampler           in which order the samples of a dataset are taken
    worker            a process that makes batches for a DataLoader

Paddle: python/paddle/io/dataloader/.
"""
