package config

import "slices"

// Layer is one folder of skills in the order of precedence.
type Layer struct {
	Name  string // Enterprise, Extra, PluginDir …; several may share one
	Dir   string // absolute; "" for the embedded skills
	Mount string // "" means the default
}

// Layers returns the folders of skills, highest precedence first (C16, REQUIREMENTS 1.3). They need not exist. A folder
// that has two names is there once: as the user's, or else as the one with the higher precedence.
func (c *Config) Layers() []Layer {
	var all []Layer
	for _, name := range c.Precedence {
		all = append(all, c.layers(name)...)
	}
	users, seen := map[string]bool{}, map[string]bool{}
	for _, l := range c.layers(UserDir) {
		users[l.Dir] = true
	}
	return slices.DeleteFunc(all, func(l Layer) bool {
		if l.Name == Bundled {
			return false
		}
		drop := seen[l.Dir] || users[l.Dir] && l.Name != UserDir
		seen[l.Dir] = seen[l.Dir] || !drop
		return drop
	})
}

// layers returns the folders of one layer, highest first.
func (c *Config) layers(name string) []Layer {
	p := c.Paths
	var dirs []string
	switch name {
	case Enterprise:
		dirs = []string{c.omniforge(p.Home, "enterprise", "skills"), p.Enterprise()}
	case PluginDir:
		dirs = []string{c.PluginsDir}
	case ProjectDir:
		dirs = []string{c.omniforge(p.Project, "skills"), under(p.Project, ".agent", "skills"), under(p.Project, ".agents", "skills")}
	case Claude:
		dirs = []string{under(p.Project, ".claude", "skills")}
	case UserDir:
		dirs = []string{c.omniforge(p.Home, "skills"), c.UserDir, under(p.Home, ".agents", "skills"), under(p.Home, ".claude", "skills")}
	case Bundled:
		return []Layer{{Name: Bundled, Dir: c.CoreDir}}
	}
	var out []Layer
	for _, dir := range dirs {
		if dir != "" {
			out = append(out, Layer{Name: name, Dir: dir})
		}
	}
	for _, r := range c.Roots {
		if r.Project && name == ProjectDir || !r.Project && name == Extra {
			out = append(out, Layer{Name: name, Dir: r.Dir, Mount: r.Mount})
		}
	}
	return out
}

// omniforge returns a folder of R59, which counts with the precedence of that name alone.
func (c *Config) omniforge(base string, names ...string) string {
	if !c.Omniforge {
		return ""
	}
	return under(base, append([]string{".omniforge"}, names...)...)
}
