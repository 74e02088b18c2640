package config

import "path/filepath"

// above returns the folders of the project that --project names a folder of: from its root down to the parent of that folder. What they
// deny and disable holds in the folder, too.
func above(project string) (out []string) {
	root := ProjectRoot(project)
	for dir := filepath.Dir(project); len(root) < len(project) && within(root, dir); dir = filepath.Dir(dir) {
		out = append([]string{dir}, out...)
		if dir == root {
			break
		}
	}
	return out
}

// inherit adds the lists that only make stricter, of the settings above the project.
func (l *loader) inherit(g given) {
	for _, dir := range l.paths.Above {
		for _, k := range keys {
			if e, ok := l.projectFile(dir)[k.name]; ok && k.project == add && k.kind != roots {
				g[k.name] = join(k, g[k.name], e)
			}
		}
	}
}
