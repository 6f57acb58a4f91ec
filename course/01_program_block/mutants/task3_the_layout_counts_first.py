order = ["gpudnn", "gpu", "cpu"]
for layout in (wanted.layout, "ALL_LAYOUT"):
    for backend in order[order.index(wanted.backend) :]:
        key = KernelKey(backend, layout, wanted.dtype)
        if key in kernels:
            return kernels[key], backend == "cpu" and wanted.backend != "cpu"
raise RuntimeError(f"{wanted.dtype}: only {sorted({key.dtype for key in kernels})}")
