package scanner

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/want"
)

// glanceTime is how long a scan takes at most that only explains a failure or completes a word.
const glanceTime = 5 * time.Second

// Sight is what a skill could do, as a scan shows it.
type Sight struct {
	Seen   script.Seen // what its scripts want
	Reach  want.Set    // what it could do in addition
	Sheet  *scan.Sheet
	Unread []scan.File // what nothing is known of
}

// Sight scans a skill. Nothing of it is judged. A scan that takes too long shows nothing, and says so.
func (c *Scanner) Sight(ctx context.Context, s *skill.Skill) (*Sight, error) {
	limited, cancel := context.WithTimeout(ctx, c.Limit())
	defer cancel()
	r, err := c.Facts(limited, s.FS())
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return &Sight{Sheet: &scan.Sheet{}, Unread: []scan.File{{Path: ".", Unread: "its scan took more than " + c.Limit().String()}}}, nil
	case err != nil:
		return nil, err
	}
	out := &Sight{Seen: SeenIn(r, s), Reach: ReachOf(r), Sheet: r.Sheet()}
	for i := range r.Files {
		if r.Files[i].Unread != "" {
			out.Unread = append(out.Unread, r.Files[i])
		}
	}
	return out, nil
}

// Glance returns what the scripts of a skill want, as far as a short scan shows it. A content is scanned once: a hook or a script may fail
// again and again.
func (c *Scanner) Glance(ctx context.Context, s *skill.Skill) script.Seen {
	ctx, cancel := context.WithTimeout(ctx, glanceTime)
	defer cancel()
	digest, err := s.Digest(ctx)
	if err != nil {
		return script.Seen{}
	}
	if seen, ok := c.glances.Load(digest); ok {
		return seen.(script.Seen)
	}
	r, err := c.Facts(ctx, s.FS())
	if err != nil {
		return script.Seen{}
	}
	seen := SeenIn(r, s)
	c.glances.Store(digest, seen)
	return seen
}

// Facts returns what is known of the files of a skill. Nothing of it is judged.
func (c *Scanner) Facts(ctx context.Context, fsys fs.FS) (*scan.Report, error) {
	return scan.Scan(ctx, fsys, &scan.Options{Python: c.python()})
}

// readFolders are folders of a skill whose programs are there to be read or copied.
var readFolders = strings.Fields("assets references reference templates template examples example samples tests test evals fixtures")

// SeenIn returns what a scan found that the scripts of a skill want: the variables that they read, without those that every script has and
// those that can never pass, and the hosts that they contact. Programs in folders of examples contact nothing.
func SeenIn(r *scan.Report, s *skill.Skill) script.Seen {
	out := script.Seen{Files: map[string]want.Set{}}
	for _, sc := range survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable() { // with modules, which a manifest need not list
		out.Files[sc.File] = nil
	}
	for i := range r.Facts {
		f := &r.Facts[i]
		file := f.Place.File
		wants, ok := out.Files[file]
		if !ok || len(f.Place.Inside) > 0 {
			continue
		}
		top, _, _ := strings.Cut(file, "/")
		switch {
		case f.Kind == scan.Sends && !slices.Contains(readFolders, strings.ToLower(top)):
			out.Network = true
			if host := hostIn(f); host != "" {
				out.Files[file] = append(wants, want.Want{Kind: want.Host, Name: host, From: want.Seen})
			}
		case f.Kind == scan.Reads && f.Object == scan.Variable && script.Shown(f.Name) && (survey.LanguageOf(file) != survey.Shell || upper(f.Name)):
			out.Files[file] = append(wants, want.Want{Kind: want.Variable, Name: f.Name, From: want.Seen})
		}
	}
	for file, wants := range out.Files {
		out.Files[file] = want.New(wants...)
	}
	return out
}

// upper reports whether a name of a shell script is one of the environment: the others are its own by habit.
func upper(name string) bool {
	return len(strings.Trim(name, "_")) > 1 && strings.ToUpper(name) == name
}

// hostIn returns the host of a fact as a grant names it, "" for none: with a port that is not usual, and not for a name that is only there
// to identify something.
func hostIn(f *scan.Fact) string {
	if f.Name == "" {
		return ""
	}
	p, err := hostname.Parse(f.Name + portIn(f.Detail))
	if err != nil || hostname.Identifies(p.Host) {
		return ""
	}
	if p.Port == 443 || p.Port == 80 {
		p.Port = 0
	}
	return p.String()
}

// portIn returns the port of an address, with its colon.
func portIn(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	rest = rest[:strings.IndexAny(rest+"/", "/?#")]
	at := strings.LastIndexByte(rest, ':')
	if _, err := strconv.ParseUint(rest[at+1:], 10, 16); !ok || at < 0 || err != nil {
		return ""
	}
	return rest[at:]
}

// ReachOf returns what a skill could do in addition to what its scripts want: what its instructions contact, and what of the machine
// is read and written outside of its folder, which programs are started and which packages installed. Guesses are left out.
func ReachOf(r *scan.Report) want.Set {
	var out want.Set
	sheet := r.Sheet()
	add := func(k want.Kind, list []scan.Item, name func(string) string) {
		for _, item := range list {
			w := want.Want{Kind: k, Name: name(item.Name), From: want.Seen}
			if w.Name != "" && !item.Perhaps && w.Check() == nil {
				out = append(out, w)
			}
		}
	}
	same := func(name string) string { return name }
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == scan.Sends && !f.Maybe && f.Role == "" && hostIn(f) != "" {
			out = append(out, want.Want{Kind: want.Host, Name: hostIn(f), From: want.Seen})
		}
	}
	add(want.Read, sheet.Reads, placeIn)
	add(want.Write, sheet.Writes, placeIn)
	add(want.Command, sheet.Programs, same)
	add(want.Package, sheet.Packages, packageIn)
	return want.New(out...)
}

// placeIn returns the path of a file outside of a skill as a grant names it, "" for another one.
func placeIn(name string) string {
	if slices.ContainsFunc([]string{"/dev/", "/proc/", "/tmp/"}, func(dir string) bool { return strings.HasPrefix(name, dir) }) || strings.ContainsAny(name, "*?$") {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return "~/" + path.Clean(rest)
	}
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return ""
}

// packageIn returns a package of a sheet as a grant names it.
func packageIn(name string) string {
	registry, name, _ := strings.Cut(name, " ")
	if registry == "pypi" {
		return name
	}
	return registry + ":" + name
}
