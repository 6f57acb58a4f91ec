    result = None
    for number, part in enumerate(parts):
        total = paddle.to_tensor(part.numpy())
        dist.all_reduce(total)
        if number == dist.get_rank():
            result = total
    return result
