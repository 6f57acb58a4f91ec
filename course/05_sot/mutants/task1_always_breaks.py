        self.pop(), self.pop()
        self.break_graph("`in` is left to plain Python")
