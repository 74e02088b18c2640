NAME = "own json"
