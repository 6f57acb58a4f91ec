    rank, size = dist.get_rank(), dist.get_world_size()
    parts = list(parts)
    for step in range(size):
        outgoing, incoming = (rank - step - 1) % size, (rank - step - 2) % size
        dist.send(parts[outgoing], (rank + 1) % size)
        received = paddle.zeros_like(parts[incoming])
        dist.recv(received, (rank - 1) % size)
        if step < size - 1:
            parts[incoming] = received + parts[incoming]
    return parts[rank]
