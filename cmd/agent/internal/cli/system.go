package cli

import (
	"os"
	"os/exec"
	"strings"
	"time"
)

// System is the world outside, as one run of the command sees it. Nothing else in the program reads the environment.
type System struct {
	Args         []string // without the program's name
	In, Out, Err *os.File
	Environ      []string // KEY=value
	Home         string   // the user's home, absolute; "" when there is none
	Dir          string   // working directory, absolute; "" when it cannot be told
	Temp         string   // folder for temporary files
	LookPath     func(name string) (string, error)
	Now          func() time.Time
}

// Host returns the System of this process.
func Host() *System {
	home, _ := os.UserHomeDir()
	dir, _ := os.Getwd()
	return &System{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Environ: os.Environ(), Home: home, Dir: dir, Temp: os.TempDir(),
		LookPath: exec.LookPath, Now: time.Now,
	}
}

// lookup returns the value of an environment variable and whether it is set. As in a shell, the last one counts.
func (s *System) lookup(name string) (string, bool) {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(s.Environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// getenv returns the value of an environment variable, "" when it is not set.
func (s *System) getenv(name string) string {
	value, _ := s.lookup(name)
	return value
}
