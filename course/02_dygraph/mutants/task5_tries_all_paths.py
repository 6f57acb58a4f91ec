    found, reached = set(), False
    paths = [(root,)]
    while paths:
        path = paths.pop()
        if path[-1] is wanted:
            reached = True
            found.update(path[:-1])
            continue
        for edge in path[-1].edges:
            if edge is not None:
                paths.append((*path, edge.node))
    return found if reached else None
