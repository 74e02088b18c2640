package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// record is a skill in the output of list and show, and the first part of info's.
type record struct {
	Name        string   `json:"name"`
	Canonical   string   `json:"name_canonical"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	State       string   `json:"state"`
	Reason      string   `json:"reason,omitempty"`
	Enabled     bool     `json:"enabled"` // what the user's files and the manifest wish
	Active      bool     `json:"active"`  // what is so in this run
	SHA         string   `json:"sha,omitempty"`
	Source      string   `json:"source"`
	Path        string   `json:"path"` // below the source's root
	Priority    int      `json:"priority"`
	Tags        []string `json:"tags,omitempty"`
}

func newRecord(settings *setup.Settings, e skill.Entry) record {
	return record{
		Name: e.Name(), Canonical: e.Canonical(), Version: e.Version(), Description: e.Description(),
		State: e.State().String(), Reason: e.Reason(), Enabled: settings.Wished(e), Active: library.IsActive(e),
		Source: e.Layer(), Path: e.Path(), Priority: e.Priority(), Tags: e.Tags(),
	}
}

// replaced records that a skill is not used since its content is another one.
func (r *record) replaced(why *skill.ReplacedError) {
	r.State, r.Reason, r.Active = skill.StateUnavailable.String(), why.Reason(), false
}

// replaced returns why an enabled skill that was installed is not used, nil if its content is what was installed or approved.
func replaced(ctx context.Context, e skill.Entry) *skill.ReplacedError {
	if e.Installed() == "" || !library.IsActive(e) {
		return nil
	}
	s, err := e.Load(ctx)
	if err != nil {
		return nil // its state says what is wrong
	}
	defer s.Close()
	var other *skill.ReplacedError
	errors.As(s.Replaced(ctx), &other)
	return other
}

// appendRecord appends a record as JSON, with the members of its encoding by package json.
func appendRecord(b []byte, r *record) []byte {
	text := func(key, value string) { b = output.AppendText(append(b, key...), value) }
	text(`{"name":`, r.Name)
	text(`,"name_canonical":`, r.Canonical)
	text(`,"version":`, r.Version)
	text(`,"description":`, r.Description)
	text(`,"state":`, r.State)
	if r.Reason != "" {
		text(`,"reason":`, r.Reason)
	}
	b = strconv.AppendBool(append(b, `,"enabled":`...), r.Enabled)
	b = strconv.AppendBool(append(b, `,"active":`...), r.Active)
	if r.SHA != "" {
		text(`,"sha":`, r.SHA)
	}
	text(`,"source":`, r.Source)
	text(`,"path":`, r.Path)
	b = strconv.AppendInt(append(b, `,"priority":`...), int64(r.Priority), 10)
	for i, tag := range r.Tags {
		text([]string{`,"tags":[`, `,`}[min(i, 1)], tag)
	}
	if len(r.Tags) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// details is what info and why print about one skill: what its files say, its state, and its cost. Nothing of the skill is
// executed.
type details struct {
	record
	toolRules
	Location     string             `json:"location"`            // of its SKILL.md; "" when it lies on no disk
	Digest       string             `json:"digest,omitempty"`    // of its whole content
	NoDigest     string             `json:"no_digest,omitempty"` // why it has none, so it cannot be approved
	Trust        string             `json:"trust"`
	ScriptsRun   bool               `json:"scripts_run"`
	Replaced     bool               `json:"replaced,omitempty"` // its content is not what was installed, so it is not activated
	Cure         string             `json:"cure,omitempty"`     // what would let its scripts run
	DecidedBy    string             `json:"decided_by"`         // the rule or setting that made its state
	Tokens       tokens             `json:"tokens"`
	About        []manifest.Fact    `json:"about,omitempty"`     // that nothing acts on
	Restricts    string             `json:"restricts,omitempty"` // see restricts
	Requires     []string           `json:"requires,omitempty"`
	RequiresEnv  []string           `json:"requires_env,omitempty"`
	RequiresAny  []string           `json:"requires_any,omitempty"`
	Systems      []string           `json:"systems,omitempty"`
	Env          []string           `json:"permissions_env,omitempty"`
	Permissions  []string           `json:"permissions,omitempty"` // the others that the manifest requests, as "network: HOST"
	Contacts     []string           `json:"contacts,omitempty"`    // hosts that its scripts and instructions contact
	Sheet        *sheetJSON         `json:"sheet,omitempty"`       // all that it could reach, as a scan shows it
	Variables    []grants.Variable  `json:"variables"`             // that it declares or its scripts read; never values
	Grants       *grants.View       `json:"grants,omitempty"`      // null: nothing was granted
	Scripts      []scriptName       `json:"scripts"`
	MoreScripts  int                `json:"more_scripts,omitempty"` // that are not listed: they run by their path
	Dependencies []dependencies     `json:"dependencies"`           // of its scripts and toolsets, by what declares them
	Files        []fileJSON         `json:"files"`                  // at most mostListed
	MoreFiles    int                `json:"more_files,omitempty"`
	Inside       []string           `json:"inside,omitempty"` // folders below it that have a SKILL.md; only why looks for them
	Toolsets     []string           `json:"toolsets"`         // declared
	Tools        []string           `json:"tools"`            // fully qualified names of the tools that they had when this content last ran
	ToolsKnown   bool               `json:"tools_known"`      // this content has run
	ToolSchemas  []toolJSON         `json:"tool_schemas"`     // of Tools
	Metadata     map[string]string  `json:"metadata,omitempty"`
	Fields       []field            `json:"fields"`
	Problems     []manifest.Problem `json:"problems"`
	Installed    *installedJSON     `json:"installed,omitempty"` // of an installed skill
	Recorded     *recordedJSON      `json:"recorded,omitempty"`  // of a skill that another program installed
	Shadows      []shadow           `json:"shadows"`
}

// tokens estimates what a skill costs a model.
type tokens struct {
	Listing      int `json:"listing"`      // its lines in the list
	Instructions int `json:"instructions"` // when it is activated
	Tools        int `json:"tools"`        // the tools of its toolsets, in each request that offers them
}

// field is one key of the front matter and what this version does with it.
type field struct {
	Key      string `json:"key"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Standing string `json:"standing"`
	Value    string `json:"value"`
}

// fileJSON is one file of a skill.
type fileJSON struct {
	Path string `json:"path"` // below the skill
	Size int64  `json:"size"`
}

// mostListed is how many files of a skill are listed.
const mostListed = 200

// filesOf returns the files of a skill, in the order of their paths. It counts no more than 100 times those listed.
func filesOf(s *skill.Skill) []fileJSON {
	out := []fileJSON{}
	_ = fs.WalkDir(s.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // a folder that cannot be read: the digest says so
			return nil //nolint:nilerr // see above
		case len(out) >= 100*mostListed:
			return fs.SkipAll
		case e.IsDir():
			return nil
		}
		f := fileJSON{Path: path}
		if info, err := e.Info(); err == nil {
			f.Size = info.Size()
		}
		out = append(out, f)
		return nil
	})
	return out
}

// shadow is a skill of the same name that is hidden by one of a higher layer.
type shadow struct {
	Source   string `json:"source"`
	Path     string `json:"path"`
	Location string `json:"location,omitempty"`
	Version  string `json:"version,omitempty"`
}

func shadowOf(ctx context.Context, e skill.Entry) shadow {
	return shadow{e.Layer(), e.Path(), location(ctx, e), e.Version()}
}

// text says where the skill is: "/p/.agents/skills/csv/SKILL.md (project)".
func (s *shadow) text() string { return fmt.Sprintf("%s (%s)", cmp.Or(s.Location, s.Path), s.Source) }

// inspector gathers the details of skills.
type inspector struct {
	settings *setup.Settings
	skills   *library.Library
	grants   *grants.Grants
	packages *packages.Packages
	tools    *toolkit.Toolkit
	scanner  *scanner.Scanner
	out      *output.Printer
}

func newInspector(s *app.Services) inspector {
	return inspector{s.Settings, s.Skills, s.Grants, s.Packages, s.Tools, s.Scanner, s.Out}
}

// lookup gathers the details of the skill of that name in the catalogue that open returns.
func (o *inspector) lookup(ctx context.Context, open func(context.Context) (*skill.Catalog, error), name string) (*details, error) {
	cat, err := open(ctx)
	if err != nil {
		return nil, err
	}
	e, err := library.Find(cat, name)
	if err != nil {
		return nil, err
	}
	d, err := o.inspect(ctx, cat, e)
	if err == nil {
		d.installed(ctx, o.packages, e)
	}
	return d, err
}

// location returns the path of a skill's SKILL.md, or "" if it is not in a folder and cannot be unpacked into one.
func location(ctx context.Context, e skill.Entry) string {
	at, err := e.Location(ctx)
	if where := e.Where(); err != nil && filepath.IsAbs(where) { // a command
		return where
	}
	return at
}

// inspect gathers the details of a skill in any state. A broken one has what its manifest gave, and its problems.
func (o *inspector) inspect(ctx context.Context, cat *skill.Catalog, e skill.Entry) (*details, error) {
	settings := o.settings
	d := &details{record: newRecord(settings, e), Location: location(ctx, e), Problems: listed(e.Problems()), DecidedBy: settings.DecidedBy(e),
		Variables: []grants.Variable{}, Scripts: []scriptName{}, Dependencies: []dependencies{}, Files: []fileJSON{}, Toolsets: []string{}, Tools: []string{}, ToolSchemas: []toolJSON{}, Fields: []field{}, Shadows: []shadow{}}
	for _, s := range e.Shadows() {
		d.Shadows = append(d.Shadows, shadowOf(ctx, s))
	}
	d.Inside = library.Inside(cat, filepath.Dir(d.Location))
	s, err := e.Load(ctx)
	var broken *skill.BrokenError
	if errors.As(err, &broken) {
		d.Trust = skill.TrustNone.String()
		if len(d.Problems) == 0 { // it was sound when the list was made
			d.Problems = listed(broken.Problems)
		}
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	d.manifest(s, o.settings.Config())
	if d.Digest, err = s.Digest(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		d.NoDigest = err.Error()
	}
	d.SHA = output.Short(d.Digest)
	if err := d.trust(ctx, settings, e); err != nil {
		return nil, err
	}
	var other *skill.ReplacedError
	if errors.As(s.Replaced(ctx), &other) {
		d.Replaced, d.DecidedBy = true, "its content"
		d.replaced(other)
	}
	d.Cure = o.out.Typed(d.Cure)
	if d.Grants, err = o.grants.View(ctx, s); err != nil {
		return nil, err
	}
	if err := d.sight(ctx, o, s); err != nil {
		return nil, err
	}
	scripts, problems := scriptNames(s, o.settings.Survey())
	d.Scripts, d.Problems = scripts, append(d.Problems, problems...)
	set := survey.Of(s.FS(), s.Manifest(), settings.Survey())
	d.MoreScripts = len(set.Runnable()) - len(scripts)
	d.Restricts = restricts(s.Manifest(), len(scripts), settings.Config())
	d.Dependencies = dependenciesOf(s, settings.Survey(), d.with())
	d.Files = filesOf(s)
	if d.MoreFiles = max(len(d.Files)-mostListed, 0); d.MoreFiles > 0 {
		d.Files = d.Files[:mostListed]
	}
	profile, _ := manifest.ProfileNamed(settings.Config().Profile) // the catalogue has it already
	pointers, err := check.Pointers(ctx, s.FS(), profile)
	if err != nil {
		return nil, err
	}
	d.Problems = append(d.Problems, pointers...)
	var known []tool.Tool
	known, d.ToolsKnown = o.tools.KnownTools(ctx, s)
	list := newToolList(d.Canonical, known)
	d.ToolSchemas, d.Tokens.Tools = list.Tools, list.Tokens
	for _, t := range list.Tools {
		d.Tools = append(d.Tools, t.FullName)
	}
	text, direct := "", settings.Config().ToolsetTools != "call" && skilltool.Direct(known)
	if len(known) > 0 {
		text = "\n" + skilltool.ToolsText(d.Canonical, known, direct)
	}
	if !direct {
		d.Tokens.Tools = 0
	}
	return d, d.cost(ctx, cat, s, set, text)
}

// listed returns problems for JSON: an empty list is [], not null.
func listed(problems []manifest.Problem) []manifest.Problem {
	return append([]manifest.Problem{}, problems...)
}

// sheetJSON is what a skill could reach, and what of it was not read.
type sheetJSON struct {
	*scan.Sheet
	Unread []scan.File `json:"unread,omitempty"`

	reach want.Set
}

// sight scans the skill.
func (d *details) sight(ctx context.Context, o *inspector, s *skill.Skill) (err error) {
	var seen *scanner.Sight
	err = o.out.While("scanning "+s.Name(), func() (err error) {
		seen, err = o.scanner.Sight(ctx, s)
		return err
	})
	if err != nil {
		return err
	}
	d.Contacts = seen.Seen.Wants().Add(seen.Reach...).Hosts()
	d.Sheet = &sheetJSON{seen.Sheet, seen.Unread, seen.Reach}
	d.Variables, err = o.grants.Variables(ctx, s, &seen.Seen)
	return err
}

// manifest copies what the manifest says.
func (d *details) manifest(s *skill.Skill, c *config.Config) {
	m := s.Manifest()
	d.Problems = listed(s.Problems())
	d.About = m.Facts()
	d.RequiresAny, d.Systems = m.RequiresAny, m.Systems
	d.Requires, d.RequiresEnv, d.Env, d.Metadata = m.Requires, m.RequiresEnv, m.Permissions.Asked.Named(want.Variable), m.Metadata
	_, asked := m.Permissions.Wants().Split(func(w want.Want) bool { return w.Kind == want.Variable })
	d.Permissions = consent.LinesOf(asked)
	d.Toolsets = toolkit.ToolsetNames(s)
	d.toolRules = toolRulesOf(m)
	for _, f := range m.Fields {
		d.Fields = append(d.Fields, field{f.Key, f.Line, f.Col, settled(f, c).String(), f.Value})
	}
}

// settled returns what is done with a field under the settings, which can leave a field without an effect.
func settled(f manifest.Field, c *config.Config) manifest.Standing {
	key, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(f.Key, "_", "-")), ".")
	off := key == "hooks" && !c.Hooks || key == "scope" && !c.Scoped() || c.Enforce == "off" && (key == "allowed-tools" || key == "disallowed-tools")
	if off && f.Standing == manifest.StandingEnforced {
		return manifest.StandingInformational
	}
	return f.Standing
}

func (d *details) trust(ctx context.Context, settings *setup.Settings, e skill.Entry) error {
	t, err := e.Trust(ctx)
	if err != nil && d.NoDigest == "" {
		return err
	}
	d.Trust, d.ScriptsRun = t.String(), t.Runs()
	if settings.Config().Want.Mode == skill.SelectAllUntrusted && t == skill.TrustRoot {
		d.Trust = "all-untrusted" // it is not approved, and AGENT_SKILLS lets it run
	}
	if !d.ScriptsRun && d.NoDigest == "" {
		d.Cure = cure.Trust(e.Canonical())
	}
	return nil
}

// cost estimates what is sent: the line of the list, and the whole result of an activation, with what it says about tools.
func (d *details) cost(ctx context.Context, cat *skill.Catalog, s *skill.Skill, set *survey.Set, tools string) error {
	list, err := disclose.Catalog(ctx, cat, &disclose.Options{Entries: []skill.Entry{s.Entry()}})
	if err != nil {
		return err
	}
	if len(list.Skills) > 0 {
		d.Tokens.Listing = list.Skills[0].Tokens
	}
	scripts := []string{}
	for _, sc := range set.Kept() {
		scripts = append(scripts, sc.File)
	}
	text, err := disclose.Instructions(ctx, s, &disclose.InstructionOptions{Wrap: true, Scripts: scripts})
	if err != nil {
		return err
	}
	dir, err := s.Dir(ctx)
	if err != nil && !errors.Is(err, skill.ErrNoFolder) {
		return err
	}
	sent := tool.Success(skilltool.Activation{SkillName: s.Name(), BasePath: dir, Content: text.Body + tools, AllowedTools: d.AllowedTools,
		Status: "activated"}, fmt.Sprintf("Activated skill '%s'", s.Name()))
	d.Tokens.Instructions = disclose.Tokens(string(sent.Encode()))
	return nil
}

// ownProblems are problems of one skill, with files as they are called below it.
func ownProblems(d *details) []manifest.Problem {
	out := slices.Clone(d.Problems)
	for i := range out {
		out[i].File = strings.TrimPrefix(out[i].File, filepath.Dir(d.Location)+"/")
	}
	return out
}
