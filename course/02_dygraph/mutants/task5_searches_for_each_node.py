    def reachable(start):
        seen, queue = {start}, [start]
        for node in queue:
            for edge in node.edges:
                if edge is not None and edge.node not in seen:
                    seen.add(edge.node)
                    queue.append(edge.node)
        return seen

    nodes = reachable(root)
    if wanted not in nodes:
        return None
    return {node for node in nodes if node is not wanted and wanted in reachable(node)}
