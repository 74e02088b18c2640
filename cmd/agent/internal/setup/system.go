// Package setup is what a run of the command has before it does anything: the machine (arguments, environment, folders, time), its
// flags, and the settings with what the organisation decides. The settings are read once; package config says what they mean.
package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/policy"
)

// System is what one run of the command has of the machine. Nothing else in the program reads the environment.
type System struct {
	Args         []string // without the program's name
	In, Out, Err *os.File
	Environ      []string // KEY=value
	Home         string   // the user's home, absolute; "" when there is none
	Dir          string   // working directory, absolute; "" when it is not known
	Temp         string   // folder for temporary files
	LookPath     func(name string) (string, error)
	Now          func() time.Time

	// Policy reads what the organisation decides, see policy.Read; nil: nothing. Account returns the home that the machine has for the user,
	// "" if that is not known.
	Policy  func() *policy.Document
	Account func() string

	PodAccount string // the folder of a service account of Kubernetes; "" for where a pod has it

	// Interrupt returns a context that the next Ctrl-C ends in place of the command, and a function that releases it; set by Main.
	Interrupt func(ctx context.Context) (context.Context, func())

	// Stop stops the program until a shell brings it back, and reports false if no shell can; set by Main.
	Stop func() bool

	Context context.Context // ends with the command; set by Main. The policy is read with it, where no call has one.
}

// Lookup returns the value of an environment variable and whether it is set. As in a shell, the last one counts.
func (s *System) Lookup(name string) (string, bool) {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(s.Environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// Getenv returns the value of an environment variable, "" when it is not set.
func (s *System) Getenv(name string) string {
	value, _ := s.Lookup(name)
	return value
}

// Piped reports whether In is a pipe, a file or a socket.
func (s *System) Piped() bool {
	info, err := s.In.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0 && !info.IsDir()
}

// Abs makes a path that a person typed absolute.
func (s *System) Abs(path string) string {
	if filepath.IsAbs(path) || s.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Dir, path)
}

// First returns the value of the first environment variable of names that is set.
func (s *System) First(names []string) string {
	for _, name := range names {
		if v := s.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// Version is this program's own version, which min_ and max_agent_base_version are compared with.
const Version = "0.1.0"
