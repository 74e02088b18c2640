package script

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/survey"
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

// cwd returns the folder where a script starts.
func (h *Host) cwd(s *skill.Skill, dir, file string, w *places.Workplace) string {
	cwd := h.o.Cwd
	if own := skillCwd(s.Manifest()); own != "" && !h.o.FixedCwd && !(own == CwdWorkspace && h.o.Workspace == "") {
		cwd = own
	}
	switch {
	case cwd == CwdUser && h.o.UserDir == "":
		return w.Work
	case cwd == CwdUser:
		return h.o.UserDir
	case cwd == CwdWorkspace:
		return h.o.Workspace
	case cwd == CwdSkill:
		return dir
	}
	return filepath.Dir(file)
}

// loads returns the name of the script's interpreter if it may load files of the folder where it starts, such as the
// tsconfig.json or the modules in it: every one that a #! line names and of which nothing else is known. It returns "" for the
// others.
func loads(s *skill.Skill, sc Script) string {
	if lang := survey.LanguageOf(sc.File); lang != "" && lang != survey.Shell {
		return ""
	}
	bang, err := survey.ParseShebang(survey.Head(s.FS(), sc.File))
	if err != nil || bang.Path == "" {
		return ""
	}
	if language.ProgramNamed(bang.Name()).Loads {
		return bang.Name()
	}
	return ""
}

// start returns the folder where the script of a call starts, and notes if it is another one than the call's because of the
// interpreter.
func (h *Host) start(c *call, r *scriptRun) string {
	cwd := h.cwd(c.s, r.dir, r.file, r.place)
	name := loads(c.s, c.sc)
	if name == "" || h.o.FixedCwd || cwd == r.dir || cwd == filepath.Dir(r.file) || cwd == r.place.Work {
		return cwd
	}
	note := fmt.Sprintf("script %s starts in the skill's folder, because %s may load files of the folder where it starts: name files by absolute paths", c.sc.Name, name)
	c.note = strings.TrimPrefix(c.note+"; "+note, "; ")
	return r.dir
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
