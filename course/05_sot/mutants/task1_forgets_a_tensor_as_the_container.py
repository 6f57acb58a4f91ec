        container, item = self.pop(), self.pop()
        involved = [item]
        if isinstance(container, ContainerVariable):
            involved += container.items
        if any(isinstance(variable, TensorVariable) for variable in involved):
            self.break_graph("`in` needs the value of a Tensor")
        found = not isinstance(container, TensorVariable) and to_python(item) in to_python(container)
        self.push(ObjectVariable(found != bool(instruction.arg)))
