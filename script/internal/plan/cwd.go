package plan

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Where a script starts: the values of Operator.Cwd and of metadata.agent-base.cwd in a manifest.
const (
	CwdUser      = "user"      // Operator.UserDir, or without one the folder Work of the run
	CwdWorkspace = "workspace" // Operator.Workspace
	CwdSkill     = "skill"     // the skill's folder
	CwdScript    = "script"    // the script's own folder
)

var cwds = []string{CwdUser, CwdWorkspace, CwdSkill, CwdScript}

// Cwds returns where a script can start.
func Cwds() []string { return slices.Clone(cwds) }

// cwd returns the folder where a script starts.
func (r *Run) cwd(o *Operator) string {
	cwd := o.Cwd
	if own := skillCwd(r.Skill.Manifest()); own != "" && !o.FixedCwd && !(own == CwdWorkspace && o.Workspace == "") {
		cwd = own
	}
	switch {
	case cwd == CwdUser && o.UserDir == "":
		return r.Work
	case cwd == CwdUser:
		return o.UserDir
	case cwd == CwdWorkspace:
		return o.Workspace
	case cwd == CwdSkill:
		return r.Dir
	}
	return filepath.Dir(r.File)
}

// loads returns the name of the script's interpreter if it may load files of the folder where it starts, such as the
// tsconfig.json or the modules in it: every one that a #! line names and of which nothing else is known. It returns "" for the
// others.
func loads(s *skill.Skill, sc survey.Script) string {
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

// Settle sets where the run starts, unless that is set. It returns a note if that is another folder than it would be, because of the
// interpreter.
func (r *Run) Settle(o *Operator) (note string) {
	if r.Cwd != "" {
		return ""
	}
	r.Cwd = r.cwd(o)
	name := loads(r.Skill, r.Script)
	if name == "" || o.FixedCwd || r.Cwd == r.Dir || r.Cwd == filepath.Dir(r.File) || r.Cwd == r.Work {
		return ""
	}
	r.Cwd = r.Dir
	return fmt.Sprintf("script %s starts in the skill's folder, because %s may load files of the folder where it starts: name files by absolute paths", r.Script.Name, name)
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

// CheckCwd reports a working directory in a manifest that does not exist.
func CheckCwd(m *manifest.Manifest) []manifest.Problem {
	cwd := writtenCwd(m)
	if cwd == "" || slices.Contains(cwds, cwd) {
		return nil
	}
	p := manifest.Problem{Code: "metadata-cwd", Severity: manifest.SeverityWarning, File: "SKILL.md", Field: "metadata",
		Message: fmt.Sprintf("%q in metadata.agent-base.cwd is not a place: it is ignored", cwd), Cure: "write one of " + strings.Join(cwds, ", ")}
	return []manifest.Problem{p}
}
