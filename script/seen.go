package script

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Seen is what the texts of a skill's runnable files show of what it wants.
type Seen struct {
	// Wants are the variables that they read, and the hosts that they contact. Variables that every script has and those that can never
	// pass are left out. There are no hosts if nothing uses the network. Programs in folders of examples contact nothing.
	Wants want.Set

	Network bool           // one uses the network, also without a host that its text names
	Files   map[string]int // how many files read a variable
}

// mostRead is how many files See looks at, those in scripts/ first.
const mostRead = 1000

// readFolders are folders of a skill whose programs are there to be read or copied.
var readFolders = strings.Fields("assets references reference templates template examples example samples tests test evals fixtures")

// See reads the texts of a skill's runnable files. It runs nothing.
func See(s *skill.Skill) Seen {
	out := Seen{Files: map[string]int{}}
	var contacts survey.Contacts
	scripts := survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable() // with modules, which a manifest need not list
	for _, sc := range scripts[:min(len(scripts), mostRead)] {
		for _, w := range survey.FileVariables(s.FS(), sc.File) {
			if !AlwaysPasses(w.Name) && CheckGrant(w.Name) == nil {
				out.Files[w.Name]++
				out.Wants = append(out.Wants, w)
			}
		}
		if top, _, _ := strings.Cut(sc.File, "/"); !slices.Contains(readFolders, strings.ToLower(top)) {
			contacts.Add(survey.FileContacts(s.FS(), sc.File))
		}
	}
	if out.Network = contacts.Network; out.Network {
		out.Wants = append(out.Wants, contacts.Hosts...)
	}
	out.Wants = want.New(out.Wants...)
	return out
}
