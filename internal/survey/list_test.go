package survey

import (
	"fmt"
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

// describe returns the listed scripts as NAME=FILE, the file without "scripts/", and the codes of the problems.
func describe(s *Set) (names, codes []string) {
	for _, sc := range s.List() {
		names = append(names, sc.Name+"="+strings.TrimPrefix(sc.File, "scripts/"))
	}
	for _, p := range s.Problems() {
		codes = append(codes, p.Code)
	}
	return names, codes
}

// paths returns the files of scripts.
func paths(scripts []Script) (out []string) {
	for _, sc := range scripts {
		out = append(out, sc.File)
	}
	return out
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
		rule  Rule
		want  []string
		codes []string
	}{
		{name: "no folder", files: tree{"SKILL.md": ""}},
		{name: "scripts is a file", files: tree{"scripts": "x"}},
		{name: "every extension", // R50, C29
			files: tree{"scripts/a.py": "", "scripts/b.sh": "", "scripts/c.js": "", "scripts/d.ts": "", "scripts/e.rb": "", "scripts/f.pl": "", "scripts/G.PY": "", "scripts/notes.md": "x", "scripts/data.json": "{}"},
			want:  []string{"a=a.py", "b=b.sh", "c=c.js", "d=d.ts", "e=e.rb", "f=f.pl", "G=G.PY"}},
		{name: "every further extension", // C62
			files: tree{"scripts/a.mjs": "", "scripts/b.cjs": "", "scripts/c.mts": "", "scripts/d.tsx": "", "scripts/e.ps1": "", "scripts/f.cts": "", "scripts/g.jsx": ""},
			want:  []string{"a=a.mjs", "b=b.cjs", "c=c.mts", "d=d.tsx", "e=e.ps1"}},
		{name: "agent-base: the six extensions, a #! line and a program, directly in scripts", rule: Direct, // C62
			files: tree{"scripts/a.py": "", "scripts/b.mjs": "", "scripts/c.ps1": "", "scripts/sub/d.py": "", "src/e.py": "", "f.py": "", "scripts/g*": "#!/bin/sh\n", "scripts/h*": elf, "scripts/test_i.py": ""},
			m:     manifest.Manifest{Body: "python src/e.py\npython scripts/sub/d.py"},
			want:  []string{"a=a.py", "g=g", "h=h", "test_i=test_i.py"}},
		{name: "deeper: what is made to be started, or named", // C62
			files: tree{"scripts/office/unpack.py": "import sys\nif __name__ == '__main__':\n\tmain()\n", "scripts/office/pack.py": "#!/usr/bin/env python3\n", "scripts/office/run.py*": "", "scripts/office/base.py": "def f(): pass\n",
				"scripts/office/named.py": "", "scripts/office/pasted.sh": "", "scripts/office/quoted.py": "# if __name__ == '__main__'", "scripts/office/util.ts": "", "scripts/office/tool*": "#!/bin/sh\n"},
			m:    manifest.Manifest{Body: "See scripts/office/named.py.\n`bash ${CLAUDE_SKILL_DIR}/scripts/office/pasted.sh`"},
			want: []string{"office/named=office/named.py", "office/pack=office/pack.py", "office/pasted=office/pasted.sh", "office/run=office/run.py", "office/tool=office/tool", "office/unpack=office/unpack.py"}},
		{name: "modules of a package", // C62
			files: tree{"scripts/pkg/__init__.py": "", "scripts/pkg/template.py*": "#!/usr/bin/env python3\n", "scripts/pkg/cli.py": "x = 1\nif __name__ == \"__main__\":\n    main()\n", "scripts/pkg/run.sh": "#!/bin/sh\n",
				"scripts/deep/base.py": "if __name__ == '__main__':\n\n    raise RuntimeError('not to be run')\n", "scripts/deep/one.py": "if __name__ == '__main__': main()"},
			want: []string{"deep/one=deep/one.py", "pkg/cli=pkg/cli.py", "pkg/run=pkg/run.sh"}},
		{name: "elsewhere: what is named", // C62
			files: tree{"run.py": "#!/bin/sh\n", "setup.py": "", "more": "#!/bin/sh\n", "src/a.py": "", "src/b.py": "if __name__ == '__main__': x()\n", "bin/tool*": "#!/bin/sh\n", "assets/t.tsx": "", "lib/deep/er.mjs": ""},
			m:     manifest.Manifest{Name: "my-skill", Body: "Run `./run.py x`, [this]({baseDir}/src/a.py), ~/.claude/skills/My_Skill/bin/tool and \"$SKILL_DIR\"/lib/deep/er.mjs: more. xsetup.py, src/b.pyc, x/src/b.py"},
			want:  []string{"bin/tool=bin/tool", "lib/deep/er.mjs=lib/deep/er.mjs", "run.py=run.py", "src/a.py=src/a.py"}},
		{name: "parts of packages and tests are no scripts to offer, unless a command line runs them", // C62
			files: tree{"scripts/__init__.py": "", "scripts/conftest.py": "", "scripts/test_a.py": "", "scripts/b_test.py": "", "scripts/c.test.ts": "", "scripts/d.spec.js": "", "scripts/tests/e.py*": "#!/bin/sh\n", "tests/f.sh": "#!/bin/sh\n",
				"scripts/contest.py": "", "scripts/g.py": "", "scripts/test_run.py": ""},
			m:    manifest.Manifest{Body: "scripts/__init__.py scripts/test_a.py tests/f.sh\n```\npython3 -u \\\n  scripts/test_run.py\n```"},
			want: []string{"contest=contest.py", "g=g.py", "test_run=test_run.py"}},
		{name: "folders that are not entered", // C62
			files: tree{"node_modules/a.js": "", ".git/hooks/b": "#!/bin/sh\n", "__pycache__/c.py": "", ".venv/bin/d.py": "", "scripts/node_modules/x/e.js*": "#!/bin/sh\n", "scripts/.hidden/f.py*": "#!/bin/sh\n"},
			m:     manifest.Manifest{Body: "node_modules/a.js __pycache__/c.py .venv/bin/d.py scripts/node_modules/x/e.js scripts/.hidden/f.py"}},
		{name: "by first bytes", // C29
			files: tree{"scripts/tool*": "#!/bin/sh\n", "scripts/later.lua": "#!/usr/bin/lua\n", "scripts/prog*": elf, "scripts/plain*": "no script", "scripts/lib.so*": elf, "scripts/noexec": elf, "scripts/empty*": ""},
			want:  []string{"later=later.lua", "prog=prog", "tool=tool"}, codes: []string{"script-kind", "script-kind"}},
		{name: "dot files and folders below", files: tree{"scripts/.hidden.py": "", "scripts/sub/x.py": "", "scripts/__pycache__/a.pyc": ""}},
		{name: "ignored anywhere", files: tree{"scripts/sub/_x.py*": "", "scripts/sub/y.py*": "", "scripts/sub/z.py*": "", "src/w.py": ""},
			m:    manifest.Manifest{ScriptsIgnore: []string{"_*.py", "sub/y.py", "src/**"}, Body: "python src/w.py"},
			want: []string{"sub/z=sub/z.py"}},
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
		{name: "declared but missing, of no kind, not to be called",
			files: tree{"scripts/a.txt": "x", "scripts/sub/b.py": "", "scripts/dir.py/x": "", "scripts/my x.py": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"gone", "a.txt", "../../etc/passwd", "dir.py", "my x.py"}},
			codes: []string{"script-missing", "script-kind", "script-missing", "script-kind", "script-name"}},
		{name: "declared elsewhere", // R31, C62
			files: tree{"scripts/sub/b.py": "", "src/c.py": "", "scripts/a.py": "", "d.py": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"sub/b", "src/c.py", "./d.py"}}, want: []string{"d.py=d.py", "src/c.py=src/c.py", "sub/b=sub/b.py"}},
		{name: "agent-base: declared elsewhere", rule: Direct, // R31
			files: tree{"scripts/sub/b.py": "", "scripts/a.py": ""},
			m:     manifest.Manifest{ScriptsDeclared: true, Scripts: []string{"sub/b.py", "a"}}, want: []string{"a=a.py"}, codes: []string{"scripts-value"}},
		{name: "declared nothing", files: tree{"scripts/a.py": ""}, m: manifest.Manifest{ScriptsDeclared: true}},
		{name: "alike but for the extension", // 1.3 Script name
			files: tree{"scripts/run.py": "", "scripts/Run.sh": "", "scripts/x.py": "", "scripts/x.py.sh": ""},
			want:  []string{"run.py=run.py", "Run.sh=Run.sh", "x=x.py", "x.py.sh=x.py.sh"}},
		{name: "alike but for case", // C37
			files: tree{"scripts/status.py": "", "scripts/Status.py": ""}, want: []string{"Status=Status.py"}, codes: []string{"script-case"}},
		{name: "folders alike but for case", // C37, C62
			files: tree{"scripts/Sub/x.py*": "", "scripts/sub/x.py*": "", "Scripts/sub/x.py": ""}, want: []string{"Sub/x=Sub/x.py"}, codes: []string{"script-case"}},
		{name: "the same name in two folders", // C62
			files: tree{"scripts/run.py": "", "scripts/a/run.py*": "", "scripts/b/run.py*": "", "scripts/b/run.sh*": "", "run.py": "", "a/run.py": ""},
			m:     manifest.Manifest{Body: "./run.py and a/run.py"},
			want:  []string{"./run.py=run.py", "a/run.py=a/run.py", "b/run.py=b/run.py", "b/run.sh=b/run.sh", "run=run.py", "scripts/a/run.py=a/run.py"}},
		{name: "names that cannot be called", files: tree{"scripts/my script.py": "", "scripts/a\u200db.py": "", "scripts/a..b.py": "", "scripts/my folder/x.py": "", "app/[slug]/page.tsx": "", "scripts/my notes.md": ""},
			codes: []string{"script-name", "script-name", "script-name", "script-name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, codes := describe(Of(files(tt.files), &tt.m, &Options{Rule: tt.rule}))
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("scripts differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}
