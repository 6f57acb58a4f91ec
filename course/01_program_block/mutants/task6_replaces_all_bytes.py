return data.replace(old.encode(), new.encode())
