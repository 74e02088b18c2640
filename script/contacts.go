package script

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// readFolders are folders of a skill whose programs are there to be read or copied.
var readFolders = strings.Fields("assets references reference templates template examples example samples tests test evals fixtures")

// Contacts returns what the texts of a skill's runnable files say about the network. Programs in
// folders of examples do not count. There are no hosts if nothing uses the network.
func Contacts(s *skill.Skill) survey.Contacts {
	var out survey.Contacts
	scripts := survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable() // with modules, which a manifest need not list
	for _, sc := range scripts[:min(len(scripts), mostRead)] {
		if top, _, _ := strings.Cut(sc.File, "/"); slices.Contains(readFolders, strings.ToLower(top)) {
			continue
		}
		out.Add(survey.FileContacts(s.FS(), sc.File))
	}
	if !out.Network {
		out.Hosts = nil
	}
	return out
}
