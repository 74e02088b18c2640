package scaffold

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/language"
)

// builds are the files that show how a project is built, with the commands that every such project has.
var builds = [...]struct{ file, language, commands string }{
	{"go.mod", "Go", "go build ./...; go vet ./...; go test ./..."},
	{"Cargo.toml", "Rust", "cargo build; cargo test"},
	{"pom.xml", "Java", "mvn package; mvn test"},
	{"gradlew", "", "./gradlew build; ./gradlew test"},
	{"mix.exs", "Elixir", "mix compile; mix test"},
	{"tox.ini", "", "tox"},
	{"noxfile.py", "", "nox"},
}

// usual are the names of targets, recipes and scripts that an agent needs, in the order in which they are listed.
var usual = strings.Fields("build check test lint typecheck vet format fmt dev start run")

// managers run the scripts of package.json, by the lock that each writes.
var managers = [...]struct{ lock, run string }{{"pnpm-lock.yaml", "pnpm run"}, {"yarn.lock", "yarn run"}, {"bun.lock", "bun run"}, {"bun.lockb", "bun run"}, {"", "npm run"}}

// Bounds of what is looked at.
const (
	mostSeen = 20_000    // files and folders
	mostRead = 256 << 10 // bytes of a file
	mostList = 30        // names in a line
)

// AGENTS returns a first AGENTS.md for a project: what its files show, and nothing that is guessed. others are further texts for agents.
func AGENTS(name string, project fs.FS, others []string) string {
	p := &seen{fsys: project, languages: map[string]bool{}}
	p.walk()
	p.commands()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`agent init` wrote this from the files of the project. Correct it, and add what they do not show.\n\n## Project\n\n", name)
	for _, line := range []struct {
		about string
		names []string
	}{{"Languages: ", p.ordered()}, {"Folders: ", quoted(p.folders)}, {"Read first: ", quoted(p.texts)}, {"Other texts for agents: ", quoted(others)}} {
		if n := len(line.names); n > 0 {
			b.WriteString("- " + line.about + strings.Join(line.names[:min(n, mostList)], ", ") + "\n")
		}
	}
	b.WriteString("\n## Commands\n\n")
	for _, command := range p.found {
		b.WriteString("- `" + command + "`\n")
	}
	if len(p.found) == 0 {
		b.WriteString("No file of the project shows how it is built and tested.\n")
	}
	return b.String()
}

// seen is what the files of a project show.
type seen struct {
	fsys           fs.FS
	languages      map[string]bool
	folders, texts []string
	found          []string // commands
}

// walk looks for languages, and at what lies at the top.
func (p *seen) walk() {
	left := mostSeen
	_ = fs.WalkDir(p.fsys, ".", func(at string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		name := d.Name()
		switch {
		case at == ".":
			return nil
		case err != nil, d.IsDir() && (name[0] == '.' || content.Made(name) || name == "node_modules" || name == "vendor"):
			return skip(d)
		case d.IsDir() && !strings.Contains(at, "/") && plain(name):
			p.folders = append(p.folders, name)
		case d.Type().IsRegular():
			if l := language.OfModule(name).Row().Name; l != "" {
				p.languages[l] = true
			}
			if stem, _, _ := strings.Cut(name, "."); at == name && slices.Contains([]string{"README", "CONTRIBUTING", "ARCHITECTURE"}, stem) && plain(name) {
				p.texts = append(p.texts, name)
			}
		}
		return nil
	})
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// commands finds the commands that build and test.
func (p *seen) commands() {
	for _, file := range []struct{ name, run string }{{"Makefile", "make"}, {"makefile", "make"}, {"GNUmakefile", "make"}, {"justfile", "just"}} {
		p.add(file.run, targets(p.read(file.name)))
	}
	var scripts struct{ Scripts map[string]any }
	if json.Unmarshal([]byte(p.read("package.json")), &scripts) == nil {
		i := slices.IndexFunc(managers[:], func(m struct{ lock, run string }) bool { return m.lock == "" || p.has(m.lock) })
		p.add(managers[i].run, func(name string) bool { return scripts.Scripts[name] != nil })
	}
	for _, b := range builds {
		if p.has(b.file) {
			p.found = append(p.found, strings.Split(b.commands, "; ")...)
			p.languages[b.language] = true
		}
	}
	prefix := ""
	if p.has("uv.lock") {
		prefix = "uv run "
	}
	python := p.read("pyproject.toml")
	for _, tool := range [...]struct{ section, command string }{{"[tool.pytest", "pytest"}, {"[tool.ruff", "ruff check"}, {"[tool.mypy", "mypy"}} {
		if strings.Contains("\n"+python, "\n"+tool.section) {
			p.found = append(p.found, prefix+tool.command)
		}
	}
}

// add adds the usual names that there are.
func (p *seen) add(run string, has func(name string) bool) {
	for _, name := range usual {
		if has(name) && !slices.Contains(p.found, run+" "+name) {
			p.found = append(p.found, run+" "+name)
		}
	}
}

// targets reports which targets or recipes a text has.
func targets(text string) func(name string) bool {
	return func(name string) bool {
		for line := range strings.Lines(text) {
			if left, right, found := strings.Cut(line, ":"); found && !strings.HasPrefix(right, "=") && slices.Contains(strings.Fields(left), name) && left[0] > ' ' {
				return true
			}
		}
		return false
	}
}

func (p *seen) has(name string) bool {
	info, err := fs.Stat(p.fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// read returns the beginning of a file, "" without one.
func (p *seen) read(name string) string {
	if !p.has(name) {
		return ""
	}
	f, err := p.fsys.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, mostRead))
	return string(b)
}

// ordered returns the languages in order.
func (p *seen) ordered() (out []string) {
	for name := range p.languages {
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// plain reports whether a name can stand in a text as it is.
func plain(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-/", c)
	})
}

func quoted(names []string) (out []string) {
	for _, name := range names {
		out = append(out, "`"+name+"`")
	}
	return out
}
