package filename

import (
	"fmt"
	"path"
	"strings"
)

// Kind is what has a path.
type Kind int

// Kinds.
const (
	None   Kind = iota // nothing, or what is left out
	File               // a regular file
	Folder             // a folder
	Link               // a symbolic link
)

// MaxTarget is how many bytes the target of a symbolic link may have.
const MaxTarget = 1024

// Follow returns the regular file that a symbolic link among other files stands for. link is the path of the link from their root,
// target what the link says, kind says what has a path. If why is not "", no copy of a file can take the place of the link, as for
// "is a symbolic link to /etc/passwd, an absolute path". A SKILL.md is never copied: what it leads to is mostly the skill itself,
// which would then be there twice. Only names are looked at: nothing outside the root is ever asked about.
func Follow(link, target string, kind func(path string) Kind) (file, why string) {
	no := func(reason string) (string, string) {
		return "", fmt.Sprintf("is a symbolic link to %.80q, %s", target, reason)
	}
	if target == "" || len(target) > MaxTarget || strings.ContainsAny(target, "\\\x00") || hasDrive(target) {
		return no("which is no path of a file")
	}
	if target[0] == '/' {
		return no("an absolute path")
	}
	if strings.EqualFold(path.Base(link), "SKILL.md") {
		return no("and a skill needs a SKILL.md of its own")
	}
	at := path.Dir(link)
	for part := range strings.SplitSeq(target, "/") {
		if part == "" || part == "." {
			continue
		}
		if !above(at, link) && kind(at) != Folder {
			return no("which does not lead through folders only")
		}
		if part != ".." {
			at = path.Join(at, part)
		} else if at == "." {
			return no("which lies outside")
		} else {
			at = path.Dir(at)
		}
	}
	if above(at, link) {
		return no("a folder")
	}
	switch kind(at) {
	case File:
		if strings.HasSuffix(target, "/") {
			return no("which is no path of a file")
		}
		return at, ""
	case Folder:
		return no("a folder")
	case Link:
		return no("another link")
	}
	return no("which is not there")
}

// above reports whether a path is a folder because something lies below it.
func above(dir, p string) bool { return dir == "." || strings.HasPrefix(p, dir+"/") }

// hasDrive reports whether a path begins with a drive of Windows.
func hasDrive(p string) bool { return len(p) > 1 && p[1] == ':' }
