    rank, size = dist.get_rank(), dist.get_world_size()
    parts = list(parts)
    for step in range(size - 1):
        outgoing, incoming = (rank - step) % size, (rank - step - 1) % size
        dist.send(parts[outgoing], (rank + 1) % size)
        received = paddle.zeros_like(parts[incoming])
        dist.recv(received, (rank - 1) % size)
        parts[incoming] = received + parts[incoming]
    return parts[rank]
