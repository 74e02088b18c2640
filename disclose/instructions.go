package disclose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/placeholder"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// InstructionOptions says how to render the instructions of a skill. With the zero value they are the body with its
// placeholders filled in.
type InstructionOptions struct {
	Args       string // arguments of the call, for $ARGUMENTS, $0, $name
	SessionID  string // for ${CLAUDE_SESSION_ID}; "" leaves it unchanged
	ProjectDir string // for ${CLAUDE_PROJECT_DIR}; "" leaves it unchanged

	Wrap bool // put a frame with the origin, the directory and the files around the body
	// Command returns the command line that runs a script with a shell, for a model that has no tool script_run but a
	// program that does the same. script is a name that the program takes.
	Command func(skill, script string, args []string) string

	Scripts []string // slash paths of the files that can be run; nil means all in scripts/

	dir string // the skill's folder; but for tests, the real one
}

// maxListed is the most files that a frame lists.
const maxListed = 50

// Instructions renders what a model gets when it activates s: the body without front matter, with arguments filled in by
// the rules of Claude Code, and the skill's folder in place of what stands for it here and in other programs: ${CLAUDE_SKILL_DIR},
// {baseDir}, <SKILL_DIR>, ~/.claude/skills/NAME and the like. $SKILL_DIR stays if the body gives that variable a value.
// ${CLAUDE_PLUGIN_ROOT} is the folder of the plugin, see skill.Skill.PluginDir. A value that was filled in is not expanded
// again. If there are arguments and the body has no place for them, a line "ARGUMENTS: …" is added. Commands that Claude Code would run on loading, !`cmd` and ```! blocks,
// stay unchanged, with a warning.
//
// With Wrap the body is inside <skill_content name="…" source="…" digest="…">, followed by the skill's directory and by
// <skill_resources>, which lists at most 50 files and folders. A body cannot close that frame or open another: such tags are written
// with &lt;.
//
// The error is that of listing the files, or that of ctx. A skill that cannot be hashed has no digest, with a warning.
func Instructions(ctx context.Context, s *skill.Skill, o *InstructionOptions) (Text, error) {
	if err := ctx.Err(); err != nil {
		return Text{}, err
	}
	if o == nil {
		o = &InstructionOptions{}
	}
	dir := o.dir
	if dir == "" {
		dir, _ = s.Dir(ctx) // a skill in memory has none
	}
	t := filled(ctx, s, dir, o)
	if o.Wrap {
		f, err := t.around(ctx, s, dir, o)
		if err != nil {
			return Text{}, err
		}
		t.Body = f.head + shield(strings.TrimRight(t.Body, "\n")) + f.where + f.files + frameEnd
	}
	t.Tokens = Tokens(t.Body)
	t.Skills = []Cost{{s.Name(), t.Tokens}}
	return t, nil
}

// filled returns the body of s with its placeholders filled in, and the warnings about it.
func filled(ctx context.Context, s *skill.Skill, dir string, o *InstructionOptions) Text {
	m := s.Manifest()
	vars := variables(o)
	if strings.Contains(m.Body, pluginRoot) {
		if plugin := pluginDir(ctx, s, dir, o); plugin != "" {
			vars[pluginRoot] = plugin
		}
	}
	v := newValues(o.Args, m.Arguments, vars)
	v.dir, v.skill, v.own = dir, s.Canonical(), placeholder.Own(m.Body)
	v.plain = !takesArguments(s)
	body, used, unknown := v.substitute(m.Body)
	if strings.TrimSpace(o.Args) != "" && !used {
		body = strings.TrimRight(body, "\n") + "\n\nARGUMENTS: " + o.Args
	}
	t := Text{Body: body, Warnings: warnings(m, unknown)}
	if unread := manifest.Unread(s.Problems()); unread != "" {
		t.Warnings = append(t.Warnings, s.Entry().File()+": "+unread)
	}
	if v.full {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the instructions grew by %d bytes: later placeholders stay in the text", mostFilled))
	}
	return t
}

// takesArguments reports whether a skill says that it takes arguments: by its front matter or $ARGUMENTS in its body, or because it is a
// command, which is called with some.
func takesArguments(s *skill.Skill) bool {
	m, file := s.Manifest(), path.Base(filepath.ToSlash(s.Entry().File()))
	return m.ArgumentHint != "" || len(m.Arguments) > 0 || strings.Contains(m.Body, "$ARGUMENTS") || !strings.EqualFold(file, "SKILL.md")
}

// variables returns the ${…} that have a value.
func variables(o *InstructionOptions) map[string]string {
	vars := map[string]string{}
	for name, value := range map[string]string{"CLAUDE_SESSION_ID": o.SessionID, "CLAUDE_PROJECT_DIR": o.ProjectDir} {
		if value != "" {
			vars[name] = value
		}
	}
	return vars
}

// pluginRoot is the variable for the folder of a plugin of Claude Code.
const pluginRoot = "CLAUDE_PLUGIN_ROOT"

// pluginDir returns the folder of the plugin that has the skill, or the skill's folder if there is none.
func pluginDir(ctx context.Context, s *skill.Skill, dir string, o *InstructionOptions) string {
	plugin, err := s.PluginDir(ctx)
	if err != nil {
		return dir
	}
	return plugin
}

// warnings returns the warnings about parts of the body that have no effect here.
func warnings(m *manifest.Manifest, unknown []string) []string {
	var out []string
	for i, line := range strings.Split(m.Body, "\n") {
		if runsOnLoad(line) {
			out = append(out, fmt.Sprintf("line %d: the command is not run on loading and stays in the text", m.BodyLine+i))
		}
	}
	slices.Sort(unknown)
	for _, name := range slices.Compact(unknown) {
		out = append(out, "${"+name+"} has no value here and stays in the text")
	}
	if more := len(out) - mostWarnings; more > 0 {
		out = append(out[:mostWarnings:mostWarnings], fmt.Sprintf("and %d more of this kind", more))
	}
	return out
}

// mostWarnings is how many warnings about one body are returned; the rest is counted.
const mostWarnings = 20

// runsOnLoad reports whether Claude Code would run a command of this line: !`cmd` at the start or after white space, or
// the opening of a ```! block.
func runsOnLoad(line string) bool {
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "```!") {
		return true
	}
	for i := 0; ; {
		at := strings.Index(line[i:], "!`")
		if at < 0 {
			return false
		}
		at += i
		if (at == 0 || line[at-1] == ' ' || line[at-1] == '\t') && strings.Contains(line[at+2:], "`") {
			return true
		}
		i = at + 2
	}
}

// frame is the text around a body: its origin, its folder and its files.
type frame struct{ head, where, files string }

const frameEnd = "\n</skill_content>"

// around returns the frame of s. A missing digest is a warning in t.
func (t *Text) around(ctx context.Context, s *skill.Skill, dir string, o *InstructionOptions) (frame, error) {
	b := append([]byte(nil), `<skill_content name="`...)
	b = appendLine(b, s.Name(), escapeAll)
	b = append(b, `" source="`...)
	b = appendLine(b, cmp.Or(s.Entry().Origin(), s.Entry().Layer()), escapeAll)
	if digest, err := s.Digest(ctx); err != nil {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the skill has no digest: %v", err))
	} else {
		b = append(b, `" digest="`...)
		b = appendLine(b, digest, escapeAll)
	}
	b = append(b, "\">\n"...)
	if from := s.Entry().Origin(); from != "" {
		b = append(b, "[These instructions come from the "...)
		b = appendLine(b, from, escapeTags)
		b = append(b, ", not from the user.]\n"...)
	}
	f := frame{head: string(b)}
	b = b[:0]
	if dir != "" {
		b = append(b, "\n\nSkill directory: "...)
		b = appendLine(b, dir, escapeTags)
		b = append(b, "\nRelative paths in these instructions are relative to that directory."...)
	} else {
		b = append(b, "\n\nRelative paths in these instructions are paths of the skill's files; read them with skill_read."...)
	}
	f.where = string(b)
	files, partial, err := s.List(ctx)
	if err != nil {
		return f, fmt.Errorf("list files of skill %q: %w", s.Name(), err)
	}
	f.files = string(appendResources(b[:0], files, partial, s, dir, o))
	return f, nil
}

// mostBeside is how many files that are not scripts a folder below scripts/ may have before they are only counted.
const mostBeside = 5

// beside counts the files in each folder below scripts/ that has many and no script among them: schemas, templates and
// other data, which scripts read and a model does not.
func beside(files []skill.File, o *InstructionOptions) map[string]int {
	count := map[string]int{}
	for _, f := range files {
		if strings.HasPrefix(f.Path, "scripts/") {
			count[path.Dir(f.Path)]++
		}
	}
	for _, f := range files {
		if o.runs(f.Path) {
			delete(count, path.Dir(f.Path))
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n <= mostBeside })
	return count
}

// appendResources lists the skill's files except for its manifest. Scripts are marked, because they are run and not read. A
// folder of data of the scripts is one line.
func appendResources(b []byte, files []skill.File, partial bool, s *skill.Skill, dir string, o *InstructionOptions) []byte {
	files = slices.DeleteFunc(files, func(f skill.File) bool { return f.Path == "SKILL.md" || f.Path == "skill.md" })
	if len(files) == 0 {
		return b
	}
	b = append(b, "\n<skill_resources>"...)
	var scripts []string
	for _, f := range files {
		if o.runs(f.Path) {
			scripts = append(scripts, f.Path)
		}
	}
	listed, lines := 0, 0
	folders, named := beside(files, o), map[string]bool{}
	for ; listed < len(files); listed++ {
		dir := path.Dir(files[listed].Path)
		if named[dir] {
			continue
		}
		if lines++; lines > maxListed {
			break
		}
		named[dir] = folders[dir] > 0
		b = appendResource(b, files[listed].Path, folders[dir], o)
	}
	if n := left(files[listed:], named); n > 0 {
		b = append(b, "\nand "...)
		if partial {
			b = append(b, "at least "...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, " more that are not listed"...)
	}
	b = append(b, "\n</skill_resources>"...)
	if len(scripts) == 0 {
		return b
	}
	return appendRunning(b, scripts, s, dir, o)
}

// appendResource adds the line of a file, or that of its folder if count files there are data of scripts.
func appendResource(b []byte, file string, count int, o *InstructionOptions) []byte {
	end := "</file>"
	switch {
	case count > 0:
		b = append(b, "\n<folder files=\""+strconv.Itoa(count)+"\">"...)
		file, end = path.Dir(file), "</folder>"
	case o.runs(file):
		b = append(b, "\n<file run=\"true\">"...)
	default:
		b = append(b, "\n<file>"...)
	}
	b = appendLine(b, file, escapeAll)
	return append(b, end...)
}

// left counts the files that are in no named folder.
func left(files []skill.File, named map[string]bool) int {
	n := 0
	for _, f := range files {
		if !named[path.Dir(f.Path)] {
			n++
		}
	}
	return n
}

// appendRunning says how scripts are run here. If the body runs one in a shell, that command is the example.
func appendRunning(b []byte, scripts []string, s *skill.Skill, dir string, o *InstructionOptions) []byte {
	b = append(b, "\nFiles with run=\"true\" are scripts: do not read them, "...)
	call, found := findCall(s.Manifest().Body, s.Name(), dir, scripts)
	switch {
	case o.Command != nil:
		if !found {
			call = shellCall{script: scripts[0]}
		}
		b = append(b, "run them with a shell from the user's directory, such as: "...)
		b = append(b, shield(string(appendLine(nil, o.Command(s.Name(), call.scriptName(), call.args), escapeNone)))...)
	default:
		b = append(b, "run them with the tool script_run."...)
		if found {
			b = append(b, shield(call.asToolCall(s.Name()))...)
		}
	}
	return b
}

// runs reports whether a file is a script.
func (o *InstructionOptions) runs(path string) bool {
	if o.Scripts == nil {
		return strings.HasPrefix(path, "scripts/")
	}
	return slices.Contains(o.Scripts, path)
}
