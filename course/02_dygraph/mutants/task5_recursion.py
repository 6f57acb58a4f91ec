    leads = {}

    def visit(node):
        if node not in leads:
            leads[node] = node is wanted
            for edge in node.edges:
                if edge is not None:
                    leads[node] |= visit(edge.node)
        return leads[node]

    if not visit(root):
        return None
    return {node for node, does in leads.items() if does and node is not wanted}
