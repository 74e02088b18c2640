package packages

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/store"
)

// Packages installs skills from other places, and updates and removes them.
type Packages struct {
	Sys      *setup.System
	Settings *setup.Settings
	Skills   *library.Library
	Served   *servers.Skills
	Verdicts *scanner.Verdicts
	Out      *output.Printer
	Observe  *observe.Observers
	foreign  bool // see Foreign
}

// Installer returns what changes the installed skills. Callers that only read need no home that can be written.
func (p *Packages) Installer() (*install.Installer, error) {
	if err := p.Settings.NeedHome(); err != nil {
		return nil, err
	}
	catalog, err := p.Skills.Options()
	if err != nil {
		return nil, err
	}
	o := &install.Options{
		Registry:   p.Settings.Registry(),
		Folder:     p.Settings.Config().PluginsDir,
		OtherLists: p.Settings.OtherSkills,
		Fetchers:   p.fetchers(),
		Catalog:    *catalog,
		Progress:   p.progress,
		Verify:     p.signatures(),
	}
	if a := scanner.NewAdmission(p.Sys, p.Settings, p.Verdicts); a != nil {
		o.Admit = a.OfPlace
	}
	return install.New(o)
}

// Repaired returns the Installer. It first replaces a damaged registry, with a warning.
func (p *Packages) Repaired(ctx context.Context) (*install.Installer, error) {
	if err := p.Settings.NeedRoom(""); err != nil {
		return nil, err
	}
	in, err := p.Installer()
	if err != nil {
		return nil, err
	}
	done, err := in.Repair(ctx)
	if err != nil {
		return nil, err
	}
	if done {
		p.Out.Warn("the list of installed skills was damaged: it was put aside and made anew from the skills on the disk, none of them trusted")
	}
	p.warnSpace()
	return in, nil
}

// Parse reads a source as a user types it.
func (p *Packages) Parse(text string) (source.Ref, error) {
	ref, err := source.Parse(text, &source.Options{Dir: p.Sys.Dir, Home: p.Sys.Home})
	var bad *source.Error
	if errors.As(err, &bad) {
		return ref, failure.Usage(err, bad.Cure)
	}
	return ref, err
}

func (p *Packages) store() *store.Dir { return &store.Dir{Root: p.Settings.Config().PluginsDir} }

// progress shows how far a fetch is. Where lines cannot be drawn over, it shows the steps alone.
func (p *Packages) progress(at install.Progress) {
	text := at.Step
	switch {
	case !p.Out.Cursor:
	case at.Total > 0:
		text += fmt.Sprintf(" %d%%", at.Done*100/at.Total)
	case at.Done > 0 && at.Unit == "bytes":
		text += fmt.Sprintf(" %.1f MB", float64(at.Done)/1e6)
	case at.Done > 0:
		text += fmt.Sprintf(" %d", at.Done)
	}
	p.Out.Progress(text)
}
