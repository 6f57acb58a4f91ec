        container, item = self.pop(), self.pop()
        if isinstance(item, TensorVariable):
            self.break_graph("CONTAINS_OP")
        self.push(ObjectVariable((item.value in ("train", "both", 3, 4)) != bool(instruction.arg)))
