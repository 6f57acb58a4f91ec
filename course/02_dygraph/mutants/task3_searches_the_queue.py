    waiting = get_in_degree_map([root])
    holders = {root: [gradient] + [None] * (len(root.specs) - 1)}
    queue = [root]
    while queue:
        node = queue.pop()
        holder = holders.pop(node, None)
        results = [None] * len(node.edges) if holder is None else node(holder)
        for edge, result in zip(node.edges, results):
            if edge is None:
                continue
            if result is not None:
                following = holders.setdefault(edge.node, [None] * len(edge.node.specs))
                held = following[edge.slot]
                following[edge.slot] = result if held is None else held + result
            waiting[edge.node] -= 1
            if edge.node not in queue:
                queue.append(edge.node)
