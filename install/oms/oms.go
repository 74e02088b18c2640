// Package oms checks the signature that a skill may have: an OpenSSF Model Signing bundle in the file skill.oms.sig next to
// its SKILL.md. The bundle has the chain of certificates of the signer, and a signed list of the digests of all files.
//
// A bundle says who signed and what, not when, and it brings its own certificates: a signature means something only if the
// chain ends at a root that the user has chosen (ReadRoots). The package reads files only. It asks no server, so a
// certificate that was revoked is not noticed.
package oms

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// File is the name of the bundle in the folder of a skill.
const File = "skill.oms.sig"

// Options are the options of Verify. The zero value is usable.
type Options struct {
	// Roots are the certificates that the user trusts (ReadRoots). Without one, no signature is Valid.
	Roots []*x509.Certificate

	// Time is when the skill is known to have been there, such as the time of its installation: the certificates must be
	// valid then. The zero value is now.
	Time time.Time
}

// State is what a signature is worth.
type State uint8

// The states. Only Valid is a good one. If several are true, the first of the list after Valid counts.
const (
	Unsigned     State = iota // there is no bundle
	Valid                     // the chain ends at a root of the user, and the files are those that were signed
	Unreadable                // the bundle is damaged or hostile, or of a kind that is not supported
	BadSignature              // the signature is not by the certificate of the bundle
	FilesDiffer               // the files are not those that were signed
	Expired                   // the chain ends at a root of the user, but a certificate was not valid at Options.Time
	Untrusted                 // the chain does not end at a root of the user
	NoRoots                   // the user has no roots
)

// String returns the state as JSON and scripts have it: "valid", "files-differ" and so on.
func (s State) String() string {
	names := [...]string{"unsigned", "valid", "unreadable", "bad-signature", "files-differ", "expired", "untrusted", "no-roots"}
	if int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}

// Report is the result of Verify. Its texts are from the bundle and from the names of files: a terminal must not get them
// unchecked.
type Report struct {
	State  State
	Signer Signer // the zero value if the bundle has no readable certificate
	Reason string // why the state is not Valid; "" for Valid, Unsigned and NoRoots

	Files   int      // signed files
	Changed []string // files whose content is not the one signed, sorted
	Missing []string // signed files that are not there, sorted
	Extra   []string // files and links that are not signed, sorted
	Ignored []string // files that the signer has left out by their path, such as .gitignore: anyone can change them
}

// Signer is who signed, as the certificate says.
type Signer struct {
	Name        string    // common name and organisation
	Subject     string    // the whole name
	Issuer      string    // the whole name of who issued the certificate
	Fingerprint string    // SHA-256 of the certificate, 64 hexadecimal digits
	Expires     time.Time // when the certificate does
	Root        string    // name of the user's root that the chain ends at, or ""
}

// Broken reports whether there is a signature that does not hold: it is not one of these files, or not good, or not of a time
// when it could be made. A signature that no root of the user confirms is not broken: it says nothing.
func (r *Report) Broken() bool {
	switch r.State {
	case Unreadable, BadSignature, FilesDiffer, Expired:
		return true
	}
	return false
}

// String returns one line for people, such as "signed by Example Signing (Example Ltd), all 12 files are as signed".
func (r *Report) String() string {
	by := "signed by " + r.Signer.Name
	if r.State == FilesDiffer && r.Signer.Root == "" {
		by += ", which no configured root confirms"
	}
	switch r.State {
	case Unsigned:
		return "not signed"
	case Valid:
		line := fmt.Sprintf("%s, all %d files are as signed", by, r.Files)
		if n := len(r.Ignored); n > 0 {
			line += fmt.Sprintf("; not covered: %s", some(r.Ignored))
		}
		return line
	case Unreadable:
		return "the signature cannot be checked: " + r.Reason
	case BadSignature:
		return "the signature is wrong: " + r.Reason
	case FilesDiffer:
		return by + ", but " + r.Reason
	case NoRoots:
		return by + ", no configured root says whether that is true"
	default:
		return by + ", which is not trusted: " + r.Reason
	}
}

// Verify checks the bundle of the skill in fsys, whose root is the folder of the skill. It returns an error if a file cannot
// be read or if the skill has too many; whatever is wrong with the signature is in the report. A skill without a bundle is
// Unsigned.
func Verify(ctx context.Context, fsys fs.FS, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	r := &Report{}
	err := r.fill(ctx, fsys, o)
	var fault *fault
	switch {
	case errors.As(err, &fault):
		r.State, r.Reason = fault.state, fault.reason
		return r, nil
	case err != nil:
		return nil, err
	}
	return r, nil
}

// fault is what is wrong with a bundle.
type fault struct {
	state  State
	reason string
}

func (f *fault) Error() string { return f.reason }

// bad returns an error for a bundle that cannot be read.
func bad(format string, args ...any) error {
	return &fault{Unreadable, fmt.Sprintf(format, args...)}
}

// fill makes the report. It returns a *fault for what is wrong with the bundle.
func (r *Report) fill(ctx context.Context, fsys fs.FS, o *Options) error {
	raw, err := readBundle(fsys)
	if err != nil || raw == nil {
		return err
	}
	b, err := parseBundle(raw)
	if err != nil {
		return err
	}
	r.Signer = signerOf(b.chain[0])
	if err := b.checkSignature(); err != nil {
		return err
	}
	st, err := parseStatement(b.payload)
	if err != nil {
		return err
	}
	r.Files = len(st.files)
	if err := st.compare(ctx, fsys, r); err != nil {
		return err
	}
	r.State, r.Reason = b.checkChain(o, &r.Signer)
	if reason := r.difference(); reason != "" {
		return &fault{FilesDiffer, reason}
	}
	return nil
}

// difference says how the files differ from those that were signed. It returns "" if they do not.
func (r *Report) difference() string {
	var parts []string
	for _, kind := range []struct {
		names []string
		what  string
	}{{r.Changed, "changed since"}, {r.Missing, "missing"}, {r.Extra, "not signed"}} {
		if len(kind.names) > 0 {
			parts = append(parts, kind.what+": "+some(kind.names))
		}
	}
	return strings.Join(parts, "; ")
}

// shown is how many names a line has.
const shown = 3

func some(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
