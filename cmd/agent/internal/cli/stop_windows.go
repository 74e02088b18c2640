package cli

// stop does nothing: no program stops here.
func stop() bool { return false }
