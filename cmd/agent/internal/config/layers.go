package config

import "slices"

// Layer is one folder of skills in the order of precedence.
type Layer struct {
	Name  string // Enterprise, Extra, PluginDir …; several may share one
	Dir   string // absolute; "" for the embedded skills
	Mount string // "" means the default
	Value int    // with Config.Omniforge the value that a skill's priority is added to; otherwise 0

	Commands bool // each file NAME.md is a skill, as in .claude/commands
}

// values are the values of layers with the precedence omniforge. Layers that it does not know lie between those of their
// neighbours, or below all of them.
var values = map[string]int{Enterprise: 4, Extra: 4, UserDir: 3, ProjectDir: 2, Claude: 2, PluginDir: 1, Bundled: -1}

// Layers returns the folders of skills, highest precedence first. They need not exist. A folder that belongs to two layers
// is returned once: as the user's, or else in the layer of higher precedence. A project that is the user's home has no
// layers of its own.
func (c *Config) Layers() []Layer {
	if c.BundledOnly {
		return c.layers(Bundled)
	}
	var all []Layer
	for _, name := range c.Precedence {
		if c.reads(name) {
			all = append(all, c.layers(name)...)
		}
	}
	users, seen := map[string]bool{}, map[string]bool{}
	for _, l := range c.layers(UserDir) {
		users[l.Dir] = true
	}
	for i, l := range all {
		if c.Omniforge {
			all[i].Value = values[l.Name]
		}
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

// OfProject reports whether the skills of a layer are those of the project.
func (l *Layer) OfProject() bool { return l.Name == ProjectDir || l.Name == Claude }

// reads reports whether a layer is read: the operator's, and what the user named, always.
func (c *Config) reads(name string) bool {
	return name == Enterprise || name == Extra || slices.Contains(c.Sources, name)
}

// layers returns the folders of one layer, highest first.
func (c *Config) layers(name string) []Layer {
	p := c.Paths
	if sameFolder(p.Project, p.Home) {
		p.Project, p.Packages = "", nil
	}
	var dirs, commands []string
	switch name {
	case Enterprise:
		dirs = []string{c.omniforge(p.Home, "enterprise", "skills"), p.Enterprise()}
	case PluginDir:
		dirs = []string{c.PluginsDir}
	case ProjectDir:
		for _, at := range append(p.Packages[:len(p.Packages):len(p.Packages)], p.Project) {
			dirs = append(dirs, c.omniforge(at, "skills"), under(at, ".agent", "skills"), under(at, ".agents", "skills"))
		}
	case Claude:
		for _, at := range append(p.Packages[:len(p.Packages):len(p.Packages)], p.Project) {
			dirs = append(dirs, under(at, ".claude", "skills"))
			commands = append(commands, under(at, ".claude", "commands"))
		}
	case UserDir:
		dirs = []string{p.OfTenant(), c.omniforge(p.Home, "skills"), c.UserDir, under(p.Home, ".agents", "skills")}
		if c.reads(Claude) {
			dirs = append(dirs, under(p.Home, ".claude", "skills"))
			commands = append(commands, under(p.Home, ".claude", "commands"))
		}
	case Bundled:
		return []Layer{{Name: Bundled, Dir: c.CoreDir}}
	}
	var out []Layer
	for _, dir := range dirs {
		if dir != "" {
			out = append(out, Layer{Name: name, Dir: dir})
		}
	}
	for _, dir := range commands {
		if dir != "" {
			out = append(out, Layer{Name: name, Dir: dir, Commands: true})
		}
	}
	for _, r := range c.Roots {
		if r.Project && name == ProjectDir || !r.Project && name == Extra {
			out = append(out, Layer{Name: name, Dir: r.Dir, Mount: r.Mount})
		}
	}
	return out
}

// omniforge returns a folder that is read with the precedence omniforge only.
func (c *Config) omniforge(base string, names ...string) string {
	if !c.Omniforge {
		return ""
	}
	return under(base, append([]string{".omniforge"}, names...)...)
}
