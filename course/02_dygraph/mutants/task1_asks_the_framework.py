    from minipaddle.eager.backward import get_in_degree_map

    return get_in_degree_map(roots)
