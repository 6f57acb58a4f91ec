        item, container = self.pop(), self.pop()
        involved = [item, container]
        if isinstance(container, ContainerVariable):
            involved += container.items
        if any(isinstance(variable, TensorVariable) for variable in involved):
            self.break_graph("`in` needs the value of a Tensor")
        found = to_python(item) in to_python(container)
        self.push(ObjectVariable(found != bool(instruction.arg)))
