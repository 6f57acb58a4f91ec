old, new = old.encode(), new.encode()
return data.replace(bytes([len(old)]) + old, bytes([len(new) % 256]) + new)
