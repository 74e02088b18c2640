package allow_test

import (
	"testing"

	"github.com/agent-base/agent-base/session/allow"
)

// One call, compared with the rules of a skill. The figures are in docs/performance.md.
func BenchmarkCheck(b *testing.B) {
	rules := []string{"Read(references/**)", "Grep", "Glob", "Bash(git status)", "Bash(git log:*)", "Bash(gh pr:*)", "Bash(npm run test:*)", "WebFetch(domain:go.dev)"}
	l := list(b, &allow.Options{Roots: []string{"/work"}}, rules...)
	for name, c := range map[string]allow.Call{
		"name":    call("grep", "pattern", "x"),
		"path":    call("read_file", "file_path", "references/guide.md"),
		"command": bash("git log --oneline -n 20 && git status"),
		"refused": bash("git log $(rm -rf x)"),
	} {
		want := name != "refused"
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if (l.Check(c) == nil) != want {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if l, _ := allow.Parse([]string{"Read", "Bash(git log:*)", "Edit(src/**)"}, nil); len(l.Rules()) != 3 {
			b.Fatal("wrong list")
		}
	}
}
