    seen = {root}
    queue = [root]
    for node in queue:
        if node is wanted:
            continue
        for edge in node.edges:
            if edge is not None and edge.node not in seen:
                seen.add(edge.node)
                queue.append(edge.node)
    if wanted not in seen:
        return None
    return {node for node in seen if node.edges and node is not wanted}
