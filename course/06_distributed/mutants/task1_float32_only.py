    rank, size = dist.get_rank(), dist.get_world_size()
    parts = [paddle.to_tensor(part.numpy().astype("float32")) for part in parts]
    for step in range(size - 1):
        outgoing, incoming = (rank - step - 1) % size, (rank - step - 2) % size
        dist.send(parts[outgoing], (rank + 1) % size)
        received = paddle.zeros_like(parts[incoming])
        dist.recv(received, (rank - 1) % size)
        parts[incoming] = received + parts[incoming]
    return parts[rank]
