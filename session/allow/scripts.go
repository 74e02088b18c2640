package allow

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ways returns the commands that run a script through a shell, without its arguments: by itself and by each program that
// runs its language, with the path of its file in each form. Only the scripts of the list's own skill have a path
// relative to the skill: scripts/x.py of another skill is another file.
func (o *Options) ways(s Script) [][]string {
	paths := []string{inMemory(s.Skill) + "/" + s.Path}
	if s.Dir != "" {
		paths = append(paths, filepath.Join(s.Dir, filepath.FromSlash(s.Path)))
	}
	if o.Skill != "" && s.Skill == o.Skill {
		paths = append(paths, s.Path, "./"+s.Path)
	}
	var out [][]string
	for _, p := range paths {
		out = append(out, []string{p})
		for _, program := range runners(s.Path) {
			out = append(out, append(slices.Clone(strings.Fields(program)), p))
		}
	}
	return out
}

// inMemory stands for the folder of a skill that is on no disk. It is the path of no file.
func inMemory(skill string) string { return "skill://" + skill }

// runners returns the commands that run a script with that extension.
func runners(name string) []string {
	switch path.Ext(name) {
	case ".py":
		return []string{"python3", "python", "uv run", "uv run --script", "uv run python"}
	case ".sh", ".bash":
		return []string{"bash", "sh"}
	case ".js", ".mjs", ".cjs":
		return []string{"node", "bun", "bun run", "deno run"}
	case ".ts", ".mts", ".tsx":
		return []string{"bun", "bun run", "npx tsx", "tsx", "npx ts-node", "ts-node", "deno run", "node"}
	case ".rb":
		return []string{"ruby"}
	case ".pl":
		return []string{"perl"}
	case ".ps1":
		return []string{"pwsh", "pwsh -File"}
	}
	return nil
}
