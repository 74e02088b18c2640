package script

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Where a script starts: the values of Options.Cwd and of metadata.agent-base.cwd in a manifest.
const (
	CwdUser      = "user"      // Options.UserDir, or without one the folder of the run that AGENT_SKILL_WORK_DIR names
	CwdWorkspace = "workspace" // Options.Workspace
	CwdSkill     = "skill"     // the skill's folder
	CwdScript    = "script"    // the script's own folder
)

var cwds = []string{CwdUser, CwdWorkspace, CwdSkill, CwdScript}

// place is the folder where a script starts.
type place struct {
	dir   string
	write []string // the folder, if the script may write there because it starts there
}

// cwd decides where a script starts.
func (h *Host) cwd(s *skill.Skill, dir, file string, w *workplace) place {
	cwd := h.o.Cwd
	if own := skillCwd(s.Manifest()); own != "" && !h.o.FixedCwd && !(own == CwdWorkspace && h.o.Workspace == "") {
		cwd = own
	}
	switch {
	case cwd == CwdUser && h.o.UserDir == "":
		return place{dir: w.work}
	case cwd == CwdUser:
		return place{h.o.UserDir, []string{h.o.UserDir}}
	case cwd == CwdWorkspace:
		return place{dir: h.o.Workspace}
	case cwd == CwdSkill:
		return place{dir: dir}
	}
	return place{dir: filepath.Dir(file)}
}

// writtenCwd returns what a manifest has as metadata.agent-base.cwd, in a map or as one key.
func writtenCwd(m *manifest.Manifest) string {
	if cwd, ok := m.Metadata["agent-base.cwd"]; ok {
		return cwd
	}
	var own struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal([]byte(m.Metadata["agent-base"]), &own) != nil {
		return ""
	}
	return own.Cwd
}

// skillCwd returns where a manifest has its scripts start, "" if it does not say.
func skillCwd(m *manifest.Manifest) string {
	if cwd := writtenCwd(m); slices.Contains(cwds, cwd) {
		return cwd
	}
	return ""
}

// checkCwd reports a working directory in a manifest that does not exist.
func checkCwd(m *manifest.Manifest) []manifest.Problem {
	cwd := writtenCwd(m)
	if cwd == "" || slices.Contains(cwds, cwd) {
		return nil
	}
	p := manifest.Problem{Code: "metadata-cwd", Severity: manifest.SeverityWarning, File: "SKILL.md", Field: "metadata",
		Message: fmt.Sprintf("%q in metadata.agent-base.cwd is not a place: it is ignored", cwd), Cure: "write one of " + strings.Join(cwds, ", ")}
	return []manifest.Problem{p}
}
