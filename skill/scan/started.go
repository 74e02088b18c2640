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
