    holders = {root: [gradient] + [None] * (len(root.specs) - 1)}
    queue = [root]
    for node in queue:
        holder = holders.pop(node, None)
        results = [None] * len(node.edges) if holder is None else node(holder)
        for edge, result in zip(node.edges, results):
            if edge is not None and result is not None:
                if edge.node not in holders:
                    holders[edge.node] = [None] * len(edge.node.specs)
                    queue.append(edge.node)
                held = holders[edge.node][edge.slot]
                holders[edge.node][edge.slot] = result if held is None else held + result
