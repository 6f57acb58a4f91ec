        container, item = self.pop(), self.pop()
        if not isinstance(container, ObjectVariable) or not isinstance(item, ObjectVariable):
            self.break_graph("`in` needs an object that is known")
        self.push(ObjectVariable((item.value in container.value) != bool(instruction.arg)))
