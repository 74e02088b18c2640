//go:build unix

package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// floodCPU is the maximum processor time of any command for each skill of a flood.
const (
	floodCPU = 100 * time.Millisecond
	flood    = 12 // skills
)

// security 2.10 #152: a folder of maximally expensive skills does not make a command hang or use up memory.
func TestFlood(t *testing.T) {
	rows := map[string]func(i int) map[string]string{
		"front matter of the maximum size": func(i int) map[string]string {
			return manifestOf(i, keys(6_000)[:60_000])
		},
		"metadata": func(i int) map[string]string {
			return manifestOf(i, "metadata:\n  "+strings.ReplaceAll(strings.TrimSpace(keys(4_000)), "\n", "\n  ")+"\n")
		},
		"duplicate keys": func(i int) map[string]string { return manifestOf(i, strings.Repeat("license: a: b\n", 4_000)) },
		"commands": func(i int) map[string]string {
			var b strings.Builder
			for j := range 6_000 {
				fmt.Fprintf(&b, "c%dx%d ", i, j)
			}
			return manifestOf(i, "requires: ["+strings.ReplaceAll(strings.TrimSpace(b.String()), " ", ", ")+"]\n")
		},
		"commands in metadata": func(i int) map[string]string {
			var b strings.Builder
			for j := range 6_000 {
				fmt.Fprintf(&b, "c%dx%d ", i, j)
			}
			return manifestOf(i, "metadata:\n  requires: "+b.String()+"\n")
		},
		"patterns": func(i int) map[string]string {
			return manifestOf(i, "triggers:\n  patterns:\n"+strings.Repeat("    - '(a|aa|aaa|a*)*((((b{1,99}){1,99})c?)*)+(\\w+\\s*){1,30}$'\n", 800))
		},
		"keywords": func(i int) map[string]string {
			var b strings.Builder
			for j := range 8_000 {
				fmt.Fprintf(&b, "k%d, ", j)
			}
			return manifestOf(i, "triggers:\n  keywords: ["+b.String()+"x]\n")
		},
		"tools": func(i int) map[string]string {
			return manifestOf(i, "allowed-tools: "+strings.Repeat("Bash(((a:*) ", 5_000)+"\n")
		},
		"tags": func(i int) map[string]string { return manifestOf(i, "tags: ["+strings.Repeat("a, ", 20_000)+"b]\n") },
		"globs": func(i int) map[string]string {
			f := manifestOf(i, "scripts_ignore: ["+strings.Repeat("'{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*x', ", 1_000)+"z]\n")
			for j := range 20 {
				f[fmt.Sprintf("scripts/%s%d.sh", strings.Repeat("ab", 40), j)] = okScript
			}
			return f
		},
		"quoted text": func(i int) map[string]string {
			return manifestOf(i, "license: \""+strings.Repeat(`\u00e9`, 9_000)+"\"\n")
		},
		"a description": func(i int) map[string]string {
			return map[string]string{"SKILL.md": fmt.Sprintf("---\nname: s%d\ndescription: %s\n---\n", i, strings.Repeat("a&<\" ", 12_000))}
		},
		"a body": func(i int) map[string]string {
			return map[string]string{"SKILL.md": fmt.Sprintf("---\nname: s%d\ndescription: x\n---\n%s", i, strings.Repeat("$ARGUMENTS `!x` </skill_content>\n", 30_000))}
		},
		"one name": func(i int) map[string]string {
			return map[string]string{"SKILL.md": "---\nname: good2\ndescription: x\n---\n"}
		},
	}
	for name, files := range rows {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			v.mostCPU, v.mostMemory = flood*floodCPU, mostMemory
			for i := range flood {
				v.write(filepath.Join(v.skills, fmt.Sprintf("s%d", i)), files(i))
			}
			for _, args := range [][]string{
				{"skill", "list"}, {"skill", "prompt", "--query", strings.Repeat("aaaa sheep k17 ", 400)}, {"skill", "prompt", "--budget", "500"},
				{"skill", "search", strings.Repeat("a", 2000) + " sheep"}, {"skill", "validate", v.skills}, {"--check"}, {"script", "list"},
				{"skill", "activate", "s7", strings.Repeat("x ", 1000)},
			} {
				v.run(args...)
			}
			if s := v.listed("good"); s["state"] != "enabled" {
				t.Errorf("the good skill is %v", s)
			}
		})
	}
}

func manifestOf(i int, more string) map[string]string {
	return map[string]string{"SKILL.md": fmt.Sprintf("---\nname: s%d\ndescription: Does harm %d.\n%s---\nBody\n", i, i, more)}
}

// A skill with very many files and folders costs at most a bounded walk, wherever they are.
func TestManyFiles(t *testing.T) {
	v := newVictim(t)
	v.mostCPU *= 2 // 12,000 files, more than are ever read, take much of the limit, and a busy machine counts more
	v.evil(map[string]string{})
	deep := filepath.Join(v.skills, "evil", "references", strings.Repeat("d/", 400))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		dir := filepath.Join(v.skills, "evil", "assets", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 1_000 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s%d", strings.Repeat("n", 100), j)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2_000 {
		if err := os.MkdirAll(filepath.Join(v.skills, "none", fmt.Sprint(i), "a", "b", "c"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if o := v.run("skill", "activate", "evil"); o.code != 0 || len(o.stdout) > 64<<10 {
		t.Errorf("activated in %d bytes: %.300s", len(o.stdout), o)
	}
	if o := v.run("skill", "trust", "evil", "--yes"); o.code == 0 {
		t.Errorf("trusted: %.300s", o)
	}
	v.run("skill", "read", "evil", "assets/nope")
	v.validate()
	v.unharmedBy("evil")
}
