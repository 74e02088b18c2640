package pyenv

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/envstore"
)

// The reasons of an Error.
const (
	ReasonDependencies = "dependencies_unavailable" // they cannot be prepared now, or are refused
	ReasonMetadata     = "metadata_invalid"         // the needs are broken or ask for too much
	ReasonPython       = "python_version"           // no Python of the required version
	ReasonInterpreter  = "interpreter_missing"      // no Python at all
)

// Causes that an Error may wrap.
var (
	// ErrNoUV is the cause if uv is not installed.
	ErrNoUV = errors.New("uv is not installed: get it with `pip install uv` or from https://docs.astral.sh/uv/")

	// ErrTooLarge is the cause if packages unpack to more than is allowed. Preparing again does not help.
	ErrTooLarge = errors.New("the packages unpack to too much")

	// ErrLargeDownload is the cause if packages are a large download that nobody has allowed.
	ErrLargeDownload = errors.New("the packages are a large download")

	// ErrTooSlow is the cause if preparing took too long. What was downloaded is kept, so the next attempt is shorter.
	ErrTooSlow = errors.New("preparing took too long")
)

// AllHosts among Options.Hosts is the whole network.
const AllHosts = envstore.AllHosts

// HostError is the cause if the index sends to a host that may not be reached.
type HostError = envstore.HostError

// SizeError is the cause if packages unpack to more than Options.MaxBytes, or than is allowed for a large download: a larger
// MaxBytes allows them.
type SizeError struct{ MaxBytes int64 }

// Error says how much is allowed.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the packages unpack to more than %d bytes", e.MaxBytes)
}

// Unwrap returns ErrTooLarge.
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// NoWheelError is the cause if the index has only the source of a package.
type NoWheelError struct{ Package string }

// Error says why the package is not installed.
func (e *NoWheelError) Error() string {
	return "The package " + e.Package + " has no wheel, and its source is not built, since that runs its code: use another version or package, or allow it"
}

// Error says why a script has no Python to run with.
type Error struct {
	Reason  string // one of the Reason constants
	Message string // the fault, and what to install if that is known
	Err     error  // the cause, if there is one
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const tailBytes = 500 // of what a program printed, in a message

// tails returns the end of stderr, or of stdout if stderr is empty.
func tails(out *Output) string {
	for _, s := range []struct {
		name string
		text []byte
	}{{"stderr", out.Stderr}, {"stdout", out.Stdout}} {
		if t := tail(s.text, tailBytes); t != "" {
			return "\n" + s.name + ": " + t
		}
	}
	return ""
}

// tail returns the last n bytes as text, without white space at the end. If that is not all, it begins with a line where one
// begins in its first half, else with a character.
func tail(b []byte, n int) string {
	b = bytes.TrimRight(b, " \t\r\n")
	if len(b) > n {
		b = b[len(b)-n:]
		if line := bytes.IndexByte(b[:n/2], '\n'); line >= 0 {
			b = b[line+1:]
		}
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
			b = b[1:]
		}
	}
	return valid(b)
}

// valid returns the output of a program as valid UTF-8.
func valid(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\ufffd"))) }

// seconds writes a duration as "60s" or "1.5s".
func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
