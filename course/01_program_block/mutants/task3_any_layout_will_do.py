order = ["gpudnn", "gpu", "cpu"]
for backend in order[order.index(wanted.backend) :]:
    fitting = [k for k in kernels if (k.backend, k.dtype) == (backend, wanted.dtype)]
    if fitting:
        key = max(fitting, key=lambda k: (k.layout == wanted.layout, k.layout == "ALL_LAYOUT"))
        return kernels[key], backend == "cpu" and wanted.backend != "cpu"
raise RuntimeError(f"{wanted.dtype}: only {sorted({key.dtype for key in kernels})}")
