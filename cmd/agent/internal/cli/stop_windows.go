package cli

// stop returns false: Windows stops no programs.
func stop() bool { return false }
