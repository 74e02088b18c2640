package flow

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// runFile runs a file that was made before, as the fact of a program or, without one, as code.
func (e *engine) runFile(language, name string, program []int) {
	made := e.made(name)
	if e.o.Run != nil && e.contents[path.Clean(name)] == nil {
		e.o.Run(language, e.unit.Place.File, name)
	}
	if content := e.contents[path.Clean(name)]; content != nil {
		e.inside(language, content.first(), union(made, content.from))
	}
	if len(program) > 0 {
		e.runs[program[0]] = name
		e.facts[program[0]].From = union(e.facts[program[0]].From, made)
	} else if n := e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Code, Detail: name, From: made}); len(n) > 0 {
		e.runs[n[0]] = name
	}
}

// importMade runs a file that was made before, if a program imports it by its path, or in Python by its name.
func (e *engine) importMade(name string) {
	if strings.ContainsAny(name[:min(len(name), 1)], "./") && e.made(name) != nil {
		e.runFile(e.unit.Language, name, nil)
	}
	for file, made := range e.written {
		if e.unit.Language == Python && path.Base(file) == name+".py" {
			e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Code, Detail: file, From: made})
		}
	}
}

// made returns the facts that a file is made from: those of the file, or of a folder that was unpacked there.
func (e *engine) made(name string) []int {
	key := path.Clean(name)
	out := e.written[key]
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		out = union(out, e.written[dir+"/"])
		if dir == "." || dir == "/" || dir == path.Dir(dir) {
			return out
		}
	}
}

// save notes the files that a program names itself, after the addresses that it is given.
func (e *engine) save(a *arguments, from []int) (out []int) {
	for _, v := range a.args {
		for _, t := range v.texts {
			t, _, _ = strings.Cut(strings.TrimRight(t, "/"), "?")
			if base := path.Base(t); hostOf(t) != "" && base != t && base != "." {
				out = union(out, e.files(fact.Writes, []*value{text(base)}, from))
			}
		}
	}
	return out
}

// unpack notes that files come to lie in folders.
func (e *engine) unpack(found []*value, from []int) {
	for _, v := range found {
		for _, t := range v.texts {
			key := path.Clean(t) + "/"
			e.written[key] = union(e.written[key], from)
		}
	}
}

// again finds what the files that were run are made from, once all programs were followed: another one may have made them.
func (e *engine) again() {
	for i, name := range e.runs {
		for _, n := range e.made(name) {
			if n != i {
				e.facts[i].From = union(e.facts[i].From, []int{n})
			}
		}
	}
}

// pack puts the file that is named into an archive that was opened.
func (e *engine) pack(a *arguments) *value {
	to := fileOf(a.self)
	if to == nil || !slices.ContainsFunc(to.texts, isArchive) || len(a.args) == 0 {
		return nil
	}
	return &value{from: e.files(fact.Writes, []*value{to}, e.files(fact.Reads, a.args[:1], nil))}
}

func isArchive(name string) bool {
	return slices.Contains(strings.Fields(".zip .tar .tgz .gz .bz2 .xz .whl"), path.Ext(name))
}

// archive makes an archive of a folder: shutil.make_archive(NAME, FORMAT, FOLDER).
func (e *engine) archive(a *arguments, from []int) *value {
	if len(a.args) < 2 {
		return nil
	}
	ends := map[string]string{"zip": ".zip", "tar": ".tar", "gztar": ".tar.gz", "bztar": ".tar.bz2", "xztar": ".tar.xz"}
	return &value{from: e.files(fact.Writes, []*value{joined([]*value{a.args[0], text(ends[a.args[1].first()])})}, from)}
}
