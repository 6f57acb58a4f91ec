old, new = old.encode(), new.encode()

def renamed(data, path):
    made, place = [], 0
    while place < len(data):
        start = place
        key, place = read_varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            _, place = read_varint(data, place)
        elif kind in (1, 5):
            place += 8
        elif kind != 2:
            raise ValueError(f"rename: expected a kind of field that is known, but got {kind}.")
        else:
            length, place = read_varint(data, place)
            content, here = data[place : place + length], (*path, number)
            place += length
            if place <= len(data) and any(name[: len(here)] == here for name in NAMES):
                if here not in NAMES:
                    content = renamed(content, here)
                elif content == old:
                    content = new
                made += [write_varint(key), write_varint(len(content)), content]
                continue
        if place > len(data):
            raise ValueError("rename: expected more bytes, but got the end of the data.")
        made.append(data[start:place])
    return b"".join(made)

return renamed(data, ())
