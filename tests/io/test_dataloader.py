"""DataLoader: batches, with and without workers."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.io import DataLoader, Dataset, IterableDataset, get_worker_info

HAS_FORK = "fork" in multiprocessing.get_all_start_methods()
needs_fork = pytest.mark.skipif(not HAS_FORK, reason="a test's classes can't be spawned")


class Of(Dataset):
    """Sample i is f(i)."""

    def __init__(self, f, length=10):
        self.f, self.length = f, length

    def __getitem__(self, index):
        return self.f(index)

    def __len__(self):
        return self.length


class Count(IterableDataset):
    """0, 1, ..., 6, shared among the workers."""

    def __iter__(self):
        info = get_worker_info()
        for number in range(7):
            if info is None or number % info.num_workers == info.id:
                yield np.array([number])


def text(batch):
    """The batch's structure: Tensors as dtype and shape."""
    if isinstance(batch, paddle.Tensor):
        return f"{batch.dtype.name}{list(batch.shape)}"
    if isinstance(batch, dict):
        return {key: text(value) for key, value in batch.items()}
    if isinstance(batch, list):
        return [text(value) for value in batch]
    return batch


def workers_left():
    return [p for p in multiprocessing.active_children() if p.name.startswith("DataLoader")]


SAMPLES = {
    "array": (lambda i: np.ones(3, "float32"), "float32[2, 3]", "float32[3]"),
    "numpy number": (lambda i: np.float32(i), "float32[2]", "float32[]"),
    "int": (lambda i: i, "int64[2]", 0),
    "float": (lambda i: 1.5, "float64[2]", 1.5),
    "bool": (lambda i: True, "bool[2]", True),
    "fields": (lambda i: (np.ones(2), i), ["float64[2, 2]", "int64[2]"], ["float64[2]", 0]),
    "one field": (lambda i: (np.ones(2),), ["float64[2, 2]"], ["float64[2]"]),
    "text": (lambda i: ("x", np.ones(1)), [["x", "x"], "float64[2, 1]"], ["x", "float64[1]"]),
    "dict": (lambda i: {"a": [i, 2.0]}, {"a": ["int64[2]", "float64[2]"]}, {"a": [0, 2.0]}),
    "Tensor": (lambda i: (paddle.ones([2]), 1), ["float32[2, 2]", "int64[2]"], ["float32[2]", 1]),
}


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=needs_fork)])
def test_structure_of_a_batch_is_paddles(workers):
    """What real Paddle gives: fields in lists, numbers of a lone sample as they are."""
    for name, (f, batched, alone) in SAMPLES.items():
        for batch_size, wanted in ((2, batched), (None, alone)):
            loader = DataLoader(Of(f, 2), batch_size=batch_size, num_workers=workers)
            assert text(next(iter(loader))) == wanted, name
    assert not workers_left()


def test_batches():
    data = Of(lambda i: i)
    for loader, wanted in (
        (DataLoader(data, batch_size=4), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (DataLoader(data, batch_size=4, drop_last=True), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (DataLoader(data, batch_sampler=[[5], [3, 1]]), [[5], [3, 1]]),
    ):
        assert [batch.tolist() for batch in loader] == wanted
        assert [batch.tolist() for batch in loader()] == wanted
        assert len(loader) == len(wanted)
    assert list(DataLoader(data, batch_size=None)) == list(range(10))
    assert list(DataLoader(Of(lambda i: i, 0))) == []
    doubled = DataLoader(data, batch_size=5, collate_fn=lambda samples: np.array(samples) * 2)
    assert [batch.sum().item() for batch in doubled] == [20, 70]


@needs_fork
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_same_epoch(workers):
    """The order, and what is random in the samples."""

    def sample(index):
        return index, random.random(), np.random.rand(), paddle.rand([])

    def epochs(number):
        paddle.seed(7)
        loader = DataLoader(Of(sample), batch_size=3, shuffle=True, num_workers=number)
        return [[np.concatenate(batch).tolist() for batch in loader] for _ in range(2)]

    found = epochs(workers)
    assert found == epochs(2)
    assert found[0] != found[1]

    def order(number):
        paddle.seed(7)
        loader = DataLoader(Of(lambda i: i), shuffle=True, num_workers=number)
        return [batch.item() for _ in range(2) for batch in loader]

    assert order(workers) == order(0)


@needs_fork
def test_iterable_dataset():
    def numbers(workers, drop_last=False):
        loader = DataLoader(Count(), batch_size=2, num_workers=workers, drop_last=drop_last)
        return [batch.reshape([-1]).tolist() for batch in loader]

    # as real Paddle gives them
    assert numbers(0) == [[0, 1], [2, 3], [4, 5], [6]]
    assert numbers(0, True) == [[0, 1], [2, 3], [4, 5]]
    assert numbers(2) == [[0, 2], [1, 3], [4, 6], [5]]
    assert numbers(2, True) == [[0, 2], [1, 3], [4, 6]]
    assert numbers(3) == [[0, 3], [1, 4], [2, 5], [6]]
    assert [x.item() for x in DataLoader(Count(), batch_size=None, num_workers=2)] == [*range(7)]
    with pytest.raises(ValueError, match="length of an IterableDataset is not known"):
        len(DataLoader(Count()))


@needs_fork
def test_worker_info_and_init_fn():
    def start(worker_id):
        os.environ["STARTED"] = str(worker_id)

    def sample(index):
        info = get_worker_info()
        return info.id, info.num_workers, int(os.environ["STARTED"]), len(info.dataset), os.getpid()

    loader = DataLoader(Of(sample, 4), num_workers=2, worker_init_fn=start)
    rows = [[int(field.item()) for field in batch] for batch in loader]
    assert [row[:4] for row in rows] == [[0, 2, 0, 4], [1, 2, 1, 4]] * 2
    assert len({row[4] for row in rows} | {os.getpid()}) == 3
    assert get_worker_info() is None and not workers_left()


@needs_fork
def test_big_batches_and_long_requests():
    """Neither fits into a pipe."""
    big = DataLoader(Of(lambda i: np.full(300_000, i)), batch_size=2, num_workers=2)
    assert [batch.numpy()[:, -1].tolist() for batch in big] == [[i, i + 1] for i in range(0, 10, 2)]
    data = Of(lambda i: np.full(10, i), 60_000)
    loader = DataLoader(data, batch_size=20_000, num_workers=1, prefetch_factor=4)
    assert [batch.numpy()[0, 0] for batch in loader] == [0, 20_000, 40_000]


@needs_fork
def test_early_stop_leaves_no_process():
    loader = DataLoader(Of(lambda i: np.ones(500_000), 100), num_workers=2)
    for _ in loader:
        break
    assert not workers_left()
    iterator = iter(loader)
    next(iterator)
    assert len(workers_left()) == 2
    del iterator
    assert not workers_left()


@needs_fork
def test_persistent_workers():
    loader = DataLoader(
        Of(lambda i: (i, os.getpid()), 6), num_workers=2, shuffle=True, persistent_workers=True
    )
    for _ in loader:
        break  # what is left of this epoch doesn't get into the next one
    epochs = [[[f.item() for f in batch] for batch in loader] for _ in range(2)]
    assert all(sorted(index for index, _ in epoch) == list(range(6)) for epoch in epochs)
    assert len({pid for epoch in epochs for _, pid in epoch}) == 2
    first = iter(loader)
    next(first)
    list(loader)
    with pytest.raises(RuntimeError, match="one iteration at a time"):
        next(first)
    del loader, first
    assert not workers_left()


class TwoArguments(Exception):
    """Can't be pickled, also where a library (tblib, which Dask loads) helps exceptions with it."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")
        self.callback = lambda: None


@needs_fork
def test_errors_come_with_the_workers_traceback():
    def fails(error):
        def sample(index):
            if index == 3:
                raise error
            return index

        return DataLoader(Of(sample), num_workers=2)

    got = []
    with pytest.raises(KeyError, match="boom") as caught:
        for batch in fails(KeyError("boom")):
            got.append(batch.item())
    assert got == [0, 1, 2]  # in order, up to the mistake
    note = caught.value.__notes__[0]
    assert note.startswith("raised in DataLoader worker 1:") and "raise error" in note
    with pytest.raises(RuntimeError, match="TwoArguments: a and b"):
        list(fails(TwoArguments("a", "b")))
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(fails(StopIteration()))
    with pytest.raises(ValueError, match="at the start"):
        list(DataLoader(Of(lambda i: i), num_workers=1, worker_init_fn=_fail))
    with pytest.raises((AttributeError, TypeError, RuntimeError), match="lambda|pickle"):
        list(DataLoader(Of(lambda i: i), num_workers=1, collate_fn=lambda b: {"f": lambda: 1}))
    assert not workers_left()


def _fail(worker_id):
    raise ValueError("at the start")


@needs_fork
def test_dead_and_slow_workers():
    def dies(index):
        if index == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return index

    with pytest.raises(RuntimeError, match=r"worker 0, but its process has ended \(signal 9\)"):
        list(DataLoader(Of(dies), num_workers=2))
    with pytest.raises(RuntimeError, match=r"exit code 3"):
        list(DataLoader(Of(lambda i: os._exit(3)), num_workers=1))
    with pytest.raises(RuntimeError, match="expected a batch within 0.2 s, but worker 0"):
        list(DataLoader(Of(lambda i: time.sleep(3600)), num_workers=1, timeout=0.2))
    assert not workers_left()


SCRIPT = """
import multiprocessing
import os
import numpy as np
import minipaddle as paddle

class Rows(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.full(3, index), index

    def __len__(self):
        return 8

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    loader = paddle.io.DataLoader(Rows(), batch_size=3, num_workers=2)
    print([y.tolist() for x, y in loader])
    iterator = iter(loader)
    next(iterator)
    print("end")  # with workers at work
"""


def test_spawned_workers_and_no_hang_at_exit(tmp_path):
    """As on Windows and macOS."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=os.getcwd(),
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[[0, 1, 2], [3, 4, 5], [6, 7]]\nend\n", "")


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = (
        "import minipaddle as p, numpy as np, time, multiprocessing as m\n"
        "class D(p.io.Dataset):\n"
        "    def __getitem__(self, i): return np.ones(300000)\n"
        "    def __len__(self): return 99\n"
        "if __name__ == '__main__':\n"
        "    i = iter(p.io.DataLoader(D(), num_workers=3)); next(i)\n"
        "    print(*[c.pid for c in m.active_children()], flush=True); time.sleep(3600)\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script)
    with subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 3
        parent.kill()
    end = time.monotonic() + 600
    while any(_is_running(pid) for pid in pids):
        assert time.monotonic() < end, "workers are still there"
        time.sleep(0.05)


def _is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        if not os.path.exists("/proc"):
            pytest.skip("no /proc here")
        return False


def test_feed_for_a_program():
    paddle.enable_static()
    try:
        loader = DataLoader(
            Of(lambda i: (np.ones(2), i), 2), feed_list=["x", "y"], return_list=False
        )
        (feed,) = next(iter(loader))
        assert list(feed) == ["x", "y"]
        with pytest.raises(ValueError, match="expected feed_list"):
            DataLoader(Of(lambda i: i), return_list=False)
    finally:
        paddle.disable_static()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size of at least 1, but got 0"),
        ({"batch_size": 2.5}, "batch_size of at least 1, but got 2.5"),
        ({"num_workers": -1}, "num_workers of at least 0"),
        ({"prefetch_factor": 0}, "prefetch_factor of at least 1"),
        ({"timeout": -1}, "timeout of at least 0"),
        ({"batch_sampler": [[0]], "shuffle": True}, "expected only batch_sampler"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(Of(lambda i: i), **arguments)


def test_wrong_samples():
    with pytest.raises(ValueError, match="no shuffle and no batch_sampler with an Iterable"):
        DataLoader(Count(), shuffle=True)
    for f, kind, message in (
        (lambda i: np.ones(i + 1), ValueError, r"one shape, but got \[1\] and \[2\]"),
        (lambda i: [0] * (i + 1), RuntimeError, r"equally many fields, but got \[1, 2\]"),
        (lambda i: None, TypeError, "but got NoneType"),
    ):
        with pytest.raises(kind, match=message):
            list(DataLoader(Of(f), batch_size=2))
