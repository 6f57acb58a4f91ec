order = ["gpudnn", "gpu", "cpu"]
for backend in order[order.index(wanted.backend) :]:
    for layout in (wanted.layout, "ALL_LAYOUT"):
        key = KernelKey(backend, layout, wanted.dtype)
        if key in kernels:
            return kernels[key], backend == "cpu" and wanted.backend != "cpu"
for dtype in ("float32", "float64"):
    if dtype != wanted.dtype and any(key.dtype == dtype for key in kernels):
        return select(kernels, KernelKey(wanted.backend, wanted.layout, dtype))
known = sorted({key.dtype for key in kernels})
raise RuntimeError(
    f"select: expected a kernel for {wanted.dtype}, but got kernels for {known} only."
)
