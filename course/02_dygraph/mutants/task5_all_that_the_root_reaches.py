    seen = {root}
    queue = [root]
    for node in queue:
        for edge in node.edges:
            if edge is not None and edge.node not in seen:
                seen.add(edge.node)
                queue.append(edge.node)
    return seen - {wanted} if wanted in seen else None
