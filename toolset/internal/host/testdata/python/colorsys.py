NAME = "own, at the top"
