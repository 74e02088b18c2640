package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hideSockets puts something empty over the sockets of programs outside that lie in folders which the command sees: over one it would
// reach its service, whatever network it has. One that the user granted by its own name can be reached. Without namespaces the command
// has no unix sockets.
func (p *plan) hideSockets() {
	text, err := os.ReadFile("/proc/self/net/unix")
	if err != nil {
		p.missing = append(p.missing, "sockets: it is not known which there are, so those in folders that it sees can be reached")
		return
	}
	for _, name := range boundNames(string(text)) {
		if filepath.IsAbs(name) {
			p.hideSocket(name)
			continue
		}
		for _, dir := range slices.Concat(p.extra, p.c.Read, p.c.Write) { // relative to a folder that is not known
			p.hideSocket(filepath.Join(dir, name))
		}
	}
}

func (p *plan) hideSocket(path string) {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	over, ok := p.view.above(path)
	if _, granted := p.view.entries[path]; granted || !ok || over.kind != readable && over.kind != writable && over.kind != kept && over.kind != layered {
		return
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		p.view.add(entry{path: path, kind: hiddenFile, optional: true})
	}
}

// boundNames returns the names of the unix sockets in a list of /proc/net/unix, without abstract ones.
func boundNames(list string) []string {
	const columns = 7 // before the name, which may have spaces
	var names []string
	for line := range strings.Lines(list) {
		rest := strings.TrimSuffix(line, "\n")
		for range columns {
			_, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		}
		if rest != "" && rest[0] != '@' && rest != "Path" {
			names = append(names, rest)
		}
	}
	return names
}
