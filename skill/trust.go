package skill

import (
	"context"
	"fmt"
)

// Trust says why the scripts of a skill may run, or that they may not.
type Trust uint8

// Untrusted and Changed forbid scripts; the others allow them.
const (
	TrustNone     Trust = iota // nobody approved this skill
	TrustChanged               // an earlier content of it was approved, not this one
	TrustApproved              // this very content was approved
	TrustRoot                  // it lies under a folder that the user trusts as a whole
	TrustBundled               // it came with the program, or from the user's own coreDir
)

// String returns the name that `info` and `why` print.
func (t Trust) String() string {
	if t > TrustBundled {
		return fmt.Sprintf("unknown trust %d", uint8(t))
	}
	return [...]string{"untrusted", "changed", "approved", "trusted-root", "bundled"}[t]
}

// Runs reports whether scripts of a skill with this trust may run. A value that is none of the above allows nothing.
func (t Trust) Runs() bool { return t >= TrustApproved && t <= TrustBundled }

// Subject is a skill whose trust is asked for.
type Subject struct {
	Name  string // canonical
	Dir   string // absolute directory, "" unless the skill's source is Rooted and says where it lies
	Layer string
	// Digest computes the content digest, as Skill.Digest does. It reads every file.
	Digest func(context.Context) (string, error)
}

// TrustFunc decides about one skill. It must be safe for concurrent use. Beside an error its answer is not looked at: the
// skill is untrusted.
type TrustFunc func(context.Context, Subject) (Trust, error)
