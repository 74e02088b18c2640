package script

import (
	"context"

	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// seen stands for the application's scan, for scripts of Python and JavaScript.
func seen(_ context.Context, s *skill.Skill) Seen {
	out := Seen{Files: map[string]want.Set{}}
	for _, sc := range survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable() {
		text := survey.Beginning(s.FS(), sc.File)
		lang := survey.LanguageIn(sc.File, text)
		contacts := survey.ContactsOf(lang, text)
		out.Network = out.Network || contacts.Network
		out.Files[sc.File] = survey.Variables(lang, text).Add(contacts.Hosts...)
	}
	for file, wants := range out.Files {
		_, out.Files[file] = wants.Split(func(w want.Want) bool {
			return w.Kind == want.Host && !out.Network || w.Kind == want.Variable && !Shown(w.Name)
		})
	}
	return out
}
