package skill

import (
	"context"
	"fmt"
	"io/fs"
)

// Trust says whether the scripts of a skill may run, and why.
type Trust uint8

// TrustNone and TrustChanged forbid scripts; the others allow them.
const (
	TrustNone     Trust = iota // the skill is not approved
	TrustChanged               // an earlier content of the skill was approved, but not this one
	TrustApproved              // this exact content was approved
	TrustRoot                  // the skill is below a folder that the user trusts as a whole
	TrustBundled               // the skill came with the program, or from the user's own coreDir
)

// String returns the name that `info` and `why` print.
func (t Trust) String() string {
	if t > TrustBundled {
		return fmt.Sprintf("unknown trust %d", uint8(t))
	}
	return [...]string{"untrusted", "changed", "approved", "trusted-root", "bundled"}[t]
}

// Runs reports whether scripts of a skill with this trust may run. It returns false for an invalid value.
func (t Trust) Runs() bool { return t >= TrustApproved && t <= TrustBundled }

// Subject is a skill that a TrustFunc decides about.
type Subject struct {
	Name  string // canonical
	Dir   string // absolute directory; "" unless the skill's source is Rooted and its location is known
	File  string // where its manifest is: see Entry.Where
	Layer string
	// Bundled reports whether the skill comes with the program: its layer has TrustBundled, and its source is in no folder.
	Bundled bool
	// Server is the label of the MCP server that serves the skill, "" for others. An approval in the place of the skill is then for this
	// server alone.
	Server string
	// Place returns where the skill is, as Entry.Place does. Nil means the place of the folder Dir.
	Place func(context.Context) (string, error)
	// Digest computes the content digest, as Skill.Digest does. It reads every file.
	Digest func(context.Context) (string, error)
	// Files opens the files that Digest covers, which the caller closes.
	Files func(context.Context) (fs.FS, func() error, error)
	// Loaded reports whether the skill is loaded to be used. Otherwise it is only listed.
	Loaded bool
}

// TrustFunc decides about one skill. It must be safe for concurrent use. If it returns an error, the other result is
// ignored and the skill is not trusted.
type TrustFunc func(context.Context, Subject) (Trust, error)
