package skilltool

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// Limits of what script_list returns to a model.
const (
	maxItems    = 30  // scripts of one skill
	maxAllItems = 200 // scripts of all skills together
)

// ScriptItem is one script in the result of script_list.
type ScriptItem struct {
	Name string `json:"name"`
	Path string `json:"path"` // below the skill's folder; with the rule survey.Direct it is absolute if the skill is on disk
}

// ScriptList has scripts by the canonical names of their skills.
type ScriptList map[string][]ScriptItem

// Envelope returns the result of the tool script_list, with all scripts.
func (l ScriptList) Envelope() tool.Result {
	total := 0
	for _, items := range l {
		total += len(items)
	}
	return tool.Success(map[string][]ScriptItem(l), found(total, len(l)))
}

func found(scripts, skills int) string {
	return fmt.Sprintf("Found %s across %s", plural(scripts, "script"), plural(skills, "skill"))
}

// ListScripts lists the scripts that one skill offers, or all skills if the name is empty. The error is a *script.Error, or
// that of ctx if ctx is done.
func (k *Kit) ListScripts(ctx context.Context, name string) (ScriptList, error) {
	out := ScriptList{}
	err := k.eachSkill(ctx, name, func(s *skill.Skill) {
		if items := k.scriptItems(ctx, s, survey.Of(s.FS(), s.Manifest(), k.survey()).List()); len(items) > 0 || name != "" {
			out[s.Canonical()] = items
		}
	})
	return out, err
}

// listCall is ListScripts for a model: long lists are cut, and the message counts what is missing.
func (k *Kit) listCall(ctx context.Context, a *arguments) tool.Result {
	list, scripts, skills, listed := ScriptList{}, 0, 0, 0
	example := ""
	err := k.eachSkill(ctx, a.SkillName, func(s *skill.Skill) {
		set := survey.Of(s.FS(), s.Manifest(), k.survey())
		all := set.List()
		if len(all) == 0 && a.SkillName == "" {
			return
		}
		scripts, skills = scripts+len(all), skills+1
		some := all
		if most := min(maxItems, maxAllItems-listed); len(all) > most {
			set.Foremost(all)
			some, example = all[:most], all[most].File
		}
		if listed += len(some); len(some) > 0 || a.SkillName != "" {
			list[s.Canonical()] = k.scriptItems(ctx, s, some)
		}
	})
	if err != nil {
		return k.Failure(ctx, err, a.SkillName)
	}
	text := found(scripts, skills)
	if more := scripts - listed; more > 0 {
		text += fmt.Sprintf("; %d more are not listed here: call them by their path, such as script_name '%s' (skill_read lists the files of a skill)", more, example)
		if left := skills - len(list); left > 0 {
			text += fmt.Sprintf("; for the scripts of the other %s give skill_name", plural(left, "skill"))
		}
	}
	return tool.Success(map[string][]ScriptItem(list), text)
}

// eachSkill calls a function with the skill of that name, or with all visible skills if the name is empty.
func (k *Kit) eachSkill(ctx context.Context, name string, do func(*skill.Skill)) error {
	if name != "" {
		s, err := k.loadNamed(ctx, name, notFound)
		if err != nil {
			return err
		}
		defer s.Close()
		do(s)
		return nil
	}
	for e := range k.o.Catalog().Visible() {
		if _, active := k.o.Session.Lookup(e.Canonical()); e.Server() != "" && !active {
			continue // nothing of it is read before it is wanted
		}
		s, err := e.Load(ctx)
		if err != nil {
			continue // it has become unreadable
		}
		do(s)
		s.Close()
	}
	if err := ctx.Err(); err != nil { // the list would lack those that were not loaded for it
		return &script.Error{Code: script.Timeout, Err: err, Message: fmt.Sprintf("Scripts cannot be listed: %v", err)}
	}
	return nil
}

func (k *Kit) scriptItems(ctx context.Context, s *skill.Skill, scripts []script.Script) []ScriptItem {
	dir := ""
	if k.o.ScriptRule == survey.Direct {
		dir, _ = s.Dir(ctx) // a skill in memory has none
	}
	out := make([]ScriptItem, len(scripts))
	for i, sc := range scripts {
		out[i] = ScriptItem{Name: sc.Name, Path: sc.File}
		if dir != "" {
			out[i].Path = filepath.Join(dir, filepath.FromSlash(sc.File))
		}
	}
	return out
}

// survey returns how the scripts of a skill are found.
func (k *Kit) survey() *survey.Options { return &survey.Options{Rule: k.o.ScriptRule} }

// keptFiles returns the paths of the files that are run and not read, never nil.
func (k *Kit) keptFiles(s *skill.Skill) []string {
	out := []string{}
	for _, sc := range survey.Of(s.FS(), s.Manifest(), k.survey()).Kept() {
		out = append(out, sc.File)
	}
	return out
}
