package skilltool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// filePage is the most bytes of a file that one call of skill_read returns; next_offset continues.
const filePage = 64 << 10

// resource is the result of skill_read for one file.
type resource struct {
	SkillName   string `json:"skill_name"`
	Path        string `json:"path"`
	Size        int64  `json:"size"`   // bytes, of the whole file
	SHA256      string `json:"sha256"` // of the whole file
	ContentType string `json:"content_type"`
	Origin      string `json:"origin,omitempty"`  // skill.Entry.Origin
	Content     string `json:"content,omitempty"` // absent for a binary file
	Binary      bool   `json:"binary,omitempty"`
	Offset      int    `json:"offset,omitempty"`
	NextOffset  int    `json:"next_offset,omitempty"` // where the next call goes on; absent at the end
}

// fileList is the result of skill_read without a path.
type fileList struct {
	SkillName string       `json:"skill_name"`
	Files     []skill.File `json:"files"`
	Partial   bool         `json:"partial,omitempty"` // there are more files than are listed
}

var readSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"skill_name":{"type":"string","description":"Name of the skill"},` +
	`"path":{"type":"string","description":"File below the skill's folder, such as 'references/errors.md'; leave it out to list the files"},` +
	`"offset":{"type":"integer","description":"Byte to start at, from next_offset of an earlier call"}},` +
	`"required":["skill_name"]}`)

const readDescription = "Read a file that a skill's instructions refer to (references, assets), or list the skill's files. " +
	"Scripts are not read: run them with script_run, and see their options with script_help."

func (k *Kit) readTool() tool.Tool {
	return tool.Tool{Name: "skill_read", Description: readDescription, Input: readSchema, Call: k.wrap(k.read)}
}

func (k *Kit) read(ctx context.Context, a *arguments) tool.Result {
	if a.SkillName == "" {
		return tool.CauseName.Failure("skill_name is required")
	}
	s, err := k.load(ctx, a.SkillName)
	if err != nil {
		return activationFailure(ctx, a.SkillName, err)
	}
	defer s.Close()
	if err := cmp.Or(s.Replaced(ctx), k.held(ctx, s)); err != nil {
		return activationFailure(ctx, s.Name(), err)
	}
	if a.Path == "" {
		return listing(ctx, s)
	}
	a.Path = strings.TrimPrefix(a.Path, "./") // as public manifests write paths; all that follows has one spelling
	if strings.HasPrefix(a.Path, "/") {       // activation fills in the skill's folder
		if dir, err := s.Dir(ctx); err == nil {
			a.Path = strings.TrimPrefix(a.Path, dir+"/")
		}
	}
	if sc, ok := k.keptScript(s, a.Path); ok {
		k.traceScriptRead(ctx, s, a.Path)
		if !k.o.Show.ReadScripts {
			return k.refuseScript(s, a.Path, sc)
		}
	}
	if secret(s, a.Path) {
		return tool.CauseSecurity.Failure(fmt.Sprintf("'%s' can hold keys or passwords of the user, and is not read", a.Path))
	}
	res, err := s.Read(a.Path)
	if err != nil {
		trace.Emit(ctx, k.o.Trace, trace.Event{Kind: trace.PathUnresolved, Level: slog.LevelDebug, Skill: s.Canonical(), Tool: "skill_read",
			Message: "Not found: " + a.Path, Attrs: []slog.Attr{slog.String(trace.AttrPath, a.Path)}})
		return readFailure(s, a.Path, err)
	}
	trace.Emit(ctx, k.o.Trace, trace.Event{Kind: trace.ResourceRead, Level: slog.LevelDebug, Skill: s.Canonical(), Message: "Read " + a.Path,
		Attrs: []slog.Attr{slog.String(trace.AttrPath, a.Path)}})
	return page(s, a, res)
}

// secret reports whether a path leads to what can hold secrets, by its name or by that of what a link in it leads to.
func secret(s *skill.Skill, name string) bool {
	const mostLinks = 8
	for range mostLinks {
		if content.Secret(name) {
			return true
		}
		at, target := name, ""
		for ; target == "" && fs.ValidPath(at) && at != "."; at = path.Dir(at) {
			target, _ = fs.ReadLink(s.FS(), at)
		}
		if target == "" {
			return false
		}
		name = path.Join(at, target)
	}
	return true
}

func listing(ctx context.Context, s *skill.Skill) tool.Result {
	files, partial, err := s.List(ctx)
	if err != nil {
		return failureCause(err).Failure(fmt.Sprintf("Files of skill '%s' cannot be listed: %v", s.Name(), err))
	}
	return tool.Success(fileList{SkillName: s.Name(), Files: files, Partial: partial},
		fmt.Sprintf("Skill '%s' has %s", s.Name(), plural(len(files), "file")))
}

// shown returns an image or a document, which the model is shown within bounds.
func shown(out *resource, data []byte) tool.Result {
	out.Binary, out.ContentType = true, media.Type(data)
	about := fmt.Sprintf("'%s' (%s)", out.Path, media.Describe(data))
	if err := media.Check(data); err != nil {
		return tool.Success(*out, fmt.Sprintf("%s is not shown: %v", about, err))
	}
	r := tool.Success(*out, "Read "+about)
	r.Media = []tool.Media{{Type: out.ContentType, Name: path.Base(out.Path), Data: data}}
	return r
}

func page(s *skill.Skill, a *arguments, res *skill.Resource) tool.Result {
	sum := sha256.Sum256(res.Data)
	out := resource{SkillName: s.Name(), Path: a.Path, Size: int64(len(res.Data)), SHA256: hex.EncodeToString(sum[:]),
		ContentType: res.ContentType, Binary: res.Binary, Origin: s.Entry().Origin()}
	if kind := media.Type(res.Data); kind == media.PDF || kind != "" && res.Binary {
		return shown(&out, res.Data)
	}
	if res.Binary {
		return tool.Success(out, fmt.Sprintf("'%s' is binary, %d bytes", a.Path, out.Size))
	}
	if a.Offset < 0 || a.Offset > len(res.Data) {
		return tool.CauseArguments.Failure(fmt.Sprintf("offset %d is outside '%s' (%d bytes)", a.Offset, a.Path, out.Size))
	}
	text, next := window(res.Data, a.Offset, filePage)
	out.Content, out.Offset = text, a.Offset
	msg := fmt.Sprintf("Read '%s', %d bytes", a.Path, out.Size)
	if next < len(res.Data) {
		out.NextOffset = next
		msg = fmt.Sprintf("Read bytes %d to %d of '%s', %d bytes in all", a.Offset, next, a.Path, out.Size)
	}
	return tool.Success(out, msg)
}

// window returns at most size bytes from offset on, cut between characters, and where it ends.
func window(data []byte, offset, size int) (string, int) {
	end := min(offset+size, len(data))
	for end < len(data) && end > offset && !utf8.RuneStart(data[end]) {
		end--
	}
	return strings.ToValidUTF8(string(data[offset:end]), "\ufffd"), end
}

func readFailure(s *skill.Skill, name string, err error) tool.Result {
	var bad *skill.ResourceError
	if !errors.As(err, &bad) {
		return tool.CauseIO.Failure(fmt.Sprintf("'%s' cannot be read: %v", name, err))
	}
	if errors.Is(err, fs.ErrNotExist) {
		text := fmt.Sprintf("File '%s' not found in skill '%s'.", name, s.Name())
		if len(bad.Suggest) > 0 {
			text += fmt.Sprintf(" Did you mean '%s'?", bad.Suggest[0])
		}
		return tool.CauseNotFound.Failure(text)
	}
	return tool.CauseName.Failure(bad.Error())
}

// traceScriptRead traces that a model asked for the text of a script.
func (k *Kit) traceScriptRead(ctx context.Context, s *skill.Skill, name string) {
	ev := trace.Event{Kind: trace.ScriptReadAttempted, Level: slog.LevelWarn, Skill: s.Canonical(), Script: name, Tool: "skill_read",
		Message: fmt.Sprintf("Blocked reading script '%s'", name), Attrs: []slog.Attr{slog.Bool(trace.AttrBlocked, !k.o.Show.ReadScripts)}}
	if k.o.Show.ReadScripts {
		ev.Level, ev.Message = slog.LevelDebug, fmt.Sprintf("Reading script '%s'", name)
	}
	trace.Emit(ctx, k.o.Trace, ev)
}

// refuseScript returns the refusal to read a script. It names the tools that are meant for it.
func (k *Kit) refuseScript(s *skill.Skill, name string, sc script.Script) tool.Result {
	how := fmt.Sprintf("use script_run with skill_name '%s' and script_name '%s', and script_help for its options", s.Name(), sc.Name)
	if k.o.Scripts == nil {
		how = "see the skill's instructions for the command"
	}
	return tool.CauseScriptRead.Failure(fmt.Sprintf(
		"Script '%s' of skill '%s' must be EXECUTED via Bash tool or script_run, not read: %s", name, s.Name(), how))
}

// keptScript returns the script that name is under any of its names, if its text is kept from a model. Files are compared
// by identity, so neither a link nor a different spelling gets around it.
func (k *Kit) keptScript(s *skill.Skill, name string) (script.Script, bool) {
	scripts := survey.Of(s.FS(), s.Manifest(), k.survey()).Kept()
	for _, sc := range scripts { // without a look at the others
		if sc.File == name {
			return sc, true
		}
	}
	if len(scripts) == 0 {
		return script.Script{}, false
	}
	info, err := fs.Stat(s.FS(), name)
	if err != nil {
		return script.Script{}, false // reading it reports the fault
	}
	for _, sc := range scripts {
		if other, err := fs.Stat(s.FS(), sc.File); err == nil && os.SameFile(info, other) {
			return sc, true
		}
	}
	return script.Script{}, false
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
