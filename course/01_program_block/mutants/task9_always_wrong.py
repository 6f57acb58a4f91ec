raise AssertionError("never good enough")
