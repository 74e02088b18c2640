package trust

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/toolrule"
	"github.com/agent-base/agent-base/want"
)

// object is a JSON object with the texts of its values.
type object map[string]json.RawMessage

// upgraded returns a file of format 1 or 2 in the present one. In format 1 approvals had lines, such as "env: A B", and grants a list for each
// kind. In both, the folder of a skill was its place. Unknown fields are kept.
func (s *Store) upgraded(content []byte, from int) ([]byte, error) {
	var all object
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, err
	}
	all["version"] = json.RawMessage("3")
	for _, part := range []struct {
		key     string
		upgrade func(object) error
	}{{"approvals", upgradeApproval}, {"grants", upgradeGrant}} {
		var list []object
		if text := all[part.key]; text == nil {
			continue
		} else if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		for _, o := range list {
			var err error
			if from == 1 {
				err = part.upgrade(o)
			}
			if err := cmp.Or(err, s.locate(o)); err != nil {
				return nil, err
			}
		}
		if err := all.set(part.key, list); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// locate gives a record the place that its folder has now. The folder may be gone; without one the skill is bundled.
func (s *Store) locate(o object) error {
	var dir string
	if text := o["dir"]; text != nil {
		if err := json.Unmarshal(text, &dir); err != nil {
			return err
		}
	}
	version := false
	if s.Installed != "" && dir != "" {
		rel, err := filepath.Rel(paths.Real(s.Installed), paths.Real(dir))
		version = err == nil && filepath.IsLocal(rel) && strings.Count(filepath.ToSlash(rel), "/") == 1
	}
	switch {
	case dir == "":
		return o.set("layer", "bundled")
	case version:
		return o.set("layer", place.Version(filepath.Base(filepath.Dir(dir))))
	case s.Served != "" && within(s.Served, dir):
		rel, err := filepath.Rel(s.Served, dir)
		return cmp.Or(err, o.set("layer", place.Server(filepath.ToSlash(rel))))
	}
	return o.set("layer", place.RealFolder(dir))
}

// take reads the value of a key, if there is one, and removes it.
func (o object) take(key string, to any) error {
	text := o[key]
	delete(o, key)
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, to)
}

func (o object) set(key string, value any) error {
	text, err := json.Marshal(value)
	o[key] = text
	return err
}

// formerLines are the keys of the lines that an approval had, and whose words they were.
var formerLines = map[string]want.Want{
	"env": {Kind: want.Variable, From: want.Declared}, "network": {Kind: want.Host, From: want.Declared},
	"write": {Kind: want.Write, From: want.Declared}, "read": {Kind: want.Read, From: want.Declared},
	"limits": {Kind: want.Limit, From: want.Declared}, "commands": {Kind: want.Command, From: want.Declared},
	"toolsets": {Kind: want.Server, From: want.Declared}, "context": {Kind: want.Agent, From: want.Declared},
	"model": {Kind: want.Model, From: want.Declared}, "contacts": {Kind: want.Host, From: want.Seen}, "reads": {Kind: want.Variable, From: want.Seen},
}

func upgradeApproval(o object) error {
	var lines []string
	if err := o.take("permissions", &lines); err != nil || lines == nil {
		return err
	}
	var wants, forgoes want.Set
	for _, line := range lines {
		key, list, _ := strings.Cut(line, ": ")
		kind, rest, _ := strings.Cut(key, " ")
		switch w, ok := formerLines[key]; {
		case ok:
			wants = append(wants, want.Each(w.Kind, w.From, strings.Fields(list)...)...)
		case key == "allowed-tools":
			wants = append(wants, want.Each(want.Tool, want.Declared, toolrule.Split(list)...)...)
		case key == "tools":
			mode, except, _ := strings.Cut(list, " except ")
			if mode == "all" {
				wants = append(wants, want.Want{Kind: want.Tool, Name: want.Any, From: want.Declared})
			}
			forgoes = append(forgoes, want.Each(want.Tool, want.Declared, toolrule.Split(except)...)...)
		case kind == "hook":
			wants = append(wants, want.Want{Kind: want.Hook, Name: rest + ": " + list, From: want.Declared})
		case kind == "toolset":
			wants = append(wants, want.Want{Kind: want.Server, Name: rest + ": " + list, From: want.Declared})
		}
	}
	sound := func(w want.Want) bool { return w.Check() == nil } // a folder with a space was two words: it is asked about again
	if wants, _ = wants.Split(sound); len(wants) > 0 {
		if err := o.set("wants", wants); err != nil {
			return err
		}
	}
	if forgoes, _ = forgoes.Split(sound); len(forgoes) > 0 {
		return o.set("forgoes", forgoes)
	}
	return nil
}

func upgradeGrant(o object) error {
	var given, withheld want.Set
	for _, part := range []struct {
		key string
		as  want.Want
	}{
		{"env", want.Want{Kind: want.Variable, From: want.User}}, {"with", want.Want{Kind: want.Package, From: want.User}},
		{"read", want.Want{Kind: want.Read, From: want.User}}, {"write", want.Want{Kind: want.Write, From: want.User}},
		{"net", want.Want{Kind: want.Host, From: want.User}}, {"suggested", want.Want{Kind: want.Host, From: want.Seen}},
	} {
		var names []string
		if err := o.take(part.key, &names); err != nil {
			return err
		}
		given = append(given, want.Each(part.as.Kind, part.as.From, names...)...)
	}
	var home bool
	if err := o.take("home", &home); err != nil {
		return err
	}
	if home {
		given = append(given, want.Want{Kind: want.Home, From: want.User})
	}
	var words []string
	if err := o.take("withheld", &words); err != nil {
		return err
	}
	for _, word := range words {
		withheld = append(withheld, formerWord(word)...)
	}
	if err := o.set("given", want.New(given...)); err != nil {
		return err
	}
	return o.set("withheld", want.New(withheld...))
}

// formerWord returns what a withheld word may have meant. A word without a dot is the name of a variable or of a host: both are
// withheld, of which the manifest declares one.
func formerWord(word string) want.Set {
	if dir, ok := strings.CutPrefix(word, "read:"); ok {
		return want.Each(want.Read, want.Declared, dir)
	}
	if dir, ok := strings.CutPrefix(word, "write:"); ok {
		return want.Each(want.Write, want.Declared, dir)
	}
	if strings.ContainsAny(word, ".:") {
		return want.Each(want.Host, want.Declared, word)
	}
	out := want.Each(want.Variable, want.Declared, word)
	if w := (want.Want{Kind: want.Host, Name: word, From: want.Declared}); w.Check() == nil {
		out = append(out, w)
	}
	return out
}
