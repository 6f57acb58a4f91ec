"""Kernels: the functions that compute, and how the right one is found.

The rules: a key with "ALL" fits everything; of the keys that fit, the one that says most is taken,
and the backend says more than the dtype. If none fits, the call is an error: nothing falls back to
another device or dtype in silence. (Real Paddle copies the inputs to the CPU and the results back
where a GPU kernel is missing, unless FLAGS_enable_api_kernel_fallback is off.)

Paddle: paddle/phi/core/kernel_factory.h (KernelKey, KernelFactory).
Left out: layouts other than the one layout; data transforms between kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minipaddle.common.dtype import DataType


class KernelKey(NamedTuple):
    """For which backend, layout and dtype a kernel was written. "ALL" fits each."""

    backend: str = "ALL"
    layout: str = "ALL_LAYOUT"
    dtype: str = "ALL"

    def fits(self, backend: str, dtype: str) -> bool:
        return self.backend in ("ALL", backend) and self.dtype in ("ALL", dtype)

    @property
    def precision(self) -> int:
        """How much the key says; the kernel whose key says most is chosen."""
        return 2 * (self.backend != "ALL") + (self.dtype != "ALL")


class KernelFactory:
    """The kernels of one op."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.kernels: dict[KernelKey, Callable[..., Any]] = {}
        self.only: Callable[..., Any] | None = (
            None  # the kernel for everything, if there is no other
        )

    def register(self, key: KernelKey, kernel: Callable[..., Any]) -> None:
        """Adds a kernel. Raises ValueError if the key is taken."""
        if key in self.kernels:
            raise ValueError(
                f"{self.who}: expected one kernel for {key}, but got a second. Remove one of them."
            )
        self.kernels[key] = kernel
        self.only = kernel if list(self.kernels) == [KernelKey()] else None

    def select(self, backend: str, dtype: DataType | None) -> Callable[..., Any]:
        """The kernel whose key fits and says most.

        Raises:
            NotImplementedError: no kernel fits.
        """
        name = dtype.name if dtype else "ALL"
        fitting = [key for key in self.kernels if key.fits(backend, name)]
        if not fitting:
            raise NotImplementedError(
                f"{self.who}: expected a kernel for {backend} and {name}, but got only "
                f"{list(self.kernels)}. "
                f"Register one with @{self.who}.kernel(backend={backend!r}, dtype={name!r})."
            )
        return self.kernels[max(fitting, key=lambda key: key.precision)]
