"""What an op is, what a kernel is, and how a call finds the world that carries it out."""
