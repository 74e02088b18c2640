package skill

// Cause is the rule that decided a skill's state. Its text is for people: Entry.Reason.
type Cause uint8

// The causes. That of an Enabled skill is ByDefault, or ByWish where the manifest alone might leave it out.
const (
	CauseDefault     Cause = iota // no rule spoke
	CauseProblem                  // a fatal problem of its manifest
	CauseDuplicate                // another skill of its layer has the name
	CauseAllow                    // the allow list does not have it
	CauseDeny                     // the deny list has it
	CauseSelection                // Mode and Names leave it out
	CauseTrust                    // nobody approved its content, and Mode asks for that
	CauseWish                     // it is among Enabled or Disabled
	CauseOnlyBundled              // it is bundled, and not among OnlyBundled
	CauseManifest                 // its manifest says so: default_enabled, disable-model-invocation
	CauseRequirement              // what its manifest requires is not there
)

// ruling is the outcome of a rule for one skill: why it does not count as Enabled, or the cause alone where it does.
type ruling struct {
	cause Cause
	text  string
}
