package skill

// Cause is the rule that decided a skill's state. Its text is for people: Entry.Reason.
type Cause uint8

// The causes. That of an Enabled skill is ByDefault, or ByWish where the manifest alone might leave it out.
const (
	ByDefault     Cause = iota // no rule spoke
	ByProblem                  // a fatal problem of its manifest
	ByDuplicate                // another skill of its layer has the name
	ByAllow                    // the allow list does not have it
	ByDeny                     // the deny list has it
	BySelection                // Mode and Names leave it out
	ByTrust                    // nobody approved its content, and Mode asks for that
	ByWish                     // it is among Enabled or Disabled
	ByOnlyBundled              // it is bundled, and not among OnlyBundled
	ByManifest                 // its manifest says so: default_enabled, disable-model-invocation
	ByRequirement              // what its manifest requires is not there
)

// ruling is the outcome of a rule for one skill: why it does not count as Enabled, or the cause alone where it does.
type ruling struct {
	cause Cause
	text  string
}
