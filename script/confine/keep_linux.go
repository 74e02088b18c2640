package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// keep adds the paths of Command.Keep to the view. A folder on the way to one is mounted on itself: what is a mount can be neither
// moved nor removed, so nothing else can take its place. For a path that does not exist the first part of it that is missing is
// made for the time of the call.
func (p *plan) keep() []*placeholder {
	var holds []*placeholder
	for _, path := range p.c.Keep {
		over, ok := p.view.above(filepath.Clean(path))
		if !ok || over.kind != writable || p.view.hides(filepath.Clean(path)) {
			continue // the command cannot change it anyway
		}
		if h := p.keepOne(over.path, filepath.Clean(path)); h != nil {
			holds = append(holds, h)
		}
	}
	return holds
}

// keepOne keeps a path below a writable folder.
func (p *plan) keepOne(root, path string) *placeholder {
	rest := strings.Split(strings.TrimPrefix(path, root+"/"), "/")
	at := root
	for i, name := range rest {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			p.links = append(p.links, at)
			if i < len(rest)-1 {
				p.missing = append(p.missing, keep+": "+at+" is a symbolic link: what it leads to can be changed")
			}
			return nil
		case err != nil || i == len(rest)-1:
			h := hold(at)
			if _, err := os.Lstat(at); err == nil {
				p.view.add(entry{path: at, kind: kept})
			}
			return h
		case !info.IsDir(): // the file itself, or one where a folder is expected: .git can be a file that names the folder
			p.view.add(entry{path: at, kind: kept})
			return nil
		default:
			if _, ok := p.view.entries[at]; !ok {
				p.view.add(entry{path: at, kind: writable})
			}
		}
	}
	return nil
}

// placeholder is a folder or a file that stands for a path which does not exist, or an empty folder that may be one. For some names it is
// a file.
type placeholder struct {
	path string
	file *os.File // locked
}

// placeholderMode marks a placeholder. Nobody else gives a folder or a file this mode.
const placeholderMode = 0o555 | fs.ModeSticky

// placeholderTexts are the names for which a placeholder is a file, with its text. Git fails on a folder of these names; these
// texts change nothing for it.
var placeholderTexts = map[string]string{"commondir": ".\n", "config.worktree": "", "alternates": ""}

// makePlaceholder makes a placeholder if there is nothing at the path.
func makePlaceholder(path string) {
	text, isFile := placeholderTexts[filepath.Base(path)]
	if !isFile {
		if os.Mkdir(path, placeholderMode) == nil {
			_ = os.Chmod(path, placeholderMode) // the umask may have removed bits
		}
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, placeholderMode)
	if err != nil {
		return
	}
	_, _ = f.WriteString(text) // without it the file is still in the way
	_ = f.Chmod(placeholderMode)
	_ = f.Close()
}

// hold makes a placeholder or shares one. It returns nil for a folder that has something in it, and where none can be made: then the
// command cannot make anything there either.
func hold(path string) *placeholder {
	const tries = 10 // another run may remove its placeholder in between
	for range tries {
		makePlaceholder(path)
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil
		}
		h := &placeholder{path: path, file: os.NewFile(uintptr(fd), path)}
		info, err := h.file.Stat()
		if err != nil || info.Mode()&(fs.ModePerm|fs.ModeSticky) != placeholderMode {
			_ = h.file.Close()
			return nil
		}
		now, lost := os.Lstat(path)
		if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == nil && lost == nil && os.SameFile(info, now) {
			return h
		}
		_ = h.file.Close()
	}
	return nil
}

// release removes the placeholder if no other run holds it.
func (h *placeholder) release() {
	if unix.Flock(int(h.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		flags := unix.AT_REMOVEDIR // it fails if there is something in it
		if _, isFile := placeholderTexts[filepath.Base(h.path)]; isFile {
			flags = 0
		}
		_ = unix.Unlinkat(unix.AT_FDCWD, h.path, flags)
	}
	_ = h.file.Close()
}
