    return "right"
