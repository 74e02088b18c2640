NAME = "own random"
