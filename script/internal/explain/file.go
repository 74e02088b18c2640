package explain

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// refusedFile is the cause of an Error with the reason ReasonBlocked: a script failed at a file that it may not write or see.
type refusedFile struct {
	Path  string // absolute; the file or folder that the script used
	Dir   string // the folder, or the file with Kept, that a grant would name; "" if no grant helps
	Write bool   // it was to be written, else read
	Here  bool   // it lies in the folder where the user stands, which a grant of Here opens
	Kept  bool   // other programs run or obey it: no script writes it, unless it was granted by its name
	Rule  bool   // a rule of the user's denies it: no grant helps
	Own   bool   // it lies in the skill's own folder, which the script may not change
	Again bool   // with Own: the next run may, in a copy of the folder

	recorded bool // the sandbox saw it; else only the output says that it was used
}

// wants returns what would let the script use the file: nothing if no grant does.
func (b *refusedFile) wants() want.Set {
	w := want.Want{Kind: want.Read, Name: b.Dir, From: want.Seen}
	if b.recorded {
		w.From = want.Refused
	}
	switch {
	case b.Dir == "" || b.Rule || b.Own:
		return nil
	case b.Here:
		w.Name = want.Here
	}
	if b.Write {
		w.Kind = want.Write
	}
	return want.New(w)
}

// Error says what the script may not do, and where it may write instead.
func (b *refusedFile) Error() string {
	switch {
	case b.Rule:
		return fmt.Sprintf("a rule of the user's denies %s", b.Path)
	case b.Own && b.Again:
		return fmt.Sprintf("it changes %s in the skill's own folder, which is read-only: run it again, and it works in a copy of that folder", filepath.Base(b.Path))
	case b.Own:
		return fmt.Sprintf("it writes %s in the skill's own folder, which is read-only: it can write in the user's directory, or in "+
			"the folder that AGENT_SKILL_CACHE_DIR names, which stays for the next run", filepath.Base(b.Path))
	case b.Kept && b.Dir != "":
		return fmt.Sprintf("no script may write %s, because other programs run or obey it, unless it was granted by its name", b.Path)
	case b.Kept:
		return fmt.Sprintf("no script may write %s, because other programs run or obey it", b.Path)
	}
	if b.Write {
		return saysThat + "it may not write in " + b.Dir
	}
	return saysThat + "it may not read " + b.Path
}

// A failed access to a file, as Python, Node.js, shells and the system's programs report it, and the path in it.
var (
	accessFailed = lazyregexp.New(`(?i)(read-only file system|permission denied|operation not permitted|no such file or directory|EROFS|EACCES|EPERM|ENOENT)`)
	accessPath   = lazyregexp.New("['\"‘`]([^'\"’`\n]{1,1000})['\"’`]")
	shellPath    = lazyregexp.New(`(?i)([^\s:'"][^:'"\n]{0,1000}): (?:read-only file system|permission denied|operation not permitted|no such file or directory)`)
)

// mostAccesses is how many lines of a script's output are read for failed accesses, from its end.
const mostAccesses = 50

// blocked recognises a failure because of a file that the command may not write or does not see. It returns nil for another
// one. here are the folders that Here stands for.
func blocked(cmd *runner.Command, out *runner.Output, here []string) *refusedFile {
	for _, line := range lastLines(out) {
		how := accessFailed().Find(line)
		if how == nil {
			continue
		}
		for _, path := range pathsIn(line) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(cmd.Dir, path)
			}
			if b := blocks(cmd, filepath.Clean(path), refusalOf(string(how)), out.Sandbox.ConfinesFiles()); b != nil {
				b.Here = b.Write && !b.Kept && b.Dir != "" && paths.Within(here, b.Path)
				return b
			}
		}
	}
	return unseen(cmd, out)
}

// lastLines returns the last lines of what a command wrote, the last one first.
func lastLines(out *runner.Output) [][]byte {
	lines := bytes.Split(output.Both(out), []byte("\n"))
	slices.Reverse(lines)
	return lines[:min(len(lines), mostAccesses)]
}

// unseen recognises a file that the command was told to use and does not see. Many scripts report such a file as missing in
// their own words.
func unseen(c *runner.Command, out *runner.Output) *refusedFile {
	if !out.Sandbox.ConfinesFiles() || len(c.Args) == 0 {
		return nil
	}
	for _, arg := range c.Args[1:] {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if !filepath.IsAbs(arg) && !strings.HasPrefix(arg, "..") {
			continue
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		path = filepath.Clean(path)
		if paths.Within(ofSystem, path) || path == "/" {
			continue
		}
		if b := blocks(c, path, absent, true); b != nil && !b.Write {
			return b
		}
	}
	return nil
}

// ofSystem are folders that commands see without a grant, in whole or in part.
var ofSystem = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/nix", "/gnu"}

// pathsIn returns what may be the path in the report of a failed access.
func pathsIn(line []byte) []string {
	var out []string
	for _, found := range accessPath().FindAllSubmatch(line, 4) {
		out = append(out, string(found[1]))
	}
	if found := shellPath().FindSubmatch(line); found != nil {
		path := strings.TrimSpace(string(found[1]))
		if at := strings.LastIndex(path, " /"); at >= 0 { // after the name of a call: open /a/b
			path = path[at+1:]
		}
		out = append(out, path)
	}
	return out
}

// refusal is what an error of the system says of a file.
type refusal int

const (
	absent    refusal = iota // it is not there
	denied                   // it may not be used so
	unwritten                // it may not be written
)

func refusalOf(how string) refusal {
	how = strings.ToLower(how)
	switch {
	case how == "enoent", strings.HasPrefix(how, "no such"):
		return absent
	case how == "erofs", strings.HasPrefix(how, "read-only"):
		return unwritten
	}
	return denied
}

// blocks returns why a command fails at a path: how says what the system said of it, confined that a sandbox held.
func blocks(c *runner.Command, path string, how refusal, confined bool) *refusedFile {
	path = paths.Real(path) // those of the command have no links
	denied := how != absent
	_, missing := os.Lstat(path)
	dir := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir = path
	}
	_, missingDir := os.Stat(dir)
	for up := filepath.Dir(dir); denied && missingDir != nil && up != filepath.Dir(up); up = filepath.Dir(up) { // as mkdir -p
		dir = up
		_, missingDir = os.Stat(dir)
	}
	switch {
	case len(c.Read) > 0 && paths.Within(c.Read[:1], path):
		if denied && c.Access(path) != runner.MayWrite {
			return &refusedFile{Path: path, Write: true, Own: true}
		}
	case !confined:
	case denied && paths.Within(c.Keep, path):
		return keptAt(c, path)
	case denied && (c.Access(path) == runner.MayRead || missing != nil && missingDir == nil && c.Access(dir) == runner.MayRead):
		return &refusedFile{Path: path, Dir: dir, Write: true}
	case c.Access(path) != runner.Hides:
	case missing == nil:
		b := &refusedFile{Path: path, Dir: dir, Write: how == unwritten}
		if !b.Write {
			b.Dir = path // what is beside the file is not needed
		}
		return b
	case how == absent && inTemp(c, path):
		// it is not there, and could be written
	case missingDir == nil && dir != "/":
		return &refusedFile{Path: path, Dir: dir, Write: true}
	}
	return nil
}

// keptAt returns why a command does not write a path that lies in one of Keep or Absent.
func keptAt(c *runner.Command, path string) *refusedFile {
	b := &refusedFile{Path: path, Write: true, Kept: true}
	for _, kept := range slices.Concat(c.Keep, c.Absent) {
		info, err := os.Lstat(kept)
		if paths.Within([]string{kept}, path) && runner.MayBeGranted(kept, err == nil && info.IsDir()) {
			b.Dir = kept
		}
	}
	return b
}

// undoneAt is keptAt for what a command did change.
func undoneAt(c *runner.Command, u *runner.Undone) *refusedFile {
	b := keptAt(c, u.Path)
	if u.Why != "" && runner.MayBeGranted(u.Path, u.IsDir) {
		b.Dir = u.Path
	}
	return b
}

// inTemp reports whether a path that is not there names something in Command.Temp by the name of the system's folder.
func inTemp(c *runner.Command, path string) bool {
	_, missing := os.Lstat(path) // what is there is not seen
	return c.Temp != "" && missing != nil && filepath.Dir(path) == runner.SystemTemp
}
