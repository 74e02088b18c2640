package failure

import (
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/oci"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/policy"
)

// explainPolicy explains what the organisation's policy refuses; nil for another error.
func explainPolicy(err error) *Error {
	if refused, ok := errors.AsType[*policy.Refusal](err); ok {
		f := &Error{Exit: ExitDenied, Code: "policy", Err: err, Hint: "agent policy show has all of it"}
		if refused.Contact != "" {
			f.Hint = fmt.Sprintf("ask %s; %s", refused.Contact, f.Hint)
		}
		return f
	}
	if closed, ok := errors.AsType[*policy.ClosedError](err); ok {
		if errors.Is(err, policy.ErrNotFetched) {
			return &Error{Exit: ExitDenied, Code: "policy", Err: err, Hint: "agent policy fetch gets it"}
		}
		if errors.Is(err, policy.ErrChanged) {
			return &Error{Exit: ExitDenied, Code: "policy", Err: err}
		}
		return &Error{Exit: ExitDenied, Code: "policy", Err: err, Hint: "only an administrator can correct it; to see what is wrong: agent policy check " + closed.File}
	}
	return nil
}

// OtherHome says what to do if the home cannot be written.
const OtherHome = "export AGENT_HOME=DIR, a folder that can be written"

// MakeRoom says what to do about a full disk.
const MakeRoom = "agent doctor --gc deletes what can be made again; agent skill remove NAME works, too"

// IsFull reports whether an error says that a disk is full, or what the user may have of it.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// explainInstall explains the errors about installed skills, nil for others.
func explainInstall(err error) *Error {
	var changed *install.IntegrityError
	var choice *install.ChoiceError
	var breaking *install.BreakingError
	var full *install.SpaceError
	switch {
	case errors.Is(err, registry.ErrNotInstalled):
		return &Error{Exit: ExitNotFound, Code: "not_installed", Hint: "agent skill manage list shows what is installed", Err: err}
	case errors.Is(err, registry.ErrCorrupt):
		return &Error{Exit: ExitIntegrity, Code: "registry_damaged", Hint: "agent skill repair makes a new list from the skills on the disk", Err: err}
	case errors.Is(err, lock.ErrMerge):
		return &Error{Exit: ExitConflict, Code: "conflict", Hint: "agent skill lock --fix puts both sides together", Err: err}
	case errors.Is(err, registry.ErrLocked), errors.Is(err, store.ErrLocked):
		return &Error{Exit: ExitConflict, Code: "locked", Hint: "another agent is installing or removing; try again", Err: err}
	case errors.Is(err, install.ErrChanged):
		return &Error{Exit: ExitConflict, Code: "conflict", Hint: "try again", Err: err}
	case errors.Is(err, install.ErrNoPrevious):
		return &Error{Exit: ExitNotFound, Code: "no_previous", Err: err}
	case errors.Is(err, install.ErrNoPlace):
		return &Error{Exit: ExitNotFound, Code: "not_found", Err: err}
	case errors.Is(err, install.ErrTooMany):
		return &Error{Exit: ExitFailure, Code: "failed", Hint: "--path FOLDER takes the skills of one folder", Err: err}
	case errors.Is(err, oci.ErrNotFound):
		return &Error{Exit: ExitNotFound, Code: "not_found", Hint: "check the repository and the tag", Err: err}
	case errors.Is(err, oci.ErrDigest):
		return &Error{Exit: ExitIntegrity, Code: "integrity", Hint: "the registry is damaged or hostile: nothing was installed", Err: err}
	case errors.Is(err, install.ErrElsewhere):
		return &Error{Exit: ExitNotFound, Code: "elsewhere", Err: err}
	case errors.As(err, &changed):
		return &Error{Exit: ExitIntegrity, Code: "integrity", Hint: cure.Repair(filepath.Base(changed.Path)) + " puts it right", Err: err}
	case errors.As(err, &choice):
		return &Error{Exit: ExitNotFound, Code: "not_found", Err: err}
	case errors.As(err, &breaking):
		return &Error{Exit: ExitInvalid, Code: "invalid_skill", Hint: breaking.Problem.Cure, Err: err}
	case errors.As(err, &full), IsFull(err):
		return &Error{Exit: ExitFailure, Code: "disk_full", Hint: MakeRoom, Err: err}
	case errors.Is(err, fetch.ErrAmbiguous):
		return &Error{Exit: ExitUsage, Code: "usage", Hint: "--branch NAME or --tag NAME says which; a whole commit id is never ambiguous", Err: err}
	case errors.Is(err, fetch.ErrNetwork), errors.Is(err, oci.ErrNetwork):
		return &Error{Exit: ExitFailure, Code: string(llm.Network), Err: err}
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return &Error{Exit: ExitFailure, Code: "failed", Hint: "if the server is your own, name the certificate of its authority: SSL_CERT_FILE=FILE", Err: err}
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, syscall.EROFS):
		return &Error{Exit: ExitFailure, Code: "failed", Hint: OtherHome, Err: err}
	}
	return nil
}

// modelExit returns the exit code for a failure of a provider.
func modelExit(kind llm.ErrorKind) Exit {
	switch kind {
	case llm.BadKey:
		return ExitDenied
	case llm.NoModel:
		return ExitNotFound
	case llm.TimedOut:
		return ExitTimeout
	}
	return ExitFailure
}

func modelHint(e *llm.Error) string {
	switch e.Kind {
	case llm.BadKey:
		return "check the provider's key in the environment; docs/config.md names the variables"
	case llm.NoModel:
		return "--model PROVIDER/NAME names another one"
	case llm.RateLimit, llm.Overloaded:
		when := "later"
		if e.RetryAfter > 0 {
			when = "in " + short(e.RetryAfter)
		}
		return "try again " + when + ", or with another --model; retryTime says how long is waited"
	case llm.Network:
		return "is the server running, and the network there?"
	case llm.Cut, llm.TimedOut:
		return "ask again"
	case llm.TooLong:
		return "ask for less at once, or set contextWindow to what the model holds"
	}
	return ""
}

// short writes a time without its parts that are zero, as 1h or 1m30s.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
