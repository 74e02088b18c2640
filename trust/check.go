package trust

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/skill/manifest"
)

const digestPrefix = "sha256:"

// check returns an error for an approval that could match nothing, or more than it should.
func (a *Approval) check() error {
	if a.Name == "" || a.Name != manifest.Canonical(a.Name) {
		return fmt.Errorf("approval of %q: the name is not canonical", a.Name)
	}
	digits, ok := strings.CutPrefix(a.Digest, digestPrefix)
	if !ok || !isHash(digits) {
		return fmt.Errorf("approval of %q: digest %q is not %q and 64 hexadecimal digits", a.Name, a.Digest, digestPrefix)
	}
	if a.Layer == "" || !utf8.ValidString(a.Layer) {
		return fmt.Errorf("approval of %q: the layer %q is not that of an ID of a skill", a.Name, a.Layer)
	}
	if a.Dir != "" && (!filepath.IsAbs(a.Dir) || !utf8.ValidString(a.Dir)) {
		return fmt.Errorf("approval of %q: directory %q is not absolute, or not UTF-8", a.Name, a.Dir)
	}
	if err := cmp.Or(a.Wants.Check(), a.Forgoes.Check()); err != nil {
		return fmt.Errorf("approval of %q: %w", a.Name, err)
	}
	for _, f := range a.Files {
		if f.Path == "" || !isHash(f.SHA256) {
			return fmt.Errorf("approval of %q: file %q has the hash %q, not 64 hexadecimal digits", a.Name, f.Path, f.SHA256)
		}
	}
	return nil
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 64 && s == strings.ToLower(s)
}

func checkRoot(dir string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || !utf8.ValidString(dir) {
		return fmt.Errorf("trusted folder %q is not a clean absolute path in UTF-8", dir)
	}
	if filepath.Dir(dir) == dir {
		return fmt.Errorf("trusted folder %q would include every file of this machine", dir)
	}
	return nil
}

// tooWide returns an error for a folder that also holds what nobody chose to trust: the home, with all that its user downloads, or what
// every user of the machine puts there.
func tooWide(dir, home string) error {
	if home != "" && paths.Holds(dir, home) {
		return fmt.Errorf("trusted folder %q would include your whole home, with all that you download: name a folder that has your own skills alone", dir)
	}
	const everyones = 0o002
	if info, err := os.Stat(dir); err == nil && info.Mode()&fs.ModeSticky != 0 && info.Mode()&everyones != 0 {
		return fmt.Errorf("trusted folder %q would include what every user of this machine puts there: name a folder that has your own skills alone", dir)
	}
	return nil
}

// RootRisk says why trusting the folder dir as a whole is risky, such as `"/srv/skills" is writable by other users (mode
// 0777)`. It returns "" if only this user and root can change what the folder has, or if that cannot be known.
func RootRisk(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if err := lockfile.CheckOwner(dir, info); err != nil {
		return err.Error()
	}
	return ""
}
