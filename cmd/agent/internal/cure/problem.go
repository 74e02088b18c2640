package cure

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Link says what to do about an installed link whose folder is gone.
func Link(name string) string {
	return "put the folder back, or agent skill remove " + manifest.Canonical(name)
}

// Advised returns a problem of the catalogue or the settings whose cure is what to type.
func Advised(p manifest.Problem) manifest.Problem {
	switch p.Code {
	case "config-trust":
		p.Cure = fmt.Sprintf("run %q or %q", Trust("NAME"), TrustRoot("DIR"))
	case "skill-untrusted":
		p.Cure = Trust(p.Skill)
	case "skills-none-trusted":
		p.Message = "No trusted skills installed. Install skills with 'agent skill add' or use AGENT_SKILLS=all-untrusted"
		p.Cure = Trust("NAME")
	case "skills-untrusted-loaded":
		p.Cure = "use AGENT_SKILLS=all, or trust single skills: " + Trust("NAME")
	case "registry-damaged":
		p.Cure = "agent skill repair"
	case "installed-missing":
		p.Cure = Repair(manifest.Canonical(p.Skill))
	case "linked-missing":
		p.Cure = Link(p.Skill)
	case "link-skipped":
		if strings.Contains(p.Message, " leads out of ") {
			p.Cure = "replace the link by the folder itself, or name the folder that it leads into in your settings: symlinks: allow-list and symlinkRoots"
		}
	case "skill-unknown":
		p.Cure = cmp.Or(p.Cure, "agent skill list --all")
	}
	return p
}
