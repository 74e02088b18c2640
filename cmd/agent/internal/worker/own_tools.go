package worker

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// ownTools returns the tools of the agent itself. kit returns the tools for skills of the conversation when a call is made. Its commands
// run in the background if there are jobs.
func (w *worker) ownTools(ctx context.Context, kit func() *skilltool.Kit, jobs *hosttool.Jobs) ([]tool.Tool, error) {
	cfg := w.s.Settings.Config()
	shell, err := w.s.Sys.LookPath("bash")
	if err != nil || !filepath.IsAbs(shell) {
		shell = ""
	}
	o := &hosttool.Options{
		Workspace: cfg.Paths.Project, Mounts: w.mounts, ReadOnly: w.readOnly, SkillRoots: w.skillRoots, Scripts: w.keptScripts, ReadScripts: cfg.ScriptRead == "allow",
		Shell: shell, Env: commandEnv(w.s.Sys.Environ, cfg.Agent.BashVariables), Trace: w.s.Observe.Tracer(),
	}
	o.Clean, o.CleanTo = setup.WithoutProviderKeys(w.s.Sys.Environ)
	o.Decide, o.Cure, o.Undo = w.decide, cure.Call, w.journal
	o.Jobs = jobs
	o.ReadRules = func() bool { return w.gate.current().Restricts() }
	if w.approver != nil {
		o.Approve = w.gate.approve
	}
	if err := w.confineBash(ctx, o, kit); err != nil {
		return nil, err
	}
	w.gate.confine(o.Confined)
	if jobs != nil { // not for a sub-agent
		w.hooks = w.readHooks(ctx, o)
	}
	tools, err := hosttool.Tools(o)
	return append(tools, w.webTools(kit)...), err
}

// commandEnv returns the variables that a shell needs, without keys, and those that the user's setting names.
func commandEnv(environ, named []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
			"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL":
			out = append(out, kv)
		default:
			if strings.HasPrefix(name, "LC_") || slices.Contains(named, name) {
				out = append(out, kv)
			}
		}
	}
	return out
}
