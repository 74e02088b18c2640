package allow_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session/allow"
)

// C7, security 2.11 #168: files are compared by where the host's resolver says that a path leads.
func TestPaths(t *testing.T) {
	o := &allow.Options{Roots: []string{"/work", "/skills/pdf"}, Home: "/home/u"}
	linked := *o
	linked.Resolve = func(name string) (string, error) {
		switch name {
		case "src/link":
			return "/etc/passwd", nil
		case "skills/pdf/references/a.md":
			return "/skills/pdf/references/a.md", nil
		case "odd":
			return "src/odd", nil
		}
		return "", errors.New("leads out")
	}
	for _, tt := range []struct {
		o          *allow.Options
		rule, tool string
		yes, no    []string
	}{
		{o, "Read(references/**)", "read_file", []string{"references/a.md", "/skills/pdf/references/b/c.md", "/work/references/x", "./references/x", "x/../references/y"},
			[]string{"a.md", "references/../a.md", "/etc/references/x", "/skills/references/x", ""}},
		{o, "Edit(./src/**)", "edit_file", []string{"src/a.go", "src/b/c.go"}, []string{"a.go", "../work2/src/a.go", "/src/a.go"}},
		{o, "Edit(/src/*.go)", "edit_file", []string{"src/a.go"}, []string{"src/b/a.go", "src/a.py"}},
		{o, "Write(out/)", "write_file", []string{"out/a", "out/b/c"}, []string{"outer/a"}},
		{o, "Read(//etc/hosts)", "read_file", []string{"/etc/hosts"}, []string{"/etc/passwd", "etc/hosts"}},
		{o, "Read(//etc/**)", "Read", []string{"/etc/a/b"}, []string{"/etcetera"}},
		{o, "Read(~/notes/**)", "read_file", []string{"/home/u/notes/a"}, []string{"/home/u/a", "~/notes/a", "/home/v/notes/a"}},
		{o, "Read(*.md)", "read_file", []string{"a.md"}, []string{"b/a.md", ".md/x"}},
		{o, "Glob(src/**)", "LS", []string{"src", "src/a"}, []string{".", "srcs", "src/.."}},
		{o, "Grep(src/*)", "grep", nil, []string{"src", "."}},
		{o, "Grep(**/*.go)", "grep", nil, []string{".", "src"}},
		{&linked, "Read(src/**)", "read_file", nil, []string{"src/link", "src/missing", "odd"}},
		{&linked, "Read(references/*)", "read_file", []string{"skills/pdf/references/a.md"}, nil},
		{&allow.Options{}, "Read(src/**)", "read_file", nil, []string{"src/a", "/src/a"}},
		{&allow.Options{}, "Read(~/x)", "read_file", nil, []string{"/x", "x", "~/x"}},
	} {
		l := list(t, tt.o, tt.rule)
		for _, p := range tt.yes {
			if r := l.Check(call(tt.tool, "file_path", p)); r != nil {
				t.Errorf("%s refuses %q: %s", tt.rule, p, r.Why)
			}
		}
		for _, p := range tt.no {
			if l.Check(call(tt.tool, "file_path", p)) == nil {
				t.Errorf("%s allows %q", tt.rule, p)
			}
		}
	}
}

func raw(tool, args string) allow.Call { return allow.Call{Tool: tool, Args: json.RawMessage(args)} }

// Everything that a call names must be covered.
func TestCallsThatNameSeveralThings(t *testing.T) {
	o := &allow.Options{Roots: []string{"/work"}}
	l := list(t, o, "Read(src/**)", "Glob(src/**)", "Edit(src/**)", "WebFetch(domain:go.dev)")
	for _, tt := range []struct {
		call allow.Call
		want bool
	}{
		{raw("read_many_files", `{"paths":["src/a"]}`), false}, // a tool that is not known
		{raw("read_file", `{"paths":["src/a","src/b"]}`), true},
		{raw("read_file", `{"paths":["src/a","b"]}`), false},
		{raw("read_file", `{"file_path":"src/a","path":"b"}`), false},
		{raw("read_file", `{}`), false},
		{raw("glob", `{"pattern":"src/**/*.go"}`), true},
		{raw("glob", `{"pattern":"**/*.go"}`), false},
		{raw("glob", `{"pattern":"*.go","path":"src"}`), true},
		{raw("glob", `{"pattern":"../*.go","path":"src"}`), false},
		{raw("glob", `{"pattern":"*/../../x","path":"src"}`), false},
		{raw("glob", `{"pattern":"/etc/*","path":"src"}`), false},
		{raw("glob", `{}`), false},
		{raw("apply_patch", `{"input":"*** Update File: /etc/passwd"}`), false},
		{raw("web_fetch", `{"url":"https://go.dev/x"}`), true},
		{raw("web_fetch", `{"prompt":"read https://go.dev"}`), false},
	} {
		if got := l.Check(tt.call) == nil; got != tt.want {
			t.Errorf("%s %s is allowed: %v", tt.call.Tool, tt.call.Args, got)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		rule, url string
		want      bool
	}{
		{"WebFetch(domain:go.dev)", "https://go.dev", true},
		{"WebFetch(domain:go.dev)", "HTTPS://GO.dev:443/x?y#z", true},
		{"WebFetch(domain:go.dev)", "http://pkg.go.dev", false},
		{"WebFetch(domain:go.dev)", "https://go.dev.evil.org", false},
		{"WebFetch(domain:go.dev)", "https://go.dev@evil.org", false},
		{"WebFetch(domain:go.dev)", "https://evil.org#go.dev", false},
		{"WebFetch(domain:go.dev)", `https://evil.org\@go.dev`, false},
		{"WebFetch(domain:go.dev)", "file://go.dev/etc/passwd", false},
		{"WebFetch(domain:go.dev)", "//go.dev", false},
		{"WebFetch(domain:*.go.dev)", "https://pkg.go.dev", true},
		{"WebFetch(domain:*.go.dev)", "https://go.dev", false},
		{"WebFetch(domain:*.go.dev)", "https://evilgo.dev", false},
		{"WebFetch(domain:localhost)", "http://localhost:8080/", true},
		{"WebFetch(domain:[::1])", "http://[::1]:80/", true},
		{"WebFetch(*)", "anything", true},
	} {
		if got := list(t, nil, tt.rule).Check(call("WebFetch", "url", tt.url)) == nil; got != tt.want {
			t.Errorf("%s: %s is allowed: %v", tt.rule, tt.url, got)
		}
	}
}

func TestSkillsAndAgents(t *testing.T) {
	l := list(t, nil, "Skill(pdf-tools)", "Skill(team-* *)", "Task(reviewer)")
	for _, tt := range []struct {
		call allow.Call
		want bool
	}{
		{call("skill", "skill_name", "PDF_tools"), true},
		{call("Skill", "skill", "pdf-tools"), true},
		{call("skill", "skill_name", "team-a"), true},
		{call("skill", "skill_name", "pdf-tools2"), false},
		{raw("skill", `{"skill":"pdf-tools","skill_name":"other"}`), false},
		{call("skill", "args", "pdf-tools"), false},
		{call("Agent", "subagent_type", "reviewer"), true},
		{call("Task", "subagent_type", "writer"), false},
	} {
		if got := l.Check(tt.call) == nil; got != tt.want {
			t.Errorf("%s %s is allowed: %v", tt.call.Tool, tt.call.Args, got)
		}
	}
}

// R126 C7: a rule for a shell is about the scripts of the skill, too.
func TestScripts(t *testing.T) {
	o := &allow.Options{Skill: "pdf", Dir: "/skills/pdf", Script: func(skill, name string) (allow.Script, bool) {
		paths := map[string]string{"fill": "scripts/fill.py", "scan": "scripts/scan.sh", "web": "web/run.ts"}
		return allow.Script{Skill: skill, Dir: filepath.Join("/skills", skill), Path: paths[name]}, paths[name] != ""
	}}
	fill, other := raw("script_run", `{"skill_name":"pdf","script_name":"fill","args":["--in","a b",3]}`), raw("script_run", `{"skill":"doc","script":"fill"}`)
	scan, help := raw("script_run", `{"skill_name":"pdf","script_name":"scan"}`), raw("script_help", `{"skill_name":"pdf","script_name":"fill"}`)
	web := raw("script_run", `{"skill_name":"pdf","script_name":"web"}`)
	calls := []allow.Call{fill, other, scan, help, web}
	for rules, want := range map[string]string{
		"Bash":                                   "11111",
		"script_run":                             "11111",
		"Read":                                   "00000",
		"Bash(git:*)":                            "00000",
		"Bash(python:*)":                         "11010",
		"Bash(python3 *)":                        "11010",
		"Bash(uv run:*)":                         "11010",
		"Bash(bash:*)":                           "00100",
		"Bash(npx tsx:*)":                        "00001",
		"Bash(python scripts/fill.py:*)":         "10010",
		"Bash(python scripts/fill.py)":           "00000",
		"Bash(python3 scripts/*)":                "10010",
		"Bash(./scripts/*)":                      "10110",
		"Bash(scripts/scan.sh:*)":                "00100",
		"Bash({baseDir}/scripts/scan.sh:*)":      "00100",
		"Bash(${CLAUDE_SKILL_DIR}/scripts/*)":    "10110",
		"Bash(/skills/doc/scripts/*)":            "01000",
		"Bash(bash /skills/pdf/scripts/scan.sh)": "00100",
	} {
		got := ""
		l := list(t, o, rules)
		for _, c := range calls {
			if l.Check(c) == nil {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", rules, got, want)
		}
	}
	l := list(t, o, "Bash(python:*)")
	for _, args := range []string{`{}`, `{"skill_name":"pdf"}`, `{"skill_name":"pdf","script_name":"fill","args":{}}`,
		`{"skill_name":"pdf","skill":"doc","script_name":"fill"}`, `{"skill_name":"pdf","script_name":"fill","script_name":"scan"}`} {
		if l.Check(raw("script_run", args)) == nil {
			t.Errorf("%s is allowed", args)
		}
	}
}

// security 2.11 #165: a list of what is forbidden names a call as soon as a part of it is named.
func TestMentions(t *testing.T) {
	o := &allow.Options{Roots: []string{"/work"}}
	for _, tt := range []struct {
		rule    string
		yes, no []allow.Call
	}{
		{"Bash(git push:*)", []allow.Call{bash("git push"), bash("ls && git push x"), bash("(git push)"), bash("x=$(git push)"), bash("sudo -n git push"),
			bash("/usr/bin/git push"), bash("if a; then git push; fi"), bash("git 'unclosed"), raw("bash", `{"command":["git","push"]}`), bash("git push > x")},
			[]allow.Call{bash("git pull"), bash("echo 'git push'"), bash("for f in *; do echo $f; done"), call("read_file", "file_path", "git push")}},
		{"Bash", []allow.Call{bash("ls"), raw("script_run", `{"skill_name":"a","script_name":"b"}`)}, []allow.Call{call("read_file", "file_path", "a")}},
		{"Read(.env)", []allow.Call{call("read_file", "file_path", ".env"), call("read_file", "file_path", "a/.env"), call("grep", "path", "a/.env"), call("read_file", "file_path", "x\x00")},
			[]allow.Call{call("read_file", "file_path", "env"), call("grep", "path", "a"), call("write_file", "file_path", ".env")}},
		{"Edit(src)", []allow.Call{call("edit_file", "file_path", "src/a/b"), call("write_file", "file_path", "src")}, []allow.Call{call("edit_file", "file_path", "srcs/a")}},
		{"Edit", []allow.Call{call("write_file", "file_path", "a")}, []allow.Call{call("read_file", "file_path", "a")}},
		{"Read", []allow.Call{raw("skill_read", `{}`), raw("glob", `{}`)}, []allow.Call{raw("script_list", `{}`)}},
		{"WebFetch(domain:go.dev)", []allow.Call{call("web_fetch", "url", "https://go.dev/x"), raw("web_fetch", `{"url":5}`)}, []allow.Call{call("web_fetch", "url", "https://x.org")}},
		{"Skill(pdf)", []allow.Call{call("skill", "skill_name", "PDF")}, []allow.Call{call("skill", "skill_name", "doc")}},
		{"mcp__github__*", []allow.Call{raw("mcp__github__x", `{}`)}, []allow.Call{raw("mcp__gitlab__x", `{}`)}},
		{"Bash(python:*)", []allow.Call{raw("script_run", `{"skill_name":"a","script_name":"x.py"}`), raw("script_run", `{}`)}, []allow.Call{raw("script_run", `{"skill_name":"a","script_name":"x.sh"}`)}},
	} {
		l := list(t, o, "LSP", tt.rule)
		for _, c := range tt.yes {
			if r, ok := l.Names(c); !ok || r.Text != tt.rule {
				t.Errorf("%s does not name %s %s", tt.rule, c.Tool, c.Args)
			}
		}
		for _, c := range tt.no {
			if _, ok := l.Names(c); ok {
				t.Errorf("%s names %s %s", tt.rule, c.Tool, c.Args)
			}
		}
	}
	if _, ok := (*allow.List)(nil).Names(bash("ls")); ok {
		t.Error("no list names a call")
	}
}

// Read with a path is about files of the workspace. The files of skills, which skill_read names below their own folders, are none.
func TestReadingOfSkills(t *testing.T) {
	o := &allow.Options{Roots: []string{"/work"}}
	note := raw("skill_read", `{"skill_name":"other","path":"notes/a.md"}`)
	if list(t, o, "Read(notes/**)").Check(note) == nil {
		t.Error("Read(notes/**) allows a file of a skill")
	}
	if r := list(t, o, "Read").Check(note); r != nil {
		t.Errorf("Read refuses a file of a skill: %s", r.Why)
	}
}

// security 2.11 #166: what a rule really allows is said in words.
func TestReach(t *testing.T) {
	for rule, want := range map[string]string{
		"Bash":                            "a shell runs any command",
		"Bash(*)":                         "a shell runs any command",
		"Bash(git:*)":                     "git runs programs that its options, its configuration and its aliases name",
		"Bash(git *)":                     "git runs programs that its options, its configuration and its aliases name",
		"Bash(git status:*)":              "",
		"Bash(git rebase:*)":              "git runs programs that its options, its configuration and its aliases name",
		"Bash(git rebase main)":           "",
		"Bash(python:*)":                  "python runs any program that it is given",
		"Bash(python3.11:*)":              "python3.11 runs any program that it is given",
		"Bash(/usr/bin/python3:*)":        "python3 runs any program that it is given",
		"Bash(python3 scripts/fill.py:*)": "",
		"Bash(python -m:*)":               "python runs any program that it is given",
		"Bash(python *)":                  "python runs any program that it is given",
		"Bash(npx:*)":                     "npx fetches and runs any package",
		"Bash(npm:*)":                     "npm runs the programs of packages and of package.json",
		"Bash(npm list:*)":                "",
		"Bash(find:*)":                    "find runs the command after -exec, and deletes and writes files",
		"Bash(gh pr view:*)":              "",
		"Bash(gh pr:*)":                   "gh runs git, its extensions and its aliases, and writes files",
		"Bash(gh repo clone:*)":           "gh runs git, its extensions and its aliases, and writes files",
		"Bash(gh api:*)":                  "gh runs git, its extensions and its aliases, and writes files",
		"Bash(npm audit:*)":               "npm runs the programs of packages and of package.json",
		"Bash(pip list:*)":                "",
		"Bash(kubectl get:*)":             "",
		"Bash(terraform get:*)":           "terraform runs programs on other machines, and those that a configuration names",
		"Bash(curl:*)":                    "curl sends any file that can be read, and writes any file, such as one that runs later",
		"Bash(curl -s https://x.dev)":     "",
		"Bash(pandoc:*)":                  "pandoc runs the programs that its options name, and writes files",
		"Bash(pytest:*)":                  "pytest runs the code that a project's configuration names",
		"Bash(rg:*)":                      "rg runs the command after --pre",
		"Bash(sqlite3:*)":                 "sqlite3 runs commands from within",
		"Bash(claude:*)":                  "claude runs an agent that has tools of its own",
		"Bash(brew:*)":                    "brew installs any program, with the scripts of its package",
		"Bash(Rscript:*)":                 "Rscript runs any program that it is given",
		"Bash(rsync:*)":                   "rsync runs the programs that its options name",
		"Bash(tar:*)":                     "tar runs the programs that its options name",
		"Bash(make:*)":                    "make runs any command that a file names",
		"Bash(ssh:*)":                     "ssh runs commands here and on other machines",
		"Bash(jq:*)":                      "",
		"Bash(command -v:*)":              "",
		"Bash(command:*)":                 "command runs the command that it is given",
		"Bash(python*watch*)":             "python runs any program that it is given",
		"Bash(env:*)":                     "env runs the command that it is given",
		"Bash(source:*)":                  "source runs the command that it is given",
		"Bash(docker:*)":                  "docker runs any program, with any folder of this machine",
		"Bash(ls:*)":                      "",
		"Bash(infsh *)":                   "",
		"Read":                            "",
		"Edit(**)":                        "",
	} {
		got := list(t, nil, rule).Rules()[0].Reach()
		if got.Why != want || got.Code != (want != "") {
			t.Errorf("%s: got %+v, want %q", rule, got, want)
		}
	}
}

// Every rule that the field has in public skills is understood or reported.
func TestPublicForms(t *testing.T) {
	understood := strings.Fields(`Read Grep Bash Glob Write Edit Skill Task AskUserQuestion WebFetch WebSearch web_fetch TaskCreate TaskUpdate TaskList TaskGet Agent
		Workflow LS List SendMessage EnterPlanMode ExitPlanMode EnterWorktree TaskStop TodoRead TodoWrite LSP mcp__serena__activate_project mcp__chrome-devtools__* Bash(git:*) Bash(mkdir*) Bash(apktool:*)
		Bash({baseDir}/scanner.sh:*) Bash(${CLAUDE_PLUGIN_ROOT}/scripts/x.sh:*) Bash(source:*) MultiEdit NotebookEdit run_shell_command read_many_files
		stitch*:* chrome*:* github:search github/search github/* mcp_shadcn* exec web_extract Artifact`)
	for _, rule := range append(understood, "Bash(infsh *)", "Bash(gh issue:*)") {
		l, problems := allow.Parse([]string{rule}, nil)
		if len(problems) > 0 || rule != "read_many_files" && !l.Rules()[0].Known() {
			t.Errorf("%s: %v", rule, problems)
		}
	}
	for rule, tool := range map[string]string{"github/*": "mcp__github__star", "mcp_shad*": "mcp__shadcn__add", "github/search": "mcp__github__search", "exec": "bash"} {
		if r := list(t, nil, rule).Check(call(tool, "command", "ls")); r != nil {
			t.Errorf("%s does not allow %s", rule, tool)
		}
	}
	for rule, meant := range map[string]string{"curl": "Bash(curl:*)", "Python": "Bash(python:*)", "Raed": "Read", "Read": "", "StitchMCP": ""} {
		if got := list(t, nil, rule).Rules()[0].Meant(); got != meant {
			t.Errorf("%s: meant %q, want %q", rule, got, meant)
		}
	}
	for rule, meant := range map[string]string{"Read(/tmp/a-*/**)": "Read(//tmp/a-*/**)", "Edit(/home/a/x)": "Edit(//home/a/x)", "Read(/src/**)": "", "Read(//tmp/x)": "", "Read(tmp/x)": "", "Bash(/usr/bin/ls)": ""} {
		if got := list(t, nil, rule).Rules()[0].Outside(); got != meant {
			t.Errorf("%s: outside %q, want %q", rule, got, meant)
		}
	}
	if l := list(t, nil, "StitchMCP"); l.Rules()[0].Known() || slices.ContainsFunc(l.Rules(), func(r allow.Rule) bool { return !r.Bare() }) {
		t.Error("StitchMCP is not a tool that is known")
	}
}

// No rule and no call makes the package panic, and a rule that is dropped allows nothing.
func FuzzParse(f *testing.F) {
	for _, rule := range []string{"Bash(git:*)", "Read(src/**)", "mcp__a__*", "WebFetch(domain:*.a.b)", "Skill(a *)", "Bash({baseDir}/x *)", "*", "Bash(**:*)"} {
		f.Add(rule, "bash", `{"command":"git x","path":"src/a"}`)
	}
	o := &allow.Options{Skill: "a", Dir: "/a", Roots: []string{"/w"}, Home: "/h"}
	f.Fuzz(func(t *testing.T, rule, tool, args string) {
		l, problems := allow.Parse([]string{rule}, o)
		if len(l.Rules())+len(problems) != 1 {
			t.Fatalf("%q: %d rules, %d problems", rule, len(l.Rules()), len(problems))
		}
		c := raw(tool, args)
		r := l.Check(c)
		l.Names(c)
		if r == nil && len(problems) > 0 {
			t.Fatalf("%q was dropped and allows %q %q", rule, tool, args)
		}
		if r != nil {
			_ = r.Message("a")
		}
	})
}
