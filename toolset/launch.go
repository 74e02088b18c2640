package toolset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/toolset/internal/host"
	"github.com/agent-base/agent-base/want"
)

// load opens the skill again, for the time that its process runs. Its content must be what was listed.
func (u *unit) load(ctx context.Context) (*skill.Skill, error) {
	s, err := u.owner.entry.Load(ctx)
	if err != nil {
		return nil, u.wrapped(err)
	}
	digest, err := s.Digest(ctx)
	if err == nil && digest != u.owner.digest {
		err = u.fault("", KindChanged, "the skill has changed since its tools were listed: list them again")
	}
	if err != nil {
		s.Close()
		return nil, u.wrapped(err)
	}
	return s, nil
}

// wrapped returns an error of a start as an *Error, and that of a context unchanged.
func (u *unit) wrapped(err error) error {
	var own *Error
	if errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := u.fault("", KindStart, err.Error())
	for prefix, text := range map[string]string{u.name() + " ": "it ", "Dependencies of " + u.name() + " ": "its dependencies "} {
		if rest, ok := strings.CutPrefix(e.Message, prefix); ok {
			e.Message = text + rest
		}
	}
	e.Err = err
	return e
}

// name is the name of the program for package script.
func (u *unit) name() string { return "toolset " + u.toolset("") }

// files returns the files of the skill for which packages are prepared, in the order in which they choose an interpreter.
func (u *unit) files() []string {
	var out []string
	for _, e := range u.entries {
		if e.File != "" && !slices.Contains(out, e.File) {
			out = append(out, e.File)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return isScript(a) - isScript(b) })
	return out
}

// Programs returns the programs that the toolsets of a skill are, as far as packages are prepared for them: with
// script.Host.PrepareProgram before their first start, or at that. It runs nothing.
func Programs(s *skill.Skill) []script.Program {
	entries, _ := Entries(s)
	var out []script.Program
	for _, u := range unitsOf(nil, entries) {
		if files := u.files(); len(files) > 0 {
			out = append(out, script.Program{Name: u.name(), Files: files, Own: provided[u.lang], Else: zod()})
		}
	}
	return out
}

// provided are the modules that the host of a language brings.
var provided = map[Language][]string{Python: {"agent", "agent_base"}, Node: {script.NPM + "@agent/tools"}}

// zod is the package that toolsets without a package.json get if they import it. Its part zod/v3 is zod 3.
func zod() []string { return []string{script.NPM + "zod@4.6.7"} }

// serveOptions says which program is started.
func (u *unit) serveOptions() (*script.ServeOptions, error) {
	h := u.owner.h
	o := &script.ServeOptions{Name: u.name(), Files: u.files(), Else: zod(), Admit: u.owner.admitted()}
	if h.o.Denied != nil {
		o.Denied = h.o.Denied()
	}
	if u.lang == Server {
		u.command(o)
		return o, nil
	}
	program, err := host.Install(filepath.Join(h.o.Cache, "hosts"), languages[u.lang])
	if err != nil {
		return nil, fmt.Errorf("its host cannot be written: %w", err)
	}
	o.Program = program
	o.Fill = func(dir string, _ func(string) (string, bool)) ([]string, map[string]string, error) {
		var entries []string
		for _, e := range u.entries {
			entries = append(entries, e.Toolset)
		}
		return host.Args("", "", dir, h.o.MaxResult, entries...)[1:], nil, nil // package script has the runtime and its options
	}
	return o, nil
}

// languages are the hosts of the languages.
var languages = map[Language]host.Language{Python: host.Python, Node: host.JavaScript}

// isScript sorts JavaScript after TypeScript: the interpreter must know the latter.
func isScript(file string) int {
	if ext := filepath.Ext(file); len(ext) > 1 && ext[len(ext)-2] == 'j' {
		return 1
	}
	return 0
}

// command says how a server is started.
func (u *unit) command(o *script.ServeOptions) {
	c := u.entries[0].Command
	o.Command, o.Dir = c.Path, c.Dir
	o.Fill = func(dir string, value func(string) (string, bool)) ([]string, map[string]string, error) {
		var missing []string
		fill := func(text string) string {
			return variable.Expand(text, value, func(name string) { missing = append(missing, name) })
		}
		var args []string
		for _, a := range c.Args {
			args = append(args, fill(a))
		}
		env := map[string]string{}
		for name, text := range c.Env {
			env[name] = fill(text)
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			names := slices.Compact(missing)
			return nil, nil, &script.Error{Code: script.ExecutionFailed, Wants: want.Each(want.Variable, want.Refused, names...),
				Message: c.From + " uses variables that its scripts do not get: " + strings.Join(names, ", ")}
		}
		return args, env, nil
	}
}
