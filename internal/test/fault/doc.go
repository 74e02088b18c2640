// Package fault makes file-system calls fail, records them, and computes what a power failure could leave of them. It sees the
// system calls themselves, so the code under test needs no seam for it.
package fault

import "os"

// Full reports whether tests of faults run in their long form: AGENT_FAULTS is "full", as make faults sets it.
func Full() bool { return os.Getenv("AGENT_FAULTS") == "full" }
