package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
)

// Place makes the folders absolute, except trust.Here. It returns an error for one that no script gets; own is the folder where the
// approvals are and what other skills keep, "" for none.
func (a *Given) Place(sys *System, own string) error {
	for i, dir := range a.Read {
		if dir == trust.Here {
			continue
		}
		a.Read[i] = sys.Abs(dir)
		if own != "" && paths.WithinReal(own, a.Read[i]) {
			return ownFolder(dir, own)
		}
	}
	for i, dir := range a.Write {
		if dir == trust.Here {
			continue
		}
		a.Write[i] = sys.Abs(dir)
		if err := checkWrite(a.Write[i], sys.Home, own); err != nil {
			return err
		}
	}
	return nil
}

// Free makes the folders absolute, to take them back: any of them.
func (a *Given) Free(sys *System) {
	for _, list := range [][]string{a.Read, a.Write} {
		for i, dir := range list {
			if dir != trust.Here {
				list[i] = sys.Abs(dir)
			}
		}
	}
}

// refusedEntry is an entry of a manifest's permissions that no script gets, whoever says yes.
type refusedEntry struct{ entry, why string }

// refused returns the folders among a manifest's permissions that could not be granted by their names either.
func refused(m *manifest.Manifest, home, own string) []refusedEntry {
	var out []refusedEntry
	for _, entry := range script.Declared(m) {
		read, isRead := strings.CutPrefix(entry, script.WordRead)
		write, isWrite := strings.CutPrefix(entry, script.WordWrite)
		dir := read
		if isWrite {
			dir = write
		}
		if below, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
			dir = filepath.Join(home, filepath.FromSlash(below))
		}
		switch {
		case !isRead && !isWrite || !filepath.IsAbs(dir):
		case isRead && own != "" && paths.WithinReal(own, dir):
			out = append(out, refusedEntry{entry, "the approvals and the private files of all skills are in it"})
		case isWrite:
			if why := whyNotWritten(dir, home, own); why != "" {
				out = append(out, refusedEntry{entry, why})
			}
		}
	}
	return out
}

// refusedWords returns the entries.
func refusedWords(list []refusedEntry) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.entry)
	}
	return out
}

func ownFolder(dir, own string) error {
	return Denied(fmt.Errorf("%q cannot be granted: the approvals and the private files of all skills are in %q", dir, own), "")
}

// ofMachine are folders with settings of the machine. program.OfSystem has its programs.
var ofMachine = []string{"/etc", "/boot", "/dev", "/proc", "/sys", "/root/.ssh", "/var/spool/cron", "/private/etc", "/Library"}

// keyFolders are the folders and files of a home that have keys, or passwords.
var keyFolders = []string{".ssh", ".gnupg", ".aws", ".kube", ".password-store", ".netrc"}

// checkWrite returns an error for a folder that no script writes: one that holds everything, or what decides which programs run and who
// may come in. The user's own folders in it can be granted by their names.
func checkWrite(dir, home, own string) error {
	if own != "" && paths.WithinReal(own, dir) {
		return ownFolder(dir, own)
	}
	why := whyNotWritten(dir, home, own)
	if why == "" {
		return nil
	}
	return Denied(fmt.Errorf("%q cannot be granted to write: %s", dir, why), "name the folders that the skill needs, such as --write ~/notes")
}

// whyNotWritten returns why no script writes a folder, "" if one may.
func whyNotWritten(dir, home, own string) string {
	why := ""
	switch {
	case filepath.Dir(dir) == dir:
		why = "every file of this machine is in it"
	case program.OfSystem(dir) || withinAny(dir, ofMachine):
		why = "programs and settings of the machine are in it"
	case home != "" && paths.WithinReal(dir, home):
		why = "your whole home is in it, with your keys and what your shell runs"
	case own != "" && (paths.WithinReal(dir, own) || paths.WithinReal(own, dir)):
		why = "the approvals and the private files of all skills are in it"
	}
	for _, name := range keyFolders {
		if home != "" && why == "" && paths.WithinReal(filepath.Join(home, name), dir) {
			why = "keys are in it"
		}
	}
	return why
}

func withinAny(dir string, others []string) bool {
	for _, other := range others {
		if paths.WithinReal(other, dir) {
			return true
		}
	}
	return false
}
