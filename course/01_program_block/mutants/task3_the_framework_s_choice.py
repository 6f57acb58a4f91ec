from minipaddle.common.dtype import to_dtype
from minipaddle.phi.core.kernel import KernelFactory

factory = KernelFactory("op")
for key, kernel in kernels.items():
    factory.register(key, kernel)
for backend in dict.fromkeys([wanted.backend, "cpu"]):
    try:
        return factory.select(backend, to_dtype(wanted.dtype)), backend != wanted.backend
    except NotImplementedError:
        pass
raise RuntimeError(f"{wanted.dtype}: only {sorted({key.dtype for key in kernels})}")
