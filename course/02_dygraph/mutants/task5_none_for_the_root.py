    users = {root: []}
    queue = [root]
    for node in queue:
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node not in users:
                users[edge.node] = []
                queue.append(edge.node)
            users[edge.node].append(node)
    if wanted not in users:
        return None
    found = set()
    queue = [wanted]
    for node in queue:
        for user in users[node]:
            if user not in found:
                found.add(user)
                queue.append(user)
    return found or None
