        container, item = self.pop(), self.pop()
        if isinstance(item, TensorVariable) or isinstance(container, TensorVariable):
            self.break_graph("`in` needs the value of a Tensor")
        if isinstance(container, ContainerVariable):
            found = item in container.items
        else:
            found = item.value in container.value
        self.push(ObjectVariable(found != bool(instruction.arg)))
