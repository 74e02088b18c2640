package git

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// What can go wrong. Errors of this package wrap one of these, so callers compare with errors.Is.
var (
	ErrMissing     = errors.New("git was not found")
	ErrTooOld      = errors.New("git is too old")
	ErrURL         = errors.New("cannot use the URL")
	ErrNotFound    = errors.New("Repository not found")
	ErrAuth        = errors.New("Repository requires authentication")
	ErrHostKey     = errors.New("the key of the host is not known")
	ErrCertificate = errors.New("the certificate of the server was refused")
	ErrMoved       = errors.New("the repository has moved")
	ErrNetwork     = errors.New("the network failed")
	ErrName        = errors.New("no such branch, tag or commit")
	ErrAmbiguous   = errors.New("the name is ambiguous")
	ErrTooMuch     = errors.New("more than is taken from one repository")
	ErrTooMany     = errors.New("more files than are taken from one repository") // also an ErrTooMuch
	ErrHostile     = errors.New("the repository is damaged or hostile")
	ErrFull        = fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
	ErrFailed      = errors.New("git failed")
)

// tooMuch is a limit that was passed.
type tooMuch struct{ what string }

func (e *tooMuch) Error() string        { return ErrTooMuch.Error() + ": " + e.what }
func (e *tooMuch) Is(target error) bool { return target == ErrTooMuch }

// tooMany is more files than are allowed.
type tooMany struct{ tooMuch }

func (e *tooMany) Is(target error) bool { return target == ErrTooMany || target == ErrTooMuch }

// silence is a server that did not answer in time.
type silence struct{ after time.Duration }

func (e *silence) Error() string { return "no answer within " + e.after.String() }

// reasons are the words by which a failure is recognised, in lower case. The first that fits counts.
var reasons = []struct {
	words []string
	err   error
	next  string // what to do
}{
	{[]string{"no space left on device", "disk quota exceeded"}, ErrFull,
		"make room and try again"},
	{[]string{"cannot run ssh"}, ErrFailed,
		"install ssh in a folder of PATH"},
	{[]string{"host key verification failed", "no matching host key", "remote host identification has changed"}, ErrHostKey,
		"connect to it once with ssh and compare its key, or add the key to known_hosts"},
	{[]string{"ssl certificate problem", "server certificate verification failed", "certificate verify failed", "certificate subject name", "self-signed certificate", "self signed certificate"}, ErrCertificate,
		"if the server is your own, name its authority in http.sslCAInfo of your git configuration, or in GIT_SSL_CAINFO"},
	{[]string{"could not read username", "could not read password", "authentication failed", "permission denied (", "http basic: access denied", "returned error: 401", "returned error: 403", "invalid credentials", "terminal prompts disabled"}, ErrAuth,
		"if it exists, set up a credential helper of git, a program in GIT_ASKPASS or a key in the ssh agent; url.*.insteadOf that leads elsewhere is not followed"},
	{[]string{"returned error: 301", "returned error: 302", "returned error: 303", "returned error: 307", "returned error: 308", "unable to update url base from redirection"}, ErrMoved,
		"use the address that it has now"},
	{[]string{"repository not found", "not found", "does not appear to be a git repository", "could not be found", "does not exist", "no such file or directory"}, ErrNotFound,
		"check the address; a private repository may need credentials"},
	{[]string{"repository corruption on the remote side", "fsck", "pack has bad object", "hash mismatch", "missing necessary objects", "did not send all necessary objects", "inflate returned", "pack is corrupted"}, ErrHostile,
		"its owner has to mend it"},
	{[]string{"detected dubious ownership"}, ErrFailed,
		"it belongs to another user: copy it, or use a repository of your own"},
	{[]string{"could not resolve host", "couldn't connect", "failed to connect", "connection refused", "connection timed out", "operation timed out", "operation too slow", "timed out", "connection reset", "connection closed",
		"network is unreachable", "no route to host", "early eof", "unexpected disconnect", "the remote end hung up", "rpc failed", "returned error: 429", "returned error: 5", "recv failure", "empty reply", "ssl_error", "gnutls"}, ErrNetwork,
		"check the connection and the proxy, and try again"},
	{[]string{"not our ref", "unadvertised object", "couldn't find remote ref", "bad object"}, ErrName,
		"the server does not have it, or does not give out commits that no branch or tag names"},
}

// explain returns the error of a run that failed at its n-th attempt.
func explain(address string, err error, n int) error {
	tried := ""
	if n > 1 {
		tried = fmt.Sprintf(" after %d attempts", n)
	}
	var f *failure
	switch {
	case errors.As(err, new(*silence)):
		return fmt.Errorf("%w%s: %s (%w): check the connection and the proxy, and try again", ErrNetwork, tried, address, err)
	case !errors.As(err, &f):
		return fmt.Errorf("%s: %w", address, err)
	}
	said := strings.ToLower(f.stderr)
	for _, r := range reasons {
		for _, words := range r.words {
			if !strings.Contains(said, words) {
				continue
			}
			return fmt.Errorf("%w%s: %s (git says: %s): %s", r.err, tried, address, lastWords(f.stderr), r.next)
		}
	}
	return fmt.Errorf("%w with exit code %d: %s (git says: %s): try the same with git ls-remote", ErrFailed, f.code, address, lastWords(f.stderr))
}

const mostWords = 300 // bytes of what git says in an error

// lastWords returns the line of stderr that says most about a failure, without control characters. It may be of the server.
func lastWords(stderr string) string {
	said := "nothing"
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(line, "")))
		if line == "" || strings.HasPrefix(line, "warning: ") || strings.HasPrefix(line, "From ") {
			continue
		}
		if len(line) > mostWords {
			line = strings.ToValidUTF8(line[:mostWords], "") + "…"
		}
		if !strings.HasPrefix(line, "remote: ") {
			return line
		}
		said = line
	}
	return said
}

// printable drops what a terminal could obey or hide.
func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// bytesText returns a number of bytes as people read it.
func bytesText(n uint64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
