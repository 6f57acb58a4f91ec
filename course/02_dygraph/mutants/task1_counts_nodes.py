    degrees = dict.fromkeys(roots, 0)
    queue = list(degrees)
    for node in queue:
        for following in {edge.node for edge in node.edges if edge}:
            if following not in degrees:
                degrees[following] = 0
                queue.append(following)
            degrees[following] += 1
    return degrees
