    degrees = dict.fromkeys(roots, 0)
    queue = list(degrees)
    for node in queue:
        for edge in node.edges:
            if edge is not None and edge.node not in degrees:
                degrees[edge.node] = 1
                queue.append(edge.node)
    return degrees
