    degrees = dict.fromkeys(roots, 0)

    def walk(node):
        for edge in node.edges:
            if edge is None:
                continue
            new = edge.node not in degrees
            degrees[edge.node] = degrees.get(edge.node, 0) + 1
            if new:
                walk(edge.node)

    for root in list(degrees):
        walk(root)
    return degrees
