package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// programs returns what scripts can need, as it is looked up.
func programs() []string { return append([]string{"gh", "git", "uv"}, language.Tried()...) }

// asked is the model that would be asked, and the keys that decide it, without their values.
type asked struct {
	Name   string    `json:"name"`   // "" without a model
	Origin string    `json:"origin"` // why this one
	Keys   []keyHeld `json:"keys"`
}

type keyHeld struct {
	Variable string `json:"variable"`
	Set      bool   `json:"set"`
}

// diagnosis is what doctor reports.
type diagnosis struct {
	Version  string             `json:"version"`
	Profile  string             `json:"profile"`
	Model    asked              `json:"model"`
	Policy   policyJSON         `json:"policy"` // of the organisation
	Settings []setting          `json:"settings"`
	Layers   []layer            `json:"layers"`
	Unread   []library.Unread   `json:"unread_folders"`  // of other agents
	Files    []agentFile        `json:"agent_files"`     // of the project, and the user's texts
	Kept     []keptBack         `json:"mcp_unpublished"` // skills that other agents reach by tools alone
	Servers  []*serverJSON      `json:"mcp_servers"`     // of tools
	Programs []program          `json:"programs"`
	Runtimes []runtimeState     `json:"toolset_runtimes"`
	Path     pathState          `json:"path"`
	Homes    []homeState        `json:"homes"`
	Sandbox  *sandbox.State     `json:"sandbox"`
	Trust    trustState         `json:"trust"`
	Rules    permissionState    `json:"permissions"`
	Problems []manifest.Problem `json:"problems"`
	OK       bool               `json:"ok"`
}

type setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"` // several are joined with a comma, the highest first

	usual bool // it is the default
}

type layer struct {
	Name   string `json:"name"`
	Dir    string `json:"dir"` // "" for the embedded skills
	Exists bool   `json:"exists"`
	Skills int    `json:"skills"` // hidden ones included

	commands bool // files, which "agent skill validate" does not take
}

type program struct {
	Name string `json:"name"`
	Path string `json:"path"` // "" if it was not found
}

type trustState struct {
	File      string   `json:"file"` // or the folder of the node that servers share
	Roots     []string `json:"roots"`
	Approvals []string `json:"approvals"` // names and digests

	Grants []*grants.View `json:"grants"` // lapsed ones included
}

type doctorOptions struct {
	sys      *setup.System
	flags    *setup.Flags
	out      *output.Printer
	settings *setup.Settings
	trust    *grants.Trust
	skills   *library.Library
	approver *consent.Approver
	tools    *toolkit.Toolkit
	sandbox  *sandbox.Sandbox
	packages *packages.Packages

	models   *app.Models
	services *app.Services

	all, gc, yes, json bool
}

func newDoctorCommand(s *app.Services, run func(context.Context, *doctorOptions) error) *cobra.Command {
	o := &doctorOptions{services: s, models: s.Models, packages: s.Packages, sys: s.Sys, flags: s.Flags, out: s.Out, settings: s.Settings, trust: s.Trust, skills: s.Skills, approver: s.Approver, tools: s.Tools, sandbox: s.Sandbox}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show problems, the model, programs, settings and folders",
		Long: `Show all problems, the model that would be asked and the keys that are set, the programs that scripts need, the
settings that differ from their defaults and where each was set, the folders of skills, what confines scripts, and what is
trusted. Nothing is changed, and nothing is executed but the sandbox itself. The exit code is 1 if something is broken.

With --gc, delete unused cache entries instead, after showing them and asking: copies of skills that no approval needs
any more, Python environments that no script used for 30 days, downloads of packages that were copied into environments,
versions of installed skills that nothing needs (see "agent skill gc"), and remains of interrupted work. All of it is made again when needed; environments then need the package index.
It also deletes conversations that were not continued for as long as the setting keepConversations says, the homes of MCP servers in the
sandbox of projects that are not there, and those that were not used for half a year. While a script runs, nothing is
removed (exit code 6).`,
		Example: `  agent doctor
  agent doctor --gc
  agent doctor --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.yes && !o.gc {
				return failure.Usage(errors.New("--yes needs --gc"), "agent doctor --gc --yes")
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.all, "all", false, "also show default settings, and folders that do not exist")
	c.Flags().BoolVar(&o.gc, "gc", false, "delete unused cache entries and old conversations")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "with --gc: do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	if o.gc {
		if err := o.services.Governed(); err != nil {
			return err
		}
		return o.sweep(ctx)
	}
	d, err := o.diagnose(ctx)
	if err != nil {
		return err
	}
	if o.json {
		err = o.out.JSON(map[string]*diagnosis{"doctor": d})
	} else {
		err = o.print(d)
	}
	if err == nil && !d.OK {
		err = failure.Silent(failure.ExitFailure)
	}
	return err
}

func (o *doctorOptions) diagnose(ctx context.Context) (*diagnosis, error) {
	cfg, problems := o.settings.Config(), slices.Clone(o.settings.Problems())
	cat, err := o.skills.OpenQuietly(ctx) // every problem is in the answer
	if err != nil {
		return nil, err
	}
	if err := o.settings.Policy().Err(); err != nil {
		problems = append([]manifest.Problem{{Code: "config-policy-closed", Severity: manifest.SeverityError, File: policy.File(), Message: err.Error(), Cure: "agent policy check says what is wrong"}}, problems...)
	}
	d := &diagnosis{Version: setup.Version, Profile: cfg.Profile, Policy: policyOf(o.settings.Policy()), Settings: []setting{}, OK: true}
	for _, s := range cfg.Settings() {
		d.Settings = append(d.Settings, setting{Key: s.Key, Value: s.Value, Origin: setup.Origins(s.Origins), usual: s.Origins[0].Rank == config.Default})
	}
	if d.Model, err = o.model(ctx); err != nil {
		return nil, err
	}
	var wrong []manifest.Problem
	d.Rules, wrong = permissionsOf(o.settings)
	problems = append(problems, wrong...)
	d.Layers, d.Unread = countLayers(ctx, cfg, cat), o.skills.Unread(cat)
	d.Files = agentFiles(o.services)
	if d.Kept, err = keptBacks(ctx, cat); err != nil {
		return nil, err
	}
	if d.Servers, wrong, err = serverViews(ctx, o.services); err != nil {
		return nil, err
	}
	problems = append(problems, wrong...)
	for _, name := range programs() {
		path, _ := o.settings.FindProgram(name)
		d.Programs = append(d.Programs, program{name, path})
	}
	d.Runtimes = o.runtimes(ctx, d.Programs)
	d.surroundings(o)
	if d.Sandbox, err = o.sandbox.State(ctx); err != nil {
		return nil, err
	}
	d.Trust = trustState{File: o.trust.Where(), Roots: []string{}, Approvals: []string{}, Grants: []*grants.View{}}
	set, err := o.trust.Load(ctx)
	if err != nil {
		problems = append(problems, manifest.Problem{Code: "trust-unreadable", Severity: manifest.SeverityError, File: d.Trust.File, Message: err.Error()})
	}
	d.Trust.Roots = append(d.Trust.Roots, set.Roots()...)
	for _, ok := range set.Approvals() {
		d.Trust.Approvals = append(d.Trust.Approvals, fmt.Sprintf("%s [%s] %s", ok.Name, output.Short(ok.Digest), cmp.Or(ok.Dir, ok.Layer)))
	}
	d.Trust.grants(ctx, cat, set, o.packages.Installed(ctx))
	if err := setup.Writable(o.settings.Home()); o.settings.Home() != "" && err != nil {
		problems = append(problems, manifest.Problem{Code: "home-unwritable", Severity: manifest.SeverityError, File: o.settings.Home(),
			Message: "nothing can be written to it: " + err.Error(), Cure: failure.OtherHome})
	}
	d.Problems = append(append([]manifest.Problem{}, problems...), o.skills.Unknown(cat)...)
	for _, p := range cat.Problems() {
		if p.Code != "skill-unknown" { // told as an error of the settings already
			d.Problems = append(d.Problems, cure.Advised(p))
		}
	}
	d.Problems = append(d.Problems, o.packages.Unfulfilled(ctx)...)
	d.OK = d.Sandbox.OK
	for _, p := range d.Problems {
		d.OK = d.OK && !breaks(p)
	}
	return d, nil
}

// model finds out which model would be asked. It sends nothing, except that it asks a local server for its models if
// neither a setting nor a key names a model.
func (o *doctorOptions) model(ctx context.Context) (asked, error) {
	a := asked{Keys: []keyHeld{}}
	for _, name := range models.Variables() {
		if strings.HasSuffix(name, "_API_KEY") {
			a.Keys = append(a.Keys, keyHeld{name, o.sys.Getenv(name) != ""})
		}
	}
	if a.Name = o.settings.Config().Agent.Model; a.Name != "" {
		a.Origin = o.settings.Origin("model")
		return a, nil
	}
	found, err := o.models.Find(ctx, "")
	switch {
	case err == nil:
		a.Name, a.Origin = found.String(), found.Origin
	case ctx.Err() != nil:
		return a, ctx.Err()
	default:
		a.Origin = err.Error()
	}
	return a, nil
}

// breaks reports whether something does not work because of a problem: a setting, a source, or a whole skill.
func breaks(p manifest.Problem) bool {
	return p.Severity == manifest.SeverityError && (p.Fatal || ofEverything(p))
}

// ofEverything reports whether a problem is about more than one skill.
func ofEverything(p manifest.Problem) bool {
	return strings.HasPrefix(p.Code, "config-") || strings.HasPrefix(p.Code, "plugin-") || library.Spoken(p.Code) || p.Code == library.NameAlike || strings.HasPrefix(p.Code, "mcp-") || p.Code == "home-unwritable"
}

// mostAlike is how many problems with one code are shown: thousands would hide what is shown below them.
const mostAlike = 20

// fewAlike returns the first problems of each code, and how many others there are.
func fewAlike(all []manifest.Problem) (shown []manifest.Problem, more int) {
	count := map[string]int{}
	for _, p := range all {
		if count[p.Code]++; count[p.Code] <= mostAlike {
			shown = append(shown, p)
		}
	}
	return shown, len(all) - len(shown)
}

// sorted returns the problems that a person should see first, those that belong to no single skill, and the others, which
// may be too many to show.
func sorted(all []manifest.Problem) (serious, between, notes []manifest.Problem) {
	for _, p := range all {
		switch {
		case breaks(p) || ofEverything(p):
			serious = append(serious, p)
		case library.OfNoSkill(p):
			between = append(between, p)
		default:
			notes = append(notes, p)
		}
	}
	return serious, between, notes
}

// countLayers returns the folders of skills, highest first, with the number of skills that were found in each.
func countLayers(ctx context.Context, cfg *config.Config, cat *skill.Catalog) []layer {
	var out []layer
	for _, l := range cfg.Layers() {
		at := layer{Name: l.Name, Dir: l.Dir, Exists: l.Dir == "", commands: l.Commands}
		if info, err := os.Stat(l.Dir); err == nil {
			at.Exists = info.IsDir()
		}
		out = append(out, at)
	}
	folders := map[string]int{}
	for _, l := range out {
		folders[l.Name]++
	}
	add := func(e skill.Entry) {
		for i := range out {
			if e.Layer() == out[i].Name && (folders[e.Layer()] == 1 || paths.Within([]string{out[i].Dir}, location(ctx, e))) {
				out[i].Skills++
				return
			}
		}
	}
	for e := range cat.All() {
		add(e)
		for _, s := range e.Shadows() {
			add(s)
		}
	}
	return out
}

func (o *doctorOptions) print(d *diagnosis) error {
	o.out.Printf("agent %s, profile %s\n", d.Version, d.Profile)
	o.printProblems(d)
	if d.Policy.Found {
		o.out.Printf("\nlayers, each as strict as those before it or stricter\n  organisation  %s (%s; agent policy show)\n  you           %s\n  project       %s\n",
			d.Policy.File, output.Count(len(d.Policy.Keys), "key"), o.settings.Config().Paths.UserConfig(), o.settings.Config().Paths.ProjectConfig())
	}
	if err := o.printModel(d); err != nil {
		return err
	}
	var rows [][]string
	for _, p := range d.Programs {
		path := p.Path
		if path == "" {
			path = "not found"
		}
		rows = append(rows, []string{"  " + p.Name, path})
	}
	if err := o.titled("Programs", rows); err != nil {
		return err
	}
	if err := o.printRuntimes(d.Runtimes); err != nil {
		return err
	}
	if err := o.printSandbox(d.Sandbox); err != nil {
		return err
	}
	if err := o.printSurroundings(d); err != nil {
		return err
	}
	rows = nil
	for _, s := range d.Settings {
		if o.all || !s.usual {
			rows = append(rows, []string{"  " + s.Key, valueText(s.Value), s.Origin})
		}
	}
	if err := o.titled("Settings", rows); err != nil {
		return err
	}
	if n := len(d.Settings) - len(rows); n > 0 {
		o.out.Printf("  %s: agent doctor --all\n", ui.Safe(output.Count(n, "default setting")))
	}
	if err := o.printPermissions(d); err != nil {
		return err
	}
	rows = nil
	for _, l := range d.Layers {
		if o.all || l.Exists {
			rows = append(rows, []string{"  " + l.Name, fmt.Sprint(l.Skills), folderText(l)})
		}
	}
	if err := o.titled("Skills, highest layer first", rows); err != nil {
		return err
	}
	if err := o.printUnread(d.Unread); err != nil {
		return err
	}
	if err := o.printAgentFiles(d.Files); err != nil {
		return err
	}
	if err := o.printServers(d.Servers); err != nil {
		return err
	}
	if err := o.printKept(d.Kept); err != nil {
		return err
	}
	return o.printTrust(d)
}

func (o *doctorOptions) printProblems(d *diagnosis) {
	if len(d.Problems) == 0 {
		o.out.Printf("\nNo problems\n")
	}
	serious, between, notes := sorted(d.Problems)
	shown, more := fewAlike(append(serious, between...))
	o.out.Problems(shown)
	if more > 0 {
		o.out.Printf("  and %d more like these: agent doctor --json shows all\n", more)
	}
	if len(notes) > 0 {
		o.out.Printf("\n%s about single skills, shown by: %s\n", ui.Safe(output.Count(len(notes), "remark")), o.validateCommand(d.Layers, notes))
	}
}

func (o *doctorOptions) printModel(d *diagnosis) error {
	name := d.Model.Name
	if name == "" {
		name = "none"
	}
	rows := [][]string{{"  " + name, d.Model.Origin}}
	for _, k := range d.Model.Keys {
		state := "not set"
		if k.Set {
			state = "set"
		}
		rows = append(rows, []string{"  " + k.Variable, state})
	}
	return o.titled("Model and keys", rows)
}

func (o *doctorOptions) printTrust(d *diagnosis) error {
	kept := "  file"
	if o.settings.Fleet() != nil {
		kept = "  node"
	}
	rows := [][]string{{kept, output.OrDash(d.Trust.File)}}
	for _, root := range d.Trust.Roots {
		rows = append(rows, []string{"  folder", root})
	}
	for _, ok := range d.Trust.Approvals {
		rows = append(rows, []string{"  skill", ok})
	}
	for _, g := range d.Trust.Grants {
		rows = append(rows, []string{"  grant", o.out.Typed(grantRow(g))})
	}
	return o.titled("Trusted", rows)
}

// validateCommand returns the command, for a shell, that shows remarks about skills of these layers. Without a layer to check it
// is the one for a single skill.
func (o *doctorOptions) validateCommand(layers []layer, remarks []manifest.Problem) string {
	words := []string{"agent skill validate"}
	if o.flags.Profile != "" {
		words = append(words, "--profile "+o.flags.Profile)
	}
	if o.flags.Strict {
		words = append(words, "--strict")
	}
	bare := len(words)
	for _, l := range layers {
		if l.Dir != "" && !l.commands && slices.ContainsFunc(remarks, func(p manifest.Problem) bool { return paths.Within([]string{l.Dir}, p.File) }) {
			words = append(words, cure.Word(l.Dir))
		}
	}
	if len(words) == bare { // remarks about commands
		return "agent skill why NAME"
	}
	return strings.Join(words, " ")
}
