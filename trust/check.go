package trust

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

const digestPrefix = "sha256:"

// check refuses an approval that could not be matched, or that would match more than it should.
func (a *Approval) check() error {
	if a.Name == "" || a.Name != manifest.Canonical(a.Name) {
		return fmt.Errorf("an approval needs a canonical skill name, not %q", a.Name)
	}
	digits, ok := strings.CutPrefix(a.Digest, digestPrefix)
	if !ok || !isHash(digits) {
		return fmt.Errorf("the digest of %q must be %q and 64 hexadecimal digits, not %q", a.Name, digestPrefix, a.Digest)
	}
	if a.Dir != "" && !filepath.IsAbs(a.Dir) {
		return fmt.Errorf("the directory of %q must be absolute, not %q", a.Name, a.Dir)
	}
	for _, f := range a.Files {
		if f.Path == "" || !isHash(f.SHA256) {
			return fmt.Errorf("the files of %q need a path and 64 hexadecimal digits each, not %q and %q", a.Name, f.Path, f.SHA256)
		}
	}
	return nil
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 64 && s == strings.ToLower(s)
}

func checkRoot(dir string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return fmt.Errorf("a trusted folder must be an absolute path without \"..\", not %q", dir)
	}
	if filepath.Dir(dir) == dir {
		return fmt.Errorf("%q would trust everything on this machine: name the folder that holds the skills", dir)
	}
	return nil
}
