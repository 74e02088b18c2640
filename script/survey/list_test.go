package survey

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/manifest"
)

// tree is the content of files by slash path.
type tree map[string]string

// files is a skill's file system; a path that ends in "*" may be executed.
func files(content tree) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range content {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if strings.HasSuffix(name, "*") {
			f.Mode = 0o755
		}
		m[strings.TrimSuffix(name, "*")] = f
	}
	return m
}

func describe(scripts []Script, problems []manifest.Problem) (names, codes []string) {
	for _, s := range scripts {
		names = append(names, s.Name+"="+strings.TrimPrefix(s.File, "scripts/"))
	}
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	return names, codes
}

// numbered returns n texts of a format.
func numbered(format string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

const elf = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00"

func TestList(t *testing.T) {
	tests := []struct {
		name  string
		files tree
		m     manifest.Manifest
		want  []string
		codes []string
	}{
		{name: "no folder", files: tree{"SKILL.md": ""}},
		{name: "scripts is a file", files: tree{"scripts": "x"}},
		{name: "every extension", // R50, C29
			files: tree{"scripts/a.py": "", "scripts/b.sh": "", "scripts/c.js": "", "scripts/d.ts": "", "scripts/e.rb": "", "scripts/f.pl": "", "scripts/G.PY": "", "scripts/notes.md": "x", "scripts/data.json": "{}"},
			want:  []string{"a=a.py", "b=b.sh", "c=c.js", "d=d.ts", "e=e.rb", "f=f.pl", "G=G.PY"}},
		{name: "by first bytes", // C29
			files: tree{"scripts/tool*": "#!/bin/sh\n", "scripts/later.lua": "#!/usr/bin/lua\n", "scripts/prog*": elf, "scripts/plain*": "no script", "scripts/lib.so*": elf, "scripts/noexec": elf, "scripts/empty*": ""},
			want:  []string{"later=later.lua", "prog=prog", "tool=tool"}},
		{name: "dot files and folders below", files: tree{"scripts/.hidden.py": "", "scripts/sub/x.py": "", "scripts/__pycache__/a.pyc": ""}},
		{name: "ignored by base name, by path, by alternatives", // R33, lessons 2.1 #15
			files: tree{"scripts/a.py": "", "scripts/a_test.py": "", "scripts/_p.py": "", "scripts/b.py": "", "scripts/c.py": "", "scripts/d.sh": ""},
			m:     manifest.Manifest{ScriptsIgnore: []string{"*_test.py", "_*.py", "scripts/b.py", "**/{c,x}.py", "/d.sh"}},
			want:  []string{"a=a.py", "d=d.sh"}},
		{name: "bad pattern", files: tree{"scripts/a.py": ""}, m: manifest.Manifest{ScriptsIgnore: []string{"[a"}},
			want: []string{"a=a.py"}, codes: []string{"scripts-ignore"}},
		{name: "a pattern of 2^24 alternatives, others stay", files: tree{"scripts/b.py": "", "scripts/c.py": ""}, // lessons: a glob must not hang
			m: manifest.Manifest{ScriptsIgnore: []string{strings.Repeat("{x,x}", 24) + "b", "c.py"}}, want: []string{"b=b.py"}, codes: []string{"scripts-ignore"}},
		{name: "a pattern too long", files: tree{"scripts/b.py": ""}, m: manifest.Manifest{ScriptsIgnore: []string{strings.Repeat("*", 257)}},
			want: []string{"b=b.py"}, codes: []string{"scripts-ignore"}},
		{name: "too many patterns are told once, names are none", files: tree{"scripts/b.py": "", "scripts/n99.py": ""},
			m:    manifest.Manifest{ScriptsIgnore: append(numbered("n%d.py", 100), append(numbered("x%d*", 64), "b*", "b?py")...)},
			want: []string{"b=b.py"}, codes: []string{"scripts-ignore"}},
		{name: "declared with and without extension", // R31
			files: tree{"scripts/a.py": "", "scripts/b.py": "", "scripts/c.py": "", "scripts/d.py": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"a", "b.py", "scripts/c.py", "./scripts/c.py", "A", "D.PY"}},
			want:  []string{"a=a.py", "b=b.py", "c=c.py", "d=d.py"}},
		{name: "declared beats ignored", files: tree{"scripts/_a.py": ""},
			m: manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"_a"}, ScriptsIgnore: []string{"_*"}}, want: []string{"_a=_a.py"}},
		{name: "declared but missing, elsewhere, of no kind",
			files: tree{"scripts/a.txt": "x", "scripts/sub/b.py": "", "scripts/dir.py/x": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"gone", "sub/b.py", "a.txt", "../../etc/passwd", "dir.py"}},
			codes: []string{"script-missing", "scripts-value", "script-kind", "scripts-value", "script-kind"}},
		{name: "declared nothing", files: tree{"scripts/a.py": ""}, m: manifest.Manifest{ScriptsDeclared: true}},
		{name: "alike but for the extension", // 1.3 Script name
			files: tree{"scripts/run.py": "", "scripts/Run.sh": "", "scripts/x.py": "", "scripts/x.py.sh": ""},
			want:  []string{"run.py=run.py", "Run.sh=Run.sh", "x=x.py", "x.py.sh=x.py.sh"}},
		{name: "alike but for case", // C37
			files: tree{"scripts/status.py": "", "scripts/Status.py": ""}, want: []string{"Status=Status.py"}, codes: []string{"script-case"}},
		{name: "names that cannot be called", files: tree{"scripts/my script.py": "", "scripts/é.py": "", "scripts/a..b.py": ""},
			codes: []string{"script-name", "script-name", "script-name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, codes := describe(List(files(tt.files), &tt.m))
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("scripts differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	scripts, _ := List(files(tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": "", "scripts/a_b.py": ""}), &manifest.Manifest{})
	for ask, want := range map[string]string{
		"Status": "scripts/Status.py", "status": "scripts/Status.py", "status.py": "scripts/Status.py", "STATUS.PY": "scripts/Status.py", // R45
		"run.sh": "scripts/run.sh", "Run.py": "scripts/run.py", "run": "? run.py run.sh", "status.sh": "? ", "xyz": "? ",
	} {
		sc, same, ok := Find(scripts, ask)
		got := sc.File
		if !ok {
			got = "? " + strings.Join(same, " ")
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", ask, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"status", "Status.py", "../x", ".", "a..b", "a/b", "run.py", "ſ"} {
		f.Add(s)
	}
	scripts, _ := List(files(tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": ""}), &manifest.Manifest{})
	f.Fuzz(func(t *testing.T, name string) {
		if !ValidName(name) {
			return
		}
		if strings.ContainsAny(name, "/\\ \x00") || strings.HasPrefix(name, ".") || strings.Contains(name, "..") || !filepath.IsLocal(name) && filepath.Separator == '/' {
			t.Fatalf("%q is valid", name)
		}
		lower, _, lowerOK := Find(scripts, strings.ToLower(name))
		upper, _, upperOK := Find(scripts, strings.ToUpper(name))
		if lower != upper || lowerOK != upperOK {
			t.Fatalf("%q: %v, %v and %v, %v", name, lower, lowerOK, upper, upperOK)
		}
	})
}
