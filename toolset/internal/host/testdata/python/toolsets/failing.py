def load():
    raise RuntimeError("cannot start")


load()
