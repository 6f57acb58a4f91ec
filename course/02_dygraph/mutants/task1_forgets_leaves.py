    degrees = dict.fromkeys(roots, 0)
    queue = list(degrees)
    for node in queue:
        for edge in node.edges:
            if edge is None or not edge.node.edges:
                continue
            if edge.node not in degrees:
                degrees[edge.node] = 0
                queue.append(edge.node)
            degrees[edge.node] += 1
    return degrees
