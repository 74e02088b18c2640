package surroundings

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/disclose"
)

// Start is what a model is told once, at the start of a conversation.
type Start struct {
	Now    time.Time // where the user is
	System string    // such as "linux/amd64"
	Shell  string    // that the user works in, such as "zsh"; "" if it is not known

	Repository bool     // the project is one of git
	Branch     string   // "" for none
	Status     []string // lines of git status --short
	Unknown    string   // why there is no status, as "git is not installed"; "" if there is
}

// Bounds of what is told of a repository.
const (
	mostLines  = 30
	longLine   = 120 // bytes, also of a branch
	statusTag  = "git_status"
	statusBare = "gitstatus" // as disclose.Shield knows it
)

// Text returns it in sentences. What a repository says is cleaned, bounded and fenced.
func (s *Start) Text() string {
	text := fmt.Sprintf("Today is %s. The system is %s", s.Now.Format("Monday, 2006-01-02"), s.System)
	if s.Shell != "" {
		text += ", the user's shell " + short(s.Shell)
	}
	if text += "."; !s.Repository {
		return text
	}
	text += " The project is a git repository"
	if s.Branch != "" {
		text += fmt.Sprintf(" on the branch %q", disclose.Shield(short(s.Branch), statusBare))
	}
	switch n := len(s.Status); {
	case s.Unknown != "":
		return text + "; its status is not known: " + s.Unknown + "."
	case n == 0:
		return text + ", without changes."
	default:
		lines := make([]string, 0, mostLines+1)
		for _, line := range s.Status[:min(n, mostLines)] {
			lines = append(lines, disclose.Shield(short(line), statusBare))
		}
		if n > mostLines {
			lines = append(lines, fmt.Sprintf("[… %d more …]", n-mostLines))
		}
		return fmt.Sprintf("%s, with these changes:\n<%s>\n%s\n</%[2]s>", text, statusTag, strings.Join(lines, "\n"))
	}
}

// short returns the beginning of a line without what a terminal or a reader would take for something else.
func short(line string) string {
	if line = strings.ReplaceAll(Clean(line), "\n", " "); len(line) > longLine {
		line = strings.ToValidUTF8(line[:longLine], "") + "…"
	}
	return line
}
