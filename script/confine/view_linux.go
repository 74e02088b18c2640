package confine

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/confine/internal/stage"
)

// system lists what programs need of a usual Linux. Private keys of the machine lie beside some of it, so these are no whole
// folders of /etc.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/run/current-system/sw",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
	"/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
	"/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/magic", "/etc/services", "/etc/protocols", "/etc/os-release",
	"/etc/debian_version", "/etc/fonts", "/etc/terminfo", "/etc/perl", "/etc/ImageMagick-6", "/etc/ImageMagick-7", "/etc/texmf",
	"/var/lib/texmf", "/etc/nsswitch.conf", "/sys/devices/system/cpu",
}

// online lists what a command with the whole network needs in addition.
var online = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/gai.conf", "/etc/host.conf"}

// public lists what a command reads of the machine where it has no files of its own in their place.
var public = []string{"/etc/passwd", "/etc/group", "/etc/hosts"}

// devices lists the devices that a command may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// entry is one path that a command sees.
type entry struct {
	path     string
	kind     entryKind
	text     string // of a link or a file
	from     string // what is mounted at path, if that is another folder
	optional bool
	holds    bool // a hiddenFolder: something that the command sees is in it
}

type entryKind uint8

const (
	readable entryKind = iota + 1
	writable
	kept // readable below a writable one
	device
	private // a tmpfs of its own, or the folder from; what is not made in it for the command is not there
	link
	file
	folder       // empty
	hiddenFolder // nothing in it can be reached
	hiddenFile   // cannot be read
	layered      // a folder under one that takes all changes
)

// view is what a command sees and may do: one entry for each path.
type view struct{ entries map[string]entry }

func (v *view) add(e entry) {
	old, ok := v.entries[e.path]
	if ok && old.kind == writable && e.kind == readable {
		return
	}
	if ok && old.kind == kept && e.kind == writable { // a folder on the way to another one that is kept
		return
	}
	v.entries[e.path] = e
}

// path adds a path of the machine whose links may be followed: the links become links in the view.
func (v *view) follow(path string) {
	real, links, err := paths.Resolve(path)
	if err != nil {
		return
	}
	v.addLinks(links)
	v.add(entry{path: real, kind: readable, optional: true})
}

// addLinks adds links, as they are. What is made for the command alone stays.
func (v *view) addLinks(links []paths.Link) {
	for _, l := range links {
		if _, ok := v.entries[l.Path]; !ok {
			v.add(entry{path: l.Path, kind: link, text: l.Text})
		}
	}
}

// all returns the entries in an order in which each comes after those above it.
func (v *view) all() []entry {
	return slices.SortedFunc(maps.Values(v.entries), func(a, b entry) int { return strings.Compare(a.path, b.path) })
}

// sorted returns all entries but those that an entry above has.
func (v *view) sorted() []entry {
	list := make([]entry, 0, len(v.entries))
	for _, e := range v.all() {
		over, ok := v.above(e.path)
		inMount := ok && (over.kind == readable || over.kind == writable || over.kind == kept || over.kind == layered)
		if inMount && (e.kind == link || e.kind == file) {
			continue
		}
		if inMount && e.kind == readable && e.from == "" && over.kind != writable {
			continue
		}
		list = append(list, e)
	}
	return list
}

// sees reports whether there is anything at a path.
func (v *view) sees(path string) bool {
	if path == "/" {
		return true
	}
	_, exact := v.entries[path]
	over, ok := v.above(path)
	return exact || ok && over.kind != private && over.kind != hiddenFolder
}

// hides reports whether there is something unreadable at a path, in place of what is hidden.
func (v *view) hides(path string) bool {
	kind := v.entries[path].kind
	return kind == hiddenFolder || kind == hiddenFile
}

// above returns the nearest entry above a path.
func (v *view) above(path string) (entry, bool) {
	for path != "/" {
		path = filepath.Dir(path)
		if e, ok := v.entries[path]; ok {
			return e, true
		}
	}
	return entry{}, false
}

// Attributes of mounts.
const (
	attrWritable = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrReadable = attrWritable | unix.MOUNT_ATTR_RDONLY
	attrDevice   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// operation returns what makes the entry in a private root.
func (e entry) operation() stage.Op {
	if e.kind == hiddenFolder || e.kind == hiddenFile {
		return e.hiding()
	}
	op := stage.Op{Code: stage.Bind, A: e.path, B: e.from}
	if e.optional {
		op.M = stage.BindOptional
	}
	switch e.kind {
	case readable, kept:
		op.N = attrReadable
	case writable:
		op.N = attrWritable
	case device:
		op.N = attrDevice
	case private:
		if op.N = attrWritable; e.from == "" {
			op.Code, op.N, op.B = stage.Tmpfs, 0, e.text
		}
	case layered:
		op.Code, op.B = stage.Overlay, e.text
	case folder:
		op.Code = stage.Dir
	case link:
		op.Code, op.B = stage.Symlink, e.text
	case file:
		op.Code, op.B = stage.Text, e.text
	}
	return op
}
