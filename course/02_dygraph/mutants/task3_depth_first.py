    def walk(node, holder):
        for edge, result in zip(node.edges, node(holder)):
            if edge is not None and result is not None:
                following = [None] * len(edge.node.specs)
                following[edge.slot] = result
                walk(edge.node, following)

    walk(root, [gradient] + [None] * (len(root.specs) - 1))
