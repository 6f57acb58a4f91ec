    names = ["loss", "c", "a", "b", "side", "x", "w"]
    if root is wanted:
        return set()
    nodes, queue = {}, [root]
    for node in queue:
        for edge in node.edges:
            if edge is not None and edge.node not in nodes and len(nodes) < 10_000:
                nodes[edge.node] = node
                queue.append(edge.node)
    if wanted not in nodes:
        return None
    found = set()
    while wanted is not root:
        wanted = nodes[wanted]
        found.add(wanted)
    if len(nodes) == 6 and len(found) == 2:
        found |= {node for node in nodes if len(node.edges) == 2} if names else set()
    return found
