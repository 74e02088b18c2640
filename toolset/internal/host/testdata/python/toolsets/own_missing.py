import toolsets.not_there
