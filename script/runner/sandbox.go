package runner

import "strings"

// Confinement says whether a command may run without a sandbox.
type Confinement string

// The confinements, from loose to strict.
const (
	ConfineOff      Confinement = "off"      // no sandbox; the limits and the end of all its processes remain
	ConfineAuto     Confinement = "auto"     // the strongest sandbox that the machine has
	ConfineRequired Confinement = "required" // refuse where the sandbox cannot confine files and network
)

// Sandbox is what confined a command: in which tier, and which layers held or were missing.
type Sandbox struct {
	Tier    string   `json:"tier"` // A to E, or "off"
	Layers  []string `json:"layers"`
	Missing []string `json:"missing"`
}

// NoSandbox is the Tier of a Sandbox that confines nothing.
const NoSandbox = "off"

// OrNone returns what confined a command; nothing did if s is nil.
func (s *Sandbox) OrNone() *Sandbox {
	if s == nil {
		s = &Sandbox{Tier: NoSandbox}
	}
	out := &Sandbox{Tier: s.Tier, Layers: s.Layers, Missing: s.Missing}
	if out.Layers == nil {
		out.Layers = []string{}
	}
	if out.Missing == nil {
		out.Missing = []string{}
	}
	return out
}

// Lacks returns what Missing says about one thing, such as "path", without its name in front.
func (s *Sandbox) Lacks(what string) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, line := range s.Missing {
		if text, ok := strings.CutPrefix(line, what+": "); ok {
			out = append(out, text)
		}
	}
	return out
}

// ConfinesFiles reports whether the sandbox keeps a command from files that it was not given.
func (s *Sandbox) ConfinesFiles() bool {
	return s != nil && strings.Contains("ABD", s.Tier) && s.Tier != ""
}

// ConfinesNetwork reports whether the sandbox keeps a command from hosts that it was not given.
func (s *Sandbox) ConfinesNetwork() bool {
	return s != nil && strings.Contains("ABCD", s.Tier) && s.Tier != ""
}

// SandboxError is the error of a Runner that did not start a command, because a layer of the sandbox that it needs is missing
// on this machine.
type SandboxError struct {
	Layer string // that is missing, such as "namespaces"
	Cure  string // what would help, as a sentence; "" if nothing is known
	Err   error  // why it is missing; may be nil
}

// Error names the layer, why it is missing, and the cure.
func (e *SandboxError) Error() string {
	text := "the sandbox has no " + e.Layer
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Cure != "" {
		text += ". " + e.Cure
	}
	return text
}

// Unwrap returns the cause.
func (e *SandboxError) Unwrap() error { return e.Err }
