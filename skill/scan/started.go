package scan

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/flow"
)

// started are files of other programs with the keys whose values are commands. A star stands for any characters but a slash.
var started = []struct {
	names []string // of the whole path, or of its end after a slash
	keys  []string // in small letters
}{
	{[]string{".github/workflows/*.yml", ".github/workflows/*.yaml"}, []string{"run"}},
	{[]string{".gitlab-ci.yml"}, []string{"script", "before_script", "after_script"}},
	{[]string{"docker-compose*.yml", "docker-compose*.yaml", "compose*.yml", "compose*.yaml"}, []string{"command", "entrypoint"}},
	{[]string{"Taskfile.yml", "Taskfile.yaml"}, []string{"cmds", "cmd", "sh"}},
	{[]string{"*pre-commit-*.yaml", "*lefthook.yml"}, []string{"entry", "run"}},
	{[]string{".vscode/tasks.json"}, []string{"command"}},
	{[]string{"*devcontainer.json"}, []string{"initializecommand", "oncreatecommand", "updatecontentcommand", "postcreatecommand", "poststartcommand", "postattachcommand"}},
	{[]string{"*.service", "*.desktop", "*.timer"}, []string{"exec", "execstart", "execstartpre", "execstartpost", "execstop"}},
	{[]string{"*git/config", "*gitconfig"}, []string{"fsmonitor", "sshcommand", "pager", "editor", "!"}},
}

// commandKeys returns the keys of a file whose values are commands, nil for a file without.
func commandKeys(name string) []string {
	for _, s := range started {
		for _, pattern := range s.names {
			end := name
			for n := strings.Count(name, "/") - strings.Count(pattern, "/"); n > 0; n-- {
				_, end, _ = strings.Cut(end, "/")
			}
			if ok, err := path.Match(pattern, end); ok && err == nil {
				return s.keys
			}
		}
	}
	return nil
}

// words reads a command that is a text, a list of words, or, for a key that has several, a list of commands.
func (m *declared) words(key string, v *yamlnode.Node) {
	if !v.Nested() {
		m.command(v, false)
		return
	}
	several := slices.Contains([]string{"script", "before_script", "after_script", "cmds"}, key)
	var line []string
	for _, item := range v.Items {
		if several {
			m.command(item, false)
		} else if !item.Nested() {
			line = append(line, quoted(item.Value))
		}
	}
	if len(line) > 0 {
		m.command(&yamlnode.Node{Value: strings.Join(line, " "), Line: v.Line}, false)
	}
}

// assigned returns the commands of a file with KEY=COMMAND in its lines. The other lines stay empty.
func assigned(text string, keys []string) string {
	return eachLine(text, func(l string) string {
		key, command, ok := strings.Cut(l, "=")
		command = strings.Trim(strings.TrimSpace(command), `"`)
		alias, bang := strings.CutPrefix(command, "!")
		switch {
		case ok && bang && slices.Contains(keys, "!"):
			return alias
		case ok && slices.Contains(keys, strings.ToLower(strings.TrimSpace(key))):
			return strings.TrimLeft(command, "-@+:")
		}
		return ""
	})
}

// indexed returns the command that names the same index of packages as a line of a setting of npm or pip, "" for another line.
func indexed(l string) string {
	key, address, ok := strings.Cut(strings.TrimSpace(l), "=")
	if !ok {
		key, address, _ = strings.Cut(strings.TrimSpace(l), " ")
	}
	switch key, address = strings.ToLower(strings.TrimSpace(key)), quoted(strings.Trim(strings.TrimSpace(address), `"'`)); {
	case strings.HasSuffix(key, "registry"):
		return "npm install --registry " + address
	case strings.HasSuffix(key, "index-url"), strings.HasSuffix(key, "index_url"):
		return "pip install --index-url " + address
	}
	return ""
}

var (
	scriptElement = lazyregexp.New(`(?is)<script[^>]*>(.*?)(?:</script|\z)`)
	relation      = lazyregexp.New(`(?is)<Relationship\b[^>]*>`)
	attribute     = lazyregexp.New(`(?is)\b(Type|Target|TargetMode)\s*=\s*["']([^"']*)["']`)
	exchange      = lazyregexp.New(`(?is)\bDDE(?:AUTO)?\s+([^<]+)`)
)

// marked reads what a document of markup runs or loads: scripts, and in Office files templates, objects and commands. A link that a person
// follows and a picture are none of it.
func (r *reader) marked(at int, text string) {
	place := r.r.Files[at].place()
	for _, m := range scriptElement().FindAllStringSubmatchIndex(text, 100) {
		r.sources = append(r.sources, source{language: flow.JavaScript, dialect: kindJavaScript, text: text[m[2]:m[3]], line: 1 + strings.Count(text[:m[2]], "\n"), place: place, snippet: true, file: at})
	}
	for _, tag := range relation().FindAllString(text, 1000) {
		found := map[string]string{}
		for _, m := range attribute().FindAllStringSubmatch(tag, 10) {
			found[strings.ToLower(m[1])] = m[2]
		}
		kind := path.Base(found["type"])
		if found["targetmode"] != "External" || slices.Contains([]string{"hyperlink", "image", "audio", "video", "media"}, kind) {
			continue
		}
		target := strings.TrimPrefix(found["target"], "mhtml:")
		if host := flow.Host(target); host != "" {
			place.Block = "relationship"
			r.found = append(r.found, fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: target, Place: place})
		}
	}
	for _, m := range exchange().FindAllStringSubmatch(text, 10) {
		r.sources = append(r.sources, source{language: flow.Loose, text: strings.ReplaceAll(m[1], `"`, " "), line: 1, place: place, file: at})
	}
}

// keep keeps a text that a command may run as a script, whatever its name is.
func (r *reader) keep(at int, text string) {
	const mostEach, mostAll = 256 << 10, 16 << 20
	if f := &r.r.Files[at]; len(text) <= mostEach && r.kept+len(text) <= mostAll && len(f.Inside) == 0 {
		if r.texts == nil {
			r.texts = map[string]document{}
		}
		r.kept += len(text)
		r.texts[f.Path] = document{at, text}
	}
}

// run adds the file of the skill that a command runs to the sources, if it is no script by its name.
func (r *reader) run(language, from, name string) {
	name = strings.TrimLeft(strings.ReplaceAll(name, flow.Unknown, ""), "/~")
	for _, candidate := range []string{path.Clean(name), path.Join(path.Dir(from), name), path.Join(path.Dir(path.Dir(from)), name)} {
		d, ok := r.texts[candidate]
		if !ok {
			continue
		}
		delete(r.texts, candidate)
		r.r.Files[d.file].Kind = language // its facts are those of a script, and have no role
		r.sources = append(r.sources, source{language: language, text: d.text, line: 1, place: r.r.Files[d.file].place(), file: d.file})
		return
	}
}

// more reads the sources that were added behind the units.
func (r *reader) more(units []flow.Unit) ([]flow.Unit, error) {
	all := r.sources
	r.sources = all[len(units):]
	added, err := r.units()
	r.sources = all
	return append(units, added...), err
}
