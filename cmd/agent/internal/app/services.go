package app

import (
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Services are what commands share. A command copies those that it needs into its options.
type Services struct {
	Sys      *setup.System
	Flags    *setup.Flags
	Out      *output.Printer
	Settings *setup.Settings
	Trust    *grants.Trust
	Grants   *grants.Grants
	Skills   *library.Library
	Served   *servers.Skills // the servers of this run, for their skills and a conversation
	Approver *consent.Approver
	Consent  *consent.Consent
	Packages *packages.Packages
	Tools    *toolkit.Toolkit
	Sandbox  *sandbox.Sandbox
	Models   *Models
	Observe  *observe.Observers
	MCP      *servers.Servers
	Scanner  *scanner.Scanner
}

// New returns the services of one run. It reads no file: that is done by the first command that asks.
func New(sys *setup.System, flags *setup.Flags, streams *ui.Streams) *Services {
	s := &Services{Sys: sys, Flags: flags, Out: output.NewPrinter(streams, &flags.Flags)}
	s.Settings = setup.NewSettings(sys, flags)
	s.Observe = observe.New(sys, s.Settings, s.Out)
	s.Trust = grants.NewTrust(sys, s.Settings, s.Observe)
	s.Sandbox = sandbox.New(sys, s.Settings)
	s.connect()
	return s
}

// Begin checks the flags, after they were parsed and before the command runs.
func (s *Services) Begin() error {
	if s.Flags.NoColor {
		s.Out.Colour = false
	}
	return s.Flags.Check(s.Sys)
}

// To returns the same services printing to other streams. Settings and approvals are shared.
func (s *Services) To(streams *ui.Streams) *Services {
	other := *s
	other.Out = output.NewPrinter(streams, &s.Flags.Flags)
	other.connect()
	return &other
}

// Again returns services that read the settings again.
func (s *Services) Again() *Services {
	other := *s
	other.Settings = setup.NewSettings(s.Sys, s.Flags)
	other.Trust = grants.NewTrust(s.Sys, other.Settings, s.Observe)
	other.Sandbox = sandbox.New(s.Sys, other.Settings)
	other.connect()
	return &other
}

// In returns services for another surroundings: with other flags, and printing to other streams. dir is the working directory,
// "" for the same. What is trusted while the program runs stays so.
func (s *Services) In(dir string, flags *setup.Flags, streams *ui.Streams) *Services {
	other := *s
	sys := *s.Sys
	if dir != "" {
		sys.Dir, other.Skills = dir, nil // other servers, and their skills
	}
	other.Sys, other.Flags, other.Out = &sys, flags, output.NewPrinter(streams, &flags.Flags)
	other.Settings = setup.NewSettings(other.Sys, flags)
	other.Trust = s.Trust.As(other.Sys, other.Settings)
	other.Sandbox = sandbox.New(other.Sys, other.Settings)
	other.connect()
	return &other
}

// For returns services that work for a tenant: with its approvals, files, caches and records. Who asked closes its Observe.
func (s *Services) For(tenant string) *Services {
	other, flags := *s, *s.Flags
	flags.Tenant = tenant
	other.Flags = &flags
	other.Settings = s.Settings.For(&flags)
	other.Observe = observe.New(s.Sys, other.Settings, s.Out)
	other.Trust = grants.NewTrust(s.Sys, other.Settings, other.Observe)
	other.connect()
	return &other
}

// connect makes the services that depend on others.
func (s *Services) connect() {
	s.Observe = s.Observe.To(s.Out)
	s.Settings.RecordTo(s.Observe)
	s.MCP = &servers.Servers{Sys: s.Sys, Settings: s.Settings, Sandbox: s.Sandbox, Observe: s.Observe, Trust: s.Trust}
	if s.Served == nil {
		s.Served = servers.NewSkills(s.MCP)
	}
	s.Scanner = scanner.New(s.Sys, s.Settings, s.Sandbox)
	verdicts := scanner.NewVerdicts(s.Scanner, s.Out)
	s.Skills = (&library.Library{Served: s.Served, Sys: s.Sys, Settings: s.Settings, Trust: s.Trust, Out: s.Out, Observe: s.Observe, Verdicts: verdicts}).After(s.Skills)
	s.Approver = consent.NewApprover(s.Out)
	s.Grants = grants.New(s.Sys, s.Trust)
	s.Tools = &toolkit.Toolkit{Sys: s.Sys, Settings: s.Settings, Grants: s.Grants, Sandbox: s.Sandbox, Out: s.Out, Observe: s.Observe, Scanner: s.Scanner}
	s.Consent = &consent.Consent{Sys: s.Sys, Settings: s.Settings, Sandbox: s.Sandbox, Trust: s.Trust, Grants: s.Grants, Tools: s.Tools, Out: s.Out, Approver: s.Approver, Scanner: s.Scanner}
	s.Packages = &packages.Packages{Sys: s.Sys, Settings: s.Settings, Skills: s.Skills, Served: s.Served, Verdicts: verdicts, Out: s.Out, Observe: s.Observe}
	s.Models = &Models{sys: s.Sys, settings: s.Settings}
}

// Governed returns an error if the organisation's policy cannot be read, since nothing runs then, or if it does not allow a flag.
func (s *Services) Governed() error {
	p, g := s.Settings.Policy(), s.Flags
	if err := p.Err(); err != nil {
		return err
	}
	if g.Mode != "" {
		if err := p.Mode(permit.Mode(g.Mode)).Refuse("--mode %s is refused", g.Mode); err != nil {
			return err
		}
	}
	if g.Sandbox != "" {
		return p.Sandbox(g.Sandbox).Refuse("--sandbox %s is refused", g.Sandbox)
	}
	return nil
}
