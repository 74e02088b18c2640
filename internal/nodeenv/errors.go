package nodeenv

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/internal/envstore"
)

// The reasons of an Error.
const (
	ReasonDependencies = "dependencies_unavailable" // they cannot be prepared now, or are refused
	ReasonMetadata     = "metadata_invalid"         // package.json or the lock is broken or asks for too much
)

// Causes that an Error may wrap.
var (
	// ErrTooLarge is the cause if packages are larger than is allowed. Preparing again does not help.
	ErrTooLarge = errors.New("the packages are too large")

	// ErrLargeDownload is the cause if packages are a large download and PrepareOptions.Large did not allow it.
	ErrLargeDownload = errors.New("the packages are a large download, which nobody has allowed")
)

// errCertificate is the cause if no known authority signed the certificate of a registry. Trying again does not help.
var errCertificate = errors.New("no authority that is known here signed the certificate of the registry: if the registry is your own, name the file of its authority with the variable SSL_CERT_FILE, or with cafile in .npmrc")

// HostError is the cause if a registry sends to a host that may not be reached.
type HostError = envstore.HostError

// Error says why the packages of a script are not there.
type Error struct {
	Reason  string // one of the Reason constants
	Message string // the fault, with the file and what to do
	Err     error  // the cause, if there is one
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refused is a fault of package.json or of a lock that stays until its author mends it.
type refused struct{ message string }

func (r *refused) Error() string { return r.message }

// refuse returns a *refused.
func refuse(format string, args ...any) error { return &refused{fmt.Sprintf(format, args...)} }

// fail returns an *Error for an error of a step. An *Error and errors of a context that is done stay what they are.
func (j *job) fail(err error) error {
	var known *Error
	var no *refused
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &no):
		return &Error{Reason: ReasonMetadata, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", j.p.Script, err)}
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrLargeDownload):
		return &Error{Reason: ReasonDependencies, Err: err, Message: fmt.Sprintf("Dependencies of script %s are refused: %v", j.p.Script, err)}
	}
	return &Error{Reason: ReasonDependencies, Err: err, Message: fmt.Sprintf("Dependencies of script %s are not available: %v", j.p.Script, err)}
}
