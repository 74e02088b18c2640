// Command serve compares calls of tools of agent serve with those of the smallest server that the SDK makes: a tool that says what it was
// given. It starts both as processes, on stdio and over HTTP, with 1, 16 and 64 calls under way, in turn, and prints the ratios as
// Markdown: serve AGENT. bench/run.sh builds and starts it. Linux only.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rounds is how often each server is measured. The median counts.
const rounds = 7

func main() {
	log.SetFlags(0)
	log.SetPrefix("serve: ")
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "echo":
		err = echo(context.Background(), "")
	case len(os.Args) == 3 && os.Args[1] == "echo":
		err = echo(context.Background(), os.Args[2])
	case len(os.Args) == 2:
		err = compare(os.Args[1])
	default:
		err = fmt.Errorf("usage: serve AGENT")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// subject is a call to a server: what is sent, and what the answer must have.
type subject struct {
	name, tool, args, want string
	command                []string
}

// compare prints the report.
func compare(agent string) error {
	dir, err := os.MkdirTemp("", "serve")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeSkill(filepath.Join(dir, ".agents", "skills", "greet")); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all := []subject{
		{"echo", "echo", `{"text":"words of the skill"}`, "words of the skill", []string{self, "echo"}},
		{"`skill_read`", "skill_read", `{"skill_name":"greet","path":"docs/words.md"}`, "words of the skill", []string{agent, "serve"}},
		{"`skill`", "skill", `{"skill_name":"greet"}`, "Greet the person", []string{agent, "serve"}},
	}
	fmt.Println("| transport | calls under way | call | calls a second | of echo | processor time a call | of echo |")
	fmt.Println("|---|--:|---|--:|--:|--:|--:|")
	for _, transport := range []string{"stdio", "HTTP"} {
		var servers []*server
		for _, s := range all {
			v, err := start(dir, transport == "HTTP", &s)
			if err != nil {
				return fmt.Errorf("%s over %s: %w", s.name, transport, err)
			}
			defer v.stop()
			servers = append(servers, v)
		}
		for _, n := range []int{1, 16, 64} {
			if err := row(transport, n, servers); err != nil {
				return err
			}
		}
	}
	return nil
}

// figure is what was measured of a server: the time and the processor time of a call.
type figure struct{ wall, cpu time.Duration }

// row measures the servers in turn and prints a line for each.
func row(transport string, n int, servers []*server) error {
	const calls = 1500
	seen := make([][]figure, len(servers))
	for round := range rounds + 1 {
		for i, v := range servers {
			f, err := v.measure(n, calls)
			if err != nil {
				return fmt.Errorf("%s over %s: %w", v.of.name, transport, err)
			}
			if round > 0 { // the first warms up
				seen[i] = append(seen[i], f)
			}
		}
	}
	for i, v := range servers {
		var wall, cpu []float64
		for round, f := range seen[i] {
			wall = append(wall, float64(seen[0][round].wall)/float64(f.wall))
			cpu = append(cpu, float64(f.cpu)/float64(max(seen[0][round].cpu, 1)))
		}
		own := middle(seen[i], func(f figure) float64 { return float64(f.wall) })
		fmt.Printf("| %s | %d | %s | %.0f | %.2f | %.0f µs | %.2f |\n", transport, n, v.of.name, 1e9/own, median(wall),
			middle(seen[i], func(f figure) float64 { return float64(f.cpu) })/1e3, median(cpu))
	}
	return nil
}

func middle(all []figure, of func(figure) float64) float64 {
	var out []float64
	for _, f := range all {
		out = append(out, of(f))
	}
	return median(out)
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func writeSkill(dir string) error {
	for name, text := range map[string]string{
		"SKILL.md":      "---\nname: greet\ndescription: Greets people by name.\n---\nGreet the person, as docs/words.md says.\n",
		"docs/words.md": "words of the skill\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
