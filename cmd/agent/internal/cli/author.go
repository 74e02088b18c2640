package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

// bench is where an author works on one skill: the services of a run in which the skill is among those that are found.
type bench struct {
	*app.Services
	cat   *skill.Catalog
	entry skill.Entry
	dir   string // the skill's folder

	asFolder bool     // the skill was named by its folder
	above    *os.Root // the folder that has the skill's; nil until it is needed
	toolsets *toolset.Host
	tell     func(skillName, line string) // what toolsets print; may be nil
	model    string                       // that answers evals; "" means that of the settings
}

// openBench finds a skill by its name, or by the path of its folder, which has a separator or is "." or "..". A folder is added
// to those in which skills are found.
func openBench(ctx context.Context, s *app.Services, text string, trusted bool) (*bench, error) {
	b := &bench{Services: s}
	b.asFolder = text == "." || text == ".." || strings.ContainsAny(text, `/\`)
	if b.asFolder {
		b.dir = s.Sys.Abs(text)
		if _, err := os.Stat(b.dir); err != nil {
			return nil, failure.NotFound(fmt.Errorf("folder %q does not exist", text), "name the folder of a skill, or a skill")
		}
		flags := *s.Flags
		flags.SkillsDir = append(slices.Clone(flags.SkillsDir), b.dir)
		b.Services = s.In("", &flags, s.Out.Streams)
	}
	if err := b.open(ctx, text, b.asFolder); err != nil {
		return nil, err
	}
	if !trusted {
		return b, nil
	}
	if err := b.Trust.While(b.dir); err != nil {
		return nil, err
	}
	return b, b.open(ctx, text, b.asFolder)
}

// open reads the catalogue and finds the skill in it.
func (b *bench) open(ctx context.Context, text string, folder bool) (err error) {
	if b.cat, err = b.Skills.Open(ctx); err != nil {
		return err
	}
	if folder {
		if !b.inFolder() {
			return failure.NotFound(fmt.Errorf("%q is not the folder of a skill: it has no SKILL.md", text), "name the folder that has the SKILL.md")
		}
		return nil
	}
	found, err := library.Find(b.cat, text)
	if err != nil {
		if b.dir != "" && b.inFolder() { // it was given another name
			return nil
		}
		return err
	}
	at, err := found.Location(ctx)
	if err != nil {
		return err
	}
	b.entry, b.dir = found, filepath.Dir(at)
	return nil
}

// inFolder finds the skill by its folder, and reports whether there is one.
func (b *bench) inFolder() bool {
	for e := range b.cat.All() {
		for _, one := range append([]skill.Entry{e}, e.Shadows()...) {
			if isFolder(filepath.Dir(one.Where()), b.dir) {
				b.entry = one
				return true
			}
		}
	}
	return false
}

// close closes what the bench opened.
func (b *bench) close() {
	if b.above != nil {
		_ = b.above.Close() // it was only read
	}
	if b.toolsets != nil {
		_ = b.toolsets.Close() // what they did is over
	}
}

func isFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// admission decides once whether the content of the skill may run, and remembers a no: a person is not asked twice.
type admission struct {
	kit     *skilltool.Kit
	refused error
}

func (a *admission) admit(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	if a.refused != nil {
		return nil, a.refused
	}
	out, err := a.kit.Admit(ctx, s)
	var e *script.Error
	if errors.As(err, &e) && e.Code == script.PermissionDenied {
		a.refused = err
	}
	return out, err
}

// trialIn prepares the test of the skill, whose programs start in a folder. Without one nothing of the skill is started.
func (b *bench) trialIn(folder string) (*trial.Options, error) {
	profile, err := manifest.ProfileNamed(b.Settings.Config().Profile)
	if err != nil {
		return nil, err
	}
	o := &trial.Options{Profile: profile, ScriptRule: b.Settings.Survey().Rule, Catalog: b.cat, NoAgent: "evals are not carried out"}
	if b.above == nil {
		b.above, _ = os.OpenRoot(filepath.Dir(b.dir)) // without it links to other skills are not checked
	}
	if b.above != nil {
		o.Root, o.Rel = b.above.FS(), filepath.Base(b.dir)
	}
	if folder == "" {
		return o, nil
	}
	if err := b.Settings.NeedRoom(setup.CacheFolder); err != nil {
		return nil, err
	}
	kit, err := b.Tools.Kit(b.cat, b.Consent.Asker())
	if err != nil {
		return nil, err
	}
	o.Admit = (&admission{kit: kit}).admit
	o.Temp = b.Sys.Temp
	if o.Probe, o.Bench, err = b.Tools.TestHosts(folder); err != nil {
		return nil, err
	}
	host, err := b.startToolsets(o.Bench)
	if err != nil {
		return nil, err
	}
	o.Toolsets = &toolsOnce{host: host}
	return o, nil
}

// toolsOnce asks for the tools of one content of a skill once: a toolset that failed is not started again for the same answer.
type toolsOnce struct {
	host  *toolset.Host
	asked bool
	tools []tool.Tool
	err   error
}

func (l *toolsOnce) Tools(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, error) {
	if !l.asked {
		l.asked = true
		l.tools, l.err = l.host.Tools(ctx, s, admit)
	}
	return l.tools, l.err
}

// startToolsets returns what starts the toolsets of the skill, as it is now: the processes of an earlier content end.
func (b *bench) startToolsets(scripts *script.Host) (*toolset.Host, error) {
	host, err := b.Tools.ToolsetsOn(scripts, nil, b.tell)
	if err != nil {
		return nil, err
	}
	if b.toolsets != nil {
		_ = b.toolsets.Close() // what they did is over
	}
	b.toolsets = host
	return host, nil
}

// evaluate prepares the evals of the skill, if a model is there to carry them out.
func (b *bench) evaluate(ctx context.Context, o *trial.Options) error {
	found, err := b.Models.Find(ctx, b.model)
	f := failure.Explain(err)
	switch {
	case err == nil:
	case b.model == "" && f.Code == "no_model":
		o.NoAgent = "no model is configured: " + f.Hint
		return nil
	default:
		return err
	}
	quiet := *b.Flags
	quiet.Quiet, quiet.SkillsDir = true, append(slices.Clone(quiet.SkillsDir), b.dir)
	if quiet.Mode == "" {
		quiet.Mode = "accept-edits" // of the folder that the eval has to itself
	}
	o.Agent = &worker.Evaluator{Found: found, Temp: b.Sys.Temp, Services: func(dir string) (*app.Services, error) {
		flags := quiet
		flags.Project = dir
		return b.In(dir, &flags, &ui.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}), nil
	}}
	return nil
}
