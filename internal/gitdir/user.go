package gitdir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/paths"
)

// User says where git finds the settings of a user and of the machine.
type User struct {
	Home   string                   // absolute; "" for none
	Getenv func(name string) string // the user's environment; nil means that there are no settings

	Identity bool // of the user's own settings, Carry carries only who makes a commit: user.name and user.email
}

// MachineFile is git's file of settings for all users of a machine.
const MachineFile = "/etc/gitconfig"

// folder is the folder of the user's further files of git.
func (u *User) folder() string {
	if dir := u.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "git")
	}
	return filepath.Join(u.Home, ".config", "git")
}

// forAll returns the file with the settings of all users, "" for none.
func (u *User) forAll() string {
	file := u.Getenv("GIT_CONFIG_SYSTEM")
	switch {
	case u.Getenv("GIT_CONFIG_NOSYSTEM") != "":
		return ""
	case file != "":
		return file
	}
	return MachineFile
}

// own returns the files with the user's own settings, in the order in which git reads them.
func (u *User) own() []string {
	if file := u.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return []string{file}
	}
	if u.Home == "" {
		return nil
	}
	return []string{filepath.Join(u.folder(), "config"), filepath.Join(u.Home, ".gitconfig")}
}

// usual are the files in u.folder that git reads for a setting that is not there.
func (u *User) usual() [][2]string {
	if u.Identity {
		return nil
	}
	return [][2]string{{"ignore", "excludesfile"}, {"attributes", "attributesfile"}}
}

// Carried are the settings of a user for a command that has another home.
type Carried struct {
	Files map[string][]byte // by slash paths below the home of the command; nil without settings
	Reads []string          // absolute paths of the files and folders that the settings name and the command reads

	SigningKey string // absolute path of the public key of ssh that signs, if the settings name a file; it may be missing
}

// Bounds of the settings that are carried.
const (
	mostFiles    = 64
	mostSettings = 10_000
	deepest      = 10 // as in git
)

// Carry returns the settings for a command whose home is an absolute folder. It follows what they include, also on conditions about the
// repository. What begins with ~/ is in the user's home. Settings with passwords are left out, and so is a file that cannot be read.
func (u *User) Carry(home string) *Carried {
	c := carrier{user: u, home: home, out: &Carried{}}
	if u.Getenv == nil {
		return c.out
	}
	var all []Setting
	for _, usual := range u.usual() {
		file := filepath.Join(u.folder(), usual[0])
		if _, err := os.Stat(file); err == nil && u.Home != "" {
			all = append(all, c.carry(Setting{Section: "core", Key: usual[1], Value: file}))
		}
	}
	all = append(all, c.read(u.forAll(), 0)...)
	c.identity = u.Identity
	for _, file := range u.own() {
		all = append(all, c.read(file, 0)...)
	}
	if len(all) > 0 {
		c.add(".gitconfig", all)
	}
	c.out.Reads = paths.Unique(c.out.Reads)
	return c.out
}

// carrier carries the settings of one user.
type carrier struct {
	user     *User
	home     string
	out      *Carried
	identity bool // of what it reads, it carries who makes a commit
	files    int  // files
	settings int
}

// add adds a file for the home of the command.
func (c *carrier) add(name string, list []Setting) {
	if c.out.Files == nil {
		c.out.Files = map[string][]byte{}
	}
	c.out.Files[name] = Text(list)
}

// read returns the settings of a file with those that it includes.
func (c *carrier) read(file string, depth int) []Setting {
	if c.files++; c.files > mostFiles || depth > deepest || !filepath.IsAbs(file) {
		return nil
	}
	text, err := Read(file)
	if err != nil {
		return nil
	}
	list, err := Settings(text)
	if err != nil {
		return nil
	}
	var out []Setting
	for _, s := range list {
		c.settings++
		switch {
		case c.settings > mostSettings || secret(&s):
		case s.Name() == "include.path" && s.Sub == "":
			out = append(out, c.read(c.included(file, s.Value), depth+1)...)
		case s.Name() == "includeif.path":
			out = append(out, c.condition(file, s, depth)...)
		case c.identity && s.Name() != "user.name" && s.Name() != "user.email":
		default:
			out = append(out, c.carry(s))
		}
	}
	return out
}

// included returns the path of a file that another one includes.
func (c *carrier) included(by, value string) string { return from(filepath.Dir(by), c.expand(value)) }

// expand returns a value with the user's home in place of ~.
func (c *carrier) expand(value string) string {
	if below, ok := strings.CutPrefix(value, "~/"); ok && c.user.Home != "" {
		return filepath.Join(c.user.Home, below) + value[len(strings.TrimRight(value, "/")):]
	}
	return value
}

// condition returns what includes a file on a condition: the condition names the same folders, and the file is one of its own.
func (c *carrier) condition(by string, s Setting, depth int) []Setting {
	list := c.read(c.included(by, s.Value), depth+1)
	if len(list) == 0 {
		return nil
	}
	kind, pattern, _ := strings.Cut(s.Sub, ":")
	if kind == "gitdir" || kind == "gitdir/i" {
		switch {
		case strings.HasPrefix(pattern, "~/"): // git compares it with a path without links
			pattern = paths.Real(c.user.Home) + pattern[1:]
		case strings.HasPrefix(pattern, "./"):
			pattern = paths.Real(filepath.Dir(by)) + pattern[1:]
		}
	}
	name := fmt.Sprintf(".config/git/included-%d", len(c.out.Files)+1)
	c.add(name, list)
	return []Setting{{Section: s.Section, Sub: kind + ":" + pattern, Key: s.Key, Value: filepath.Join(c.home, filepath.FromSlash(name))}}
}

// naming are the settings that name a file or folder which git reads.
var naming = []string{"core.excludesfile", "core.attributesfile", "core.hookspath", "commit.template", "init.templatedir", "gpg.allowedsignersfile",
	"mailmap.file", "blame.ignorerevsfile"}

// signingKey is the setting that names the key which signs.
const signingKey = "user.signingkey"

// publicKey ends the names of public keys of ssh.
const publicKey = ".pub"

// carry returns a setting with the user's home in place of ~, and notes what it names.
func (c *carrier) carry(s Setting) Setting {
	s.Value = c.expand(s.Value)
	if s.Name() == signingKey && filepath.IsAbs(s.Value) {
		c.out.SigningKey = strings.TrimSuffix(s.Value, publicKey) + publicKey
	}
	if slices.Contains(naming, s.Name()) && filepath.IsAbs(s.Value) && !content.Secret(filepath.ToSlash(s.Value)) {
		if _, err := os.Stat(s.Value); err == nil {
			c.out.Reads = append(c.out.Reads, filepath.Clean(s.Value))
		}
	}
	return s
}

// secretKeys are keys whose values are passwords, or lead to some.
var secretKeys = []string{"extraheader", "smtppass", "pass", "password", "token", "oauthtoken", "cookiefile"}

// secret reports whether a setting has a password, or says how to get one.
func secret(s *Setting) bool {
	inURL := func(text string) bool {
		scheme, rest, found := strings.Cut(text, "://")
		host, _, _ := strings.Cut(rest, "/")
		return found && strings.HasPrefix(scheme, "http") && strings.Contains(host, "@")
	}
	return s.Section == "credential" || slices.Contains(secretKeys, s.Key) || inURL(s.Sub) || inURL(s.Value)
}
