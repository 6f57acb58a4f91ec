order = ["gpudnn", "gpu", "cpu"]
for backend in order[order.index(wanted.backend) :]:
    for layout in (wanted.layout, "ALL_LAYOUT"):
        key = KernelKey(backend, layout, wanted.dtype)
        if key in kernels:
            return kernels[key], False
known = sorted({key.dtype for key in kernels})
raise RuntimeError(
    f"select: expected a kernel for {wanted.dtype}, but got kernels for {known} only."
)
