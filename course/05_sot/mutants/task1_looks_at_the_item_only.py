        container, item = self.pop(), self.pop()
        if isinstance(item, TensorVariable):
            self.break_graph("`in` needs the value of a Tensor")
        found = to_python(item) in to_python(container)
        self.push(ObjectVariable(found != bool(instruction.arg)))
