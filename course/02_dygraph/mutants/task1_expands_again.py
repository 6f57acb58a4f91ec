    degrees = dict.fromkeys(roots, 0)
    counted = set()
    queue = list(degrees)
    for node in queue:
        for number, edge in enumerate(node.edges):
            if edge is not None:
                queue.append(edge.node)
                if (node, number) not in counted:
                    counted.add((node, number))
                    degrees[edge.node] = degrees.get(edge.node, 0) + 1
    return degrees
