package script

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/manifest"
)

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
			want: []string{"a=a.py"}, codes: []string{"script-ignore-pattern"}},
		{name: "a pattern of 2^24 alternatives, others stay", files: tree{"scripts/b.py": "", "scripts/c.py": ""}, // lessons: a glob must not hang
			m: manifest.Manifest{ScriptsIgnore: []string{strings.Repeat("{x,x}", 24) + "b", "c.py"}}, want: []string{"b=b.py"}, codes: []string{"script-ignore-pattern"}},
		{name: "a pattern too long", files: tree{"scripts/b.py": ""}, m: manifest.Manifest{ScriptsIgnore: []string{strings.Repeat("*", 257)}},
			want: []string{"b=b.py"}, codes: []string{"script-ignore-pattern"}},
		{name: "too many patterns are told once, names are none", files: tree{"scripts/b.py": "", "scripts/n99.py": ""},
			m:    manifest.Manifest{ScriptsIgnore: append(numbered("n%d.py", 100), append(numbered("x%d*", 64), "b*", "b?py")...)},
			want: []string{"b=b.py"}, codes: []string{"script-ignore-pattern"}},
		{name: "declared with and without extension", // R31
			files: tree{"scripts/a.py": "", "scripts/b.py": "", "scripts/c.py": "", "scripts/d.py": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"a", "b.py", "scripts/c.py", "./scripts/c.py", "A", "D.PY"}},
			want:  []string{"a=a.py", "b=b.py", "c=c.py", "d=d.py"}},
		{name: "declared beats ignored", files: tree{"scripts/_a.py": ""},
			m: manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"_a"}, ScriptsIgnore: []string{"_*"}}, want: []string{"_a=_a.py"}},
		{name: "declared but missing, elsewhere, of no kind",
			files: tree{"scripts/a.txt": "x", "scripts/sub/b.py": "", "scripts/dir.py/x": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"gone", "sub/b.py", "a.txt", "../../etc/passwd", "dir.py"}},
			codes: []string{"script-missing", "script-path", "script-kind", "script-path", "script-kind"}},
		{name: "declared nothing", files: tree{"scripts/a.py": ""}, m: manifest.Manifest{ScriptsDeclared: true}},
		{name: "alike but for the extension", // 1.3 Script name
			files: tree{"scripts/run.py": "", "scripts/Run.sh": "", "scripts/x.py": "", "scripts/x.py.sh": ""},
			want:  []string{"run.py=run.py", "Run.sh=Run.sh", "x=x.py", "x.py.sh=x.py.sh"}},
		{name: "alike but for case", // C37
			files: tree{"scripts/status.py": "", "scripts/Status.py": ""}, want: []string{"Status=Status.py"}, codes: []string{"script-case"}},
		{name: "names that cannot be called", files: tree{"scripts/my script.py": "", "scripts/é.py": "", "scripts/a..b.py": ""},
			codes: []string{"script-name", "script-name", "script-name"}},
		{name: "permissions that name nothing", m: manifest.Manifest{Permissions: manifest.Permissions{Env: []string{"*", "A_*", "*_TOKEN", "LD_*", "[A", ""}}},
			codes: []string{"permissions-env", "permissions-env", "permissions-env", "permissions-env", "permissions-env"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, codes := describe(list(files(tt.files), &tt.m))
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("scripts differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

// C38, R50, lessons 2.1 #16: a script that is a link is denied, found or listed, also inside the skill.
func TestLinksAreNoScripts(t *testing.T) {
	for _, front := range []string{"", "scripts: [real, link]\n"} {
		s := open(t, front, tree{"scripts/real.py": "", "lib/inside.py": ""})
		dir, err := s.Dir(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../lib/inside.py", filepath.Join(dir, "scripts", "link.py")); err != nil {
			t.Fatal(err)
		}
		names, codes := describe(List(s))
		if !slices.Equal(names, []string{"real=real.py"}) || !slices.Equal(codes, []string{"script-symlink"}) {
			t.Errorf("%q: got %v, problems %v", front, names, codes)
		}
	}
	s := open(t, "", tree{"other/a.py": ""})
	dir, _ := s.Dir(t.Context())
	if err := os.Symlink("other", filepath.Join(dir, "scripts")); err != nil {
		t.Fatal(err)
	}
	if names, codes := describe(List(s)); names != nil || !slices.Equal(codes, []string{"script-symlink"}) {
		t.Errorf("got %v, problems %v", names, codes)
	}
}

func TestFind(t *testing.T) {
	scripts, _ := list(files(tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": "", "scripts/a_b.py": ""}), &manifest.Manifest{})
	tests := []struct {
		ask, want string
		code      Code
		text      string
	}{
		{ask: "Status", want: "scripts/Status.py"}, // R45
		{ask: "status", want: "scripts/Status.py"},
		{ask: "status.py", want: "scripts/Status.py"},
		{ask: "STATUS.PY", want: "scripts/Status.py"},
		{ask: "run.sh", want: "scripts/run.sh"},
		{ask: "Run.py", want: "scripts/run.py"},
		{ask: "run", code: NotFound, text: "Script 'run' not found in skill 'probe': say which, run.py or run.sh"},
		{ask: "status.sh", code: NotFound, text: "Script 'status.sh' not found in skill 'probe'"}, // R104
		{ask: "xyz", code: NotFound, text: "Script 'xyz' not found in skill 'probe'"},
		{ask: "../etc", code: InvalidName, text: "Invalid script name: '../etc'"}, // R104, R46, C32
		{ask: "/etc/passwd", code: InvalidName, text: "Invalid script name: '/etc/passwd'"},
		{ask: "scripts/status.py", code: InvalidName, text: "Invalid script name: 'scripts/status.py'"},
		{ask: ".hidden", code: InvalidName, text: "Invalid script name: '.hidden'"},
		{ask: "", code: InvalidName, text: "Invalid script name: ''"},
		{ask: "a b", code: InvalidName, text: "Invalid script name: 'a b'"},
		{ask: "~", code: InvalidName, text: "Invalid script name: '~'"},
		{ask: "__pycache__", code: InvalidName, text: "Invalid script name: '__pycache__'"},
		{ask: "status\x00", code: InvalidName, text: "Invalid script name: 'status\x00'"},
		{ask: "ſtatus", code: InvalidName, text: "Invalid script name: 'ſtatus'"}, // security 2.2 #25
		{ask: strings.Repeat("a", 129), code: InvalidName, text: "Invalid script name: '" + strings.Repeat("a", 129) + "'"},
	}
	for _, tt := range tests {
		t.Run(tt.ask, func(t *testing.T) {
			if !validName(tt.ask) != (tt.code == InvalidName) {
				t.Errorf("validName is %v", validName(tt.ask))
			}
			if tt.code == InvalidName {
				return
			}
			got, err := find(scripts, "probe", tt.ask)
			if tt.code == "" && (err != nil || got.File != tt.want) {
				t.Fatalf("got %v, %v, want %s", got, err, tt.want)
			}
			if tt.code != "" {
				if e, ok := err.(*Error); !ok || e.Code != tt.code || e.Message != tt.text {
					t.Errorf("got %v, want %s %q", err, tt.code, tt.text)
				}
			}
		})
	}
	s := open(t, "", tree{"scripts/a.py": ""})
	_, err := Find(s, "../etc")
	if e := failure(t, err, InvalidName, ""); e.Error() != "Invalid script name: '../etc'" {
		t.Errorf("got %q", e.Message)
	}
	if sc, err := Find(s, "A"); err != nil || sc.Name != "a" {
		t.Errorf("got %v, %v", sc, err)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"status", "Status.py", "../x", ".", "a..b", "a/b", "run.py", "ſ"} {
		f.Add(s)
	}
	scripts, _ := list(files(tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": ""}), &manifest.Manifest{})
	f.Fuzz(func(t *testing.T, name string) {
		if !validName(name) {
			return
		}
		if strings.ContainsAny(name, "/\\ \x00") || strings.HasPrefix(name, ".") || strings.Contains(name, "..") || !filepath.IsLocal(name) && filepath.Separator == '/' {
			t.Fatalf("%q is valid", name)
		}
		lower, lowerErr := find(scripts, "probe", strings.ToLower(name))
		upper, upperErr := find(scripts, "probe", strings.ToUpper(name))
		if lower != upper || (lowerErr == nil) != (upperErr == nil) {
			t.Fatalf("%q: %v, %v and %v, %v", name, lower, lowerErr, upper, upperErr)
		}
	})
}

func TestCheckArgs(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"none", nil, ""},
		{"the most", slices.Repeat([]string{"a"}, 100), ""},
		{"too many", slices.Repeat([]string{"a"}, 150), "Too many arguments: 150 (max 100)"}, // R104
		{"all bytes", []string{strings.Repeat("a", 4095), "b"}, ""},                          // C30
		{"one byte more", []string{strings.Repeat("a", 4095), "bc"}, "Arguments too large: 4097 bytes (max 4096)"},
		{"counted in bytes", []string{strings.Repeat("é", 2049)}, "Arguments too large: 4098 bytes (max 4096)"},
		{"3 MiB", slices.Repeat([]string{strings.Repeat("a", 32<<10)}, 96), "Arguments too large: 3145728 bytes (max 4096)"}, // security 2.5 #53
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckArgs(tt.args)
			if tt.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if e, ok := err.(*Error); !ok || e.Code != ArgsTooLarge || e.Message != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	// R102: NUL is not too large, it is a call that cannot be made.
	failure(t, CheckArgs([]string{"a", "b\x00c"}), ExecutionFailed, ReasonArgument, "Argument 2 holds a NUL character, which no program can be given: leave it out")
}
