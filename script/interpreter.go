package script

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-base/agent-base/skill"
)

// interpreters are tried in order for each extension (C29).
var interpreters = map[string][][]string{
	".py": {{"python3"}},
	".sh": {{"bash"}, {"sh"}},
	".js": {{"node"}, {"bun", "run"}, {"deno", "run", "--allow-all"}},
	".ts": {{"bun", "run"}, {"deno", "run", "--allow-all"}, {"node"}},
	".rb": {{"ruby"}},
	".pl": {{"perl"}},
}

// interpreter returns the argument list that runs the script, as far as the script's own path.
func (h *Host) interpreter(ctx context.Context, s *skill.Skill, sc Script, file string) ([]string, error) {
	ext := strings.ToLower(path.Ext(sc.File))
	if ext == "" {
		return []string{file}, nil
	}
	if ext == ".py" {
		return h.python(ctx, s, sc, file)
	}
	for _, argv := range interpreters[ext] {
		if p, err := h.LookPath(argv[0]); err == nil {
			return append(append([]string{p}, argv[1:]...), file), nil
		}
	}
	var names []string
	for _, argv := range interpreters[ext] {
		names = append(names, argv[0])
	}
	return nil, &Error{Code: ExecutionFailed, Reason: "interpreter_missing",
		Message: fmt.Sprintf("Script %s needs %s, which is not installed", sc.Name, strings.Join(names, " or "))}
}

func (h *Host) python(ctx context.Context, s *skill.Skill, sc Script, file string) ([]string, error) {
	src, err := s.ReadFile(sc.File)
	if err != nil {
		return nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be read: %v", sc.Name, err)}
	}
	block, err := ParseBlock(src)
	if err != nil {
		return nil, &Error{Code: ExecutionFailed, Reason: "metadata_invalid", Err: err,
			Message: fmt.Sprintf("Script %s has a script block that cannot be used: %v", sc.Name, err)}
	}
	python, err := h.LookPath("python3")
	if err != nil {
		return nil, &Error{Code: ExecutionFailed, Reason: "interpreter_missing", Err: err,
			Message: "Python 3 is not installed: install python3"}
	}
	if block != nil && len(block.Dependencies) > 0 {
		if python, err = h.prepare(ctx, block, python); err != nil {
			return nil, err
		}
	}
	return []string{python, "-B", file}, nil
}

func firstLine(fsys fs.FS, name string) string {
	f, err := fsys.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	return strings.TrimRight(line, "\r\n")
}
