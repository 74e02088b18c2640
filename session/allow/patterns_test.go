package allow_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session/allow"
)

// C7: the patterns of a shell command, in the forms that skills have.
func TestCommandPatterns(t *testing.T) {
	skill := &allow.Options{Skill: "scan", Dir: "/skills/scan it", Plugin: "/plugins/p", Home: "/home/a"}
	for _, tt := range []struct {
		rule    string
		yes, no []string
	}{
		{"Bash(git:*)", []string{"git", "git push"}, []string{"gitx", "rm", "git push > x"}},
		{"Bash(git *)", []string{"git", "git push"}, []string{"gitx"}},
		{"Bash(git status)", []string{"git status", "git  status # x"}, []string{"git status -s", "git", "git push"}},
		{"Bash(gh pr:*)", []string{"gh pr list"}, []string{"gh issue list", "gh prx"}},
		{"Bash(infsh *)", []string{"infsh app run"}, []string{"infshell"}},
		{"Bash(ls*)", []string{"ls", "ls -l"}, []string{"lsof"}},
		{"Bash(npm run test*)", []string{"npm run test", "npm run test:unit -- x"}, []string{"npm run build", "npm run"}},
		{"Bash(git * main)", []string{"git push main", "git push origin main"}, []string{"git main", "git push main x"}},
		{"Bash(python*)", []string{"python x", "python3 x", "python3.12"}, []string{"python-x", "pythonx", "python3-config"}},
		{"Bash(python*whale*)", []string{"python scripts/whale_watch.py --all", "python3 whale.py"}, []string{"python3 x.py", "python3 -u whale.py", "python-whale"}},
		{"Bash(node*tools/*.js)", []string{"node tools/a.js", "node /srv/tools/a.js"}, []string{"node tools/a.js x", "node tools/../a.js"}},
		{"Bash(~/bin/look:*)", []string{"/home/a/bin/look x"}, []string{"~/bin/look x", "'~/bin/look' x", "bin/look"}},
		{"Bash(python3 ~/.claude/notes/*)", []string{"python3 /home/a/.claude/notes/x.py"}, []string{"python3 notes/x.py", "python3 ~/.claude/notes/x.py"}},
		{"Bash(~/.claude/skills/scan/bin/*.sh)", []string{"'/skills/scan it/bin/a.sh'"}, []string{"/home/a/.claude/skills/scan/bin/a.sh"}},
		{"Bash(~/.claude/skills/other/*)", []string{"/home/a/.claude/skills/other/x"}, []string{"'/skills/scan it/x'"}},
		{"Bash(C:/tools/x:*)", []string{"C:/tools/x y"}, []string{"C:/tools/y"}},
		{"Bash(* --version)", nil, []string{"node --version"}},
		{"Bash(./scripts/*)", []string{"./scripts/x.py", "./scripts/a/b.sh --all", "./scripts/"}, []string{"./scripts/../x", "scripts/x.py", "./scriptsx"}},
		{"Bash(python3 scripts/*.py)", []string{"python3 scripts/a.py"}, []string{"python3 scripts/a.py x", "python3 scripts/../a.py", "python3 scripts/a.sh"}},
		{"Bash($SKILL_DIR/scan.sh <skill_dir>/x)", []string{"'/skills/scan it/scan.sh' '/skills/scan it/x'"}, []string{"scan.sh x", "$SKILL_DIR/scan.sh x"}},
		{"Bash({baseDir}/scan.sh:*)", []string{"'/skills/scan it/scan.sh' a"}, []string{"/skills/scan it/scan.sh", "scan.sh"}},
		{"Bash(${CLAUDE_SKILL_DIR}/x)", []string{"'/skills/scan it/x'"}, []string{"/x"}},
		{"Bash(${CLAUDE_PLUGIN_ROOT}/scripts/set-up.sh:*)", []string{"/plugins/p/scripts/set-up.sh a"}, []string{"/plugins/p/scripts/other.sh"}},
		{`Bash(echo "a b":*)`, []string{"echo 'a b' c"}, []string{"echo a b"}},
		{`Bash(grep 'a*' *)`, []string{"grep 'a*' x"}, []string{"grep abc x"}},
		{"Bash(python -c 'print(1)')", []string{"python -c 'print(1)'"}, []string{"python -c 'print(2)'"}},
	} {
		l, problems := allow.Parse([]string{tt.rule}, skill)
		if (len(problems) > 0) != (tt.yes == nil) {
			t.Errorf("%s: problems %v", tt.rule, problems)
		}
		for _, c := range tt.yes {
			if r := l.Check(bash(c)); r != nil {
				t.Errorf("%s refuses %q: %s", tt.rule, c, r.Why)
			}
		}
		for _, c := range tt.no {
			if l.Check(bash(c)) == nil {
				t.Errorf("%s allows %q", tt.rule, c)
			}
		}
	}
}

// C7, security 2.11 #169: a rule that is not understood is dropped with a problem that says what to write, and allows nothing.
func TestRefusedRules(t *testing.T) {
	for _, rule := range []string{
		"", "*", "Bash()", "Bash(:*)", "Bash( )", "Bash(git:*", "Bash git:*)", "Bash(git:*))", "(git:*)", "Bash (git:*)", "Bash(git:*),Bash(*)",
		"Bash(git:*, npm:*)", "Bash(git status, git log)", "Bash(api:load-*)", "Bash(aws:s3:*)", "Bash(cmd:a,cmd:b)", "Bash(*x*)", "Bash(git:* push)", "Bash(* push)", "Bash(git; rm:*)", "Bash(git && rm)", "Bash(git > x)",
		"Bash($X:*)", "Bash(git $(x):*)", "Bash(X=1 git:*)", "Bash(git [ab]:*)", "Bash(git\n:*)", "Bash(g\u0456t\u200b:*)",
		"Bash('':*)", "Bash(\ue000/x)", "B\u0430sh(git:*)", "mcp__*", "mcp__", "mcp____x", "toolset_*", "Rea*", "*:*", "a:b*c", "a*:b", "a:b:c", "mcp__a*b", "mcp_*", "mcp__*", "a/b/c", "a:b/c", "a/b:c",
		"Read()", "Read(../**)", "Read(a/../../b)", "Read(a//b)", "Read([)", "Read({" + strings.Repeat("a,", 20) + "b})", "WebFetch(go.dev)", "WebFetch(domain:)", "WebFetch(domain:*)",
		"WebFetch(domain:*.)", "WebFetch(domain:go.dev/x)", "WebFetch(domain:com)", "Skill()", "Skill(a b)", "Task( )", "WebSearch(x)", "hello(x)",
		"Bash(" + strings.Repeat("a", 1024) + ")",
	} {
		l, problems := allow.Parse([]string{"Grep", rule}, nil)
		if len(problems) != 1 || problems[0].Index != 1 || problems[0].Rule != rule || problems[0].Cure == "" || !strings.HasSuffix(problems[0].Message, ": the rule is dropped") {
			t.Errorf("%q: problems %v", rule, problems)
		}
		if len(l.Rules()) != 1 {
			t.Errorf("%q allows something: %v", rule, l.Rules())
		}
	}
}

// A rule that forbids is never dropped for its pattern: that would allow more.
func TestForbiddingRules(t *testing.T) {
	l, problems := allow.Parse([]string{"Bash($X:*)", "Read(../x)", "*"}, &allow.Options{Forbids: true})
	if len(problems) != 3 || !strings.HasSuffix(problems[0].Message, "the rule counts for any arguments") || !strings.HasSuffix(problems[2].Message, "the rule is dropped") {
		t.Errorf("got %v", problems)
	}
	for _, c := range []allow.Call{bash("ls"), call("read_file", "file_path", "a")} {
		if _, ok := l.Names(c); !ok {
			t.Errorf("%s is not forbidden", c.Tool)
		}
	}
	if _, ok := l.Names(call("web_fetch", "url", "https://go.dev")); ok || len(l.Rules()) != 2 {
		t.Errorf("rules %v", l.Rules())
	}
}

func TestManyRules(t *testing.T) {
	rules := make([]string, 1002)
	for i := range rules {
		rules[i] = "Read"
	}
	if l, problems := allow.Parse(rules, nil); len(l.Rules()) != 1000 || len(problems) != 2 {
		t.Errorf("%d rules, %d problems", len(l.Rules()), len(problems))
	}
}

// C11 R121: the text for the model.
func TestMessage(t *testing.T) {
	l := list(t, nil, "Read", "Bash(git log:*)")
	for _, tt := range []struct {
		call allow.Call
		want string
	}{
		{call("web_fetch", "url", "https://go.dev"), "Tool 'web_fetch' not allowed by skill 'x'. Allowed tools: Read, Bash(git log:*) (not in allowed-tools list)"},
		{bash("rm -rf /"), `Tool 'bash' not allowed by skill 'x'. Allowed tools: Read, Bash(git log:*) (not in allowed-tools list): no rule covers the command "rm -rf /"`},
		{bash("git log >x"), "Tool 'bash' not allowed by skill 'x'. Allowed tools: Read, Bash(git log:*) (not in allowed-tools list): " +
			"the command has a redirection (>); its output and its errors are returned without one"},
		{bash("git log --output=x"), "Tool 'bash' not allowed by skill 'x'. Allowed tools: Read, Bash(git log:*) (not in allowed-tools list): " +
			`the option "--output=x" of "git" runs or writes something else`},
	} {
		if r := l.Check(tt.call); r == nil || r.Message("x") != tt.want {
			t.Errorf("got %v, want %s", r, tt.want)
		}
	}
	none, _ := allow.Parse(nil, nil)
	if got, want := none.Check(bash("ls")).Message("x"), "Tool 'bash' not allowed by skill 'x'. Allowed tools: none (not in allowed-tools list)"; got != want {
		t.Errorf("got %s", got)
	}
}

// C7, security 2.11 #166: what the options of git's subcommands do is not what Bash(git log:*) says.
func TestGitOptions(t *testing.T) {
	l := list(t, nil, "Bash(git log:*)", "Bash(git diff:*)", "Bash(git grep:*)", "Bash(git commit:*)", "Bash(git tag:*)", "Bash(git branch:*)", "Bash(git cat-file:*)")
	for _, c := range []string{"git log --output=/tmp/x", "git log --outpu /tmp/x", "git diff --ext-diff", "git log --textc", "git -c alias.x=!rm x",
		"git -c core.fsmonitor=rm status", "git grep -Orm x", "git ls-remote --upload-pack=rm .", "git rebase --exec rm", "git -C / log",
		"git log --show-signature", "git log --show-s -1", "git log --format=%G?", "git log --pretty=format:x%GG", "git branch --format '%(signature:grade)'",
		"git commit -Skey -m x", "git commit --gpg-sign -m x", "git tag -v v1", "git tag -s v1", "git tag -ukey v1", "git tag --verify v1", "git log --remerge-diff",
		"git log --diff-merges=remerge", "git commit --trailer k=v -m x", "git cat-file --filters x", "git cat-file --textconv x", "git grep -Oless x"} {
		if l.Check(bash(c)) == nil {
			t.Errorf("%q is allowed", c)
		}
	}
	for _, c := range []string{"git log --oneline --all", "git diff --stat -- x", "git log -p", "git log -S text", "git log -s", "git commit -s -m x", "git log --format=%H",
		"git tag -l", "git branch -v", "git log --stat"} {
		if r := l.Check(bash(c)); r != nil {
			t.Errorf("%q: %s", c, r.Why)
		}
	}
}

// A command that changes the shell changes what the rules cover.
func TestChangedShell(t *testing.T) {
	l := list(t, nil, "Bash(cd:*)", "Bash(git:*)", "Bash(./scripts/*)", "Bash(python x.py:*)", "Bash(alias:*)", "Bash(printf:*)", "Bash(/opt/x/*)", "Bash(pushd:*)", "Bash(popd)")
	for command, want := range map[string]bool{
		"cd a":                    true,
		"cd a && git status":      true,
		"cd a && ./scripts/x":     false,
		"cd a; python x.py":       false,
		"./scripts/x; cd a":       true,
		"cd a && /opt/x/y":        true,
		"pushd a && ./scripts/x":  false,
		"pushd a && git status":   true,
		"popd; python x.py":       false,
		"alias git=rm":            true,
		"alias git=rm; git x":     false,
		"git x; alias git=rm":     false,
		"printf %s a | git apply": true,
		"printf -v PATH .; git x": false,
		"printf -vPATH .; git x":  false,
	} {
		if got := l.Check(bash(command)) == nil; got != want {
			t.Errorf("%q is allowed: %v", command, got)
		}
	}
}

// The arguments of a call are those that the tool gets: what two readers could read differently is refused.
func TestArguments(t *testing.T) {
	l := list(t, nil, "Bash(git:*)", "Read(/docs/**)", "Glob")
	for raw, want := range map[string]bool{
		`{"command":"git x"}`:                     true,
		`{"COMMAND":"git x"}`:                     true,
		`{"cmd":"git x"}`:                         true,
		`{"command":["git","x; rm"]}`:             true,
		`{"command":["bash","-c","git"]}`:         false,
		`{"command":"git x","timeout_ms":5}`:      true,
		`{"command":"git x","command":"rm"}`:      false,
		`{"command":"git x","Command":"rm"}`:      false,
		`{"command":"git x","cmd":"rm"}`:          false,
		`{"command":"git x","cmd":"git y"}`:       true,
		`{"\u0063ommand":"rm","command":"git x"}`: false,
		`{}`:                                   false,
		`null`:                                 false,
		`[]`:                                   false,
		``:                                     false,
		`{"command":5}`:                        false,
		`{"command":null}`:                     false,
		`{"command":[]}`:                       false,
		`{"command":"git x"} {"command":"rm"}`: false,
		`{"command":"git x"`:                   false,
		`{` + strings.Repeat(`"a":1,`, 2) + `"cmd":"git"}`: false,
	} {
		if got := l.Check(allow.Call{Tool: "bash", Args: []byte(raw)}) == nil; got != want {
			t.Errorf("%s is allowed: %v", raw, got)
		}
	}
}

// C7: a refusal names what in the command no rule can cover.
func TestWhy(t *testing.T) {
	l := list(t, nil, "Bash(git:*)", "WebFetch(domain:go.dev)")
	for command, want := range map[string]string{
		"git x &":                        "in the background",
		"git x |& git y":                 "",
		"git x > y":                      "redirection (>)",
		"git x >&y":                      "redirection (>&)",
		"git x \\\n y # z":               "beside a #",
		"X=1 git":                        "sets a variable",
		"git $X":                         "single quotes",
		"git *":                          "single quotes",
		"git add ~/x":                    "write the whole path",
		`git $"x"`:                       "single quotes",
		"(git x)":                        "a group",
		"for a in b; do git; done":       "a control structure",
		"f() { git; }":                   "a function",
		"time git":                       "a word of the shell itself",
		"git 'x":                         "cannot be read",
		"git \u202ex":                    "U+202E",
		"":                               "no command",
		"''":                             "no name",
		strings.Repeat("git;", 32):       "",
		strings.Repeat("git;", 33):       "more than 32 commands",
		strings.Repeat("git ", 4000):     "more than 8192 bytes",
		"git x; rm -r y":                 `no rule covers the command "rm -r y"`,
		"git x; unset PATH":              "call it alone",
		"coproc git":                     "a word of the shell itself",
		"git <(git x)":                   "single quotes",
		"! git status":                   "",
		"git 'a b' \"c d\" # e\n\ngit f": "",
	} {
		r := l.Check(bash(command))
		if want == "" && r != nil || want != "" && (r == nil || !strings.Contains(r.Why, want)) {
			t.Errorf("%q: got %v, want %q", command, r, want)
		}
	}
	if l.Check(call("web_fetch", "url", "https://user:secret@go.dev/")) == nil {
		t.Error("a URL with a password is allowed")
	}
}

// security 2.11 #166: a rule for a subcommand does not cover the options that make it do more, such as to run something else.
func TestRefusedOptions(t *testing.T) {
	for _, tt := range []struct{ rule, refused, allowed string }{
		{"Bash(/usr/bin/git log:*)", "/usr/bin/git log --output=x", "/usr/bin/git log -p"},
		{"Bash(kubectl get:*)", "kubectl get pods --kubeconfig evil", "kubectl get pods --show-labels"},
		{"Bash(kubectl get pods:*)", "kubectl get pods -k.", "kubectl get pods -o wide"},
		{"Bash(npm view:*)", "npm view github:a/b --git=./x", "npm view react version"},
		{"Bash(pip list:*)", "pip list --log x", "pip list --outdated"},
		{"Bash(pip3 list:*)", "pip3 list --log=x", "pip3 list --local"},
		{"Bash(npm run test:*)", "npm run test --script-shell=/tmp/x", "npm run test --silent"},
		{"Bash(npm run test:*)", "npm run test --prefix /tmp", "npm run test -- --prefix /tmp"},
		{"Bash(npm run test:*)", "npm run test --pref=/tmp", "npm run test --if-present"},
		{"Bash(npm run test:*)", "npm run test -script-shell=/tmp/x", "npm run test x"},
		{"Bash(npm run test:*)", "npm run test -C /tmp", "npm run test -s"},
		{"Bash(npm run test:*)", "npm run test -w evil", "npm run test"},
		{"Bash(npm run *)", "npm run build --node-options=--require=/tmp/x", "npm run build"},
		{"Bash(pnpm test:*)", "pnpm test --dir=/tmp", "pnpm test x"},
		{"Bash(yarn build:*)", "yarn build --cwd /tmp", "yarn build x"},
		{"Bash(bun test:*)", "bun test --preload /tmp/x", "bun test --bail"},
		{"Bash(make test:*)", "make test -C /tmp", "make test -k"},
		{"Bash(make test:*)", "make test -kf evil", "make test --silent"},
		{"Bash(make test:*)", "make test --ev=x", "make test all"},
		{"Bash(make test:*)", "make test SHELL=/tmp/x", "make test -j4"},
		{"Bash(just build:*)", "just build --shell /tmp/x", "just build x"},
		{"Bash(cargo test:*)", "cargo test --config build.rustc-wrapper='/tmp/x'", "cargo test -- --config x"},
		{"Bash(cargo build:*)", "cargo build --manifest-path /tmp/Cargo.toml", "cargo build --release"},
		{"Bash(go test:*)", "go test -exec /tmp/x ./...", "go test -run Test ./..."},
		{"Bash(go build:*)", "go build --toolexec=/tmp/x", "go build ./..."},
		{"Bash(go vet:*)", "go vet -vettool=/tmp/x", "go vet ./..."},
		{"Bash(go test:*)", "go test -C /tmp", "go test -v"},
		{"Bash(uv sync:*)", "uv sync --directory /tmp", "uv sync --frozen"},
		{"Bash(uv sync:*)", "uv sync --proj /tmp", "uv sync"},
		{"Bash(gradle test:*)", "gradle test -I/tmp/x", "gradle test --info"},
		{"Bash(mvn test:*)", "mvn test -f /tmp/pom.xml", "mvn test -q"},
		{"Bash(git push:*)", "git push --receive-pack=/tmp/x", "git push origin main"},
	} {
		l := list(t, nil, tt.rule)
		if l.Check(bash(tt.refused)) == nil {
			t.Errorf("%s allows %s", tt.rule, tt.refused)
		}
		if r := l.Check(bash(tt.allowed)); r != nil {
			t.Errorf("%s does not allow %s: %s", tt.rule, tt.allowed, r.Why)
		}
	}
}

// A rule that is open anyway covers every option: for a program alone, for a subcommand that takes any package, and for the file of an
// interpreter, which reads its own options.
func TestOpenRulesCoverOptions(t *testing.T) {
	for rule, command := range map[string]string{
		"Bash(npm:*)":                  "npm run test --prefix /tmp",
		"Bash(npm install:*)":          "npm install -g x",
		"Bash(pip install:*)":          "pip install --log x -r requirements.txt",
		"Bash(make:*)":                 "make -C lib",
		"Bash(uv run scripts/a.py:*)":  "uv run scripts/a.py --project x --python y",
		"Bash(python3 scripts/a.py:*)": "python3 scripts/a.py --config x",
		"Bash(bun run scripts/a.ts:*)": "bun run scripts/a.ts x",
		"Bash(bun scripts/a.ts:*)":     "bun scripts/a.ts --config x",
		"Bash(kubectl exec:*)":         "kubectl exec pod -- sh -s",
		"Bash(cargo install:*)":        "cargo install --path /tmp/x",
		"Bash(go run:*)":               "go run ./cmd/x -o y",
	} {
		if r := list(t, nil, rule).Check(bash(command)); r != nil {
			t.Errorf("%s does not allow %s: %s", rule, command, r.Why)
		}
	}
}
