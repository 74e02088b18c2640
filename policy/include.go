package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Include names another document, whose rules hold as well. It is known by the digest of its content or by who signed it, so that it does
// not matter where it was kept.
type Include struct {
	Source string // of a git repository or an OCI artifact
	Path   string // slash path of the file in it; "" means policy.yaml
	Digest string // of the file, sha256: and 64 hexadecimal digits; "" if Signer is set
	Signer string // PEM file with the certificates of who signed the folder of the file; "" if Digest is set
	At     Place
}

// File returns the path of the file in the source.
func (in *Include) File() string {
	if in.Path == "" {
		return "policy.yaml"
	}
	return path.Clean(in.Path)
}

// String returns the source and the path of the file in it: "https://git.example.com/policy.git//policy.yaml".
func (in *Include) String() string { return in.Source + "//" + in.File() }

// ErrNotFetched is the error of a document that another includes and that is not on this machine.
var ErrNotFetched = errors.New("it has not been fetched")

// Read reads the document from the folder of its file. It allows nothing if it is not the one that is meant, names others itself, or
// cannot be used. signed reports whether a certificate of a PEM file vouches for the signature of the folder.
func (in *Include) Read(fsys fs.FS, signed func(certificates []byte) (bool, error)) *Document {
	name := in.String()
	src, err := readAll(fsys, path.Base(in.File()))
	if err == nil {
		err = in.check(src, signed)
	}
	if err != nil {
		return Closed(name, err)
	}
	d, err := Parse(src, name)
	if err == nil && len(d.includes) > 0 {
		return Closed(name, fmt.Errorf("line %d: only the policy of the machine includes others", d.includes[0].At.Line))
	}
	return d
}

// check returns an error for a file that is not the one that is meant.
func (in *Include) check(src []byte, signed func(certificates []byte) (bool, error)) error {
	if in.Digest != "" {
		sum := sha256.Sum256(src)
		if got := "sha256:" + hex.EncodeToString(sum[:]); got != in.Digest {
			return fmt.Errorf("its digest is %s and not %s", got, in.Digest)
		}
		return nil
	}
	certificates, err := readFile(in.Signer)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Signer, err)
	}
	ok, err := signed(certificates)
	if err == nil && !ok {
		err = fmt.Errorf("no certificate of %s vouches for it", in.Signer)
	}
	return err
}

func readAll(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFetched
	}
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return readCapped(f)
}

func readCapped(r io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	switch {
	case err != nil:
		return nil, reason(err)
	case len(src) > MaxFile:
		return nil, fmt.Errorf("the file has more than %d bytes", MaxFile)
	}
	return src, nil
}

// With returns the document and those that it includes, as read reads each. Whom to ask is that of the document, where they say nobody. Without it, a document that includes others allows nothing.
func (d *Document) With(read func(*Include) *Document) []*Document {
	if d == nil || len(d.includes) == 0 {
		return []*Document{d}
	}
	whole := *d
	whole.whole = true
	out := []*Document{&whole}
	for i := range d.includes {
		other := *read(&d.includes[i])
		if other.contact == "" {
			other.contact = d.contact
		}
		out = append(out, &other)
	}
	return out
}
