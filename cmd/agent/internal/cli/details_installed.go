package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/skill"
)

// installedJSON is what is known about an installed skill, in the output of info and manage list.
type installedJSON struct {
	Source    string    `json:"source"`
	GitURL    any       `json:"git_url"`    // null where there is none, as the three that follow
	Commit    any       `json:"commit_sha"` //
	Branch    any       `json:"branch"`
	Tag       any       `json:"tag"`
	Path      string    `json:"path,omitempty"` // of the skill in its source
	Pinned    bool      `json:"pinned"`
	Linked    bool      `json:"linked"`
	Digest    string    `json:"digest,omitempty"` // that was installed
	Original  string    `json:"original_name,omitempty"`
	Folder    string    `json:"installed_path"`
	Installed time.Time `json:"installed_at"`
	Updated   time.Time `json:"updated_at,omitzero"`
	Versions  int       `json:"versions"` // that are kept, with the active one

	Submodules []registry.Part `json:"submodules,omitempty"` // that the skill lies in or has

	from string // for people
}

func newInstalled(e *registry.Entry) *installedJSON {
	if e == nil {
		return nil
	}
	return &installedJSON{Source: e.Source, GitURL: orNull(e.GitURL), Commit: orNull(e.CommitSHA), Branch: orNull(e.Branch), Tag: orNull(e.Tag), Path: e.Path,
		Pinned: e.Pinned, Linked: e.Linked, Digest: e.Digest, Original: e.OriginalName, Folder: e.InstalledPath, Installed: e.InstalledAt, Updated: e.UpdatedAt,
		Versions: 1 + len(e.Previous), Submodules: e.Submodules, from: packages.From(*e)}
}

// recordedJSON is what another program recorded about a skill that it installed.
type recordedJSON struct {
	By     string `json:"by"`
	Source string `json:"source"`
	Ref    string `json:"ref,omitempty"`
	Path   string `json:"path,omitempty"` // of the skill in its source
	Pinned bool   `json:"pinned"`
	File   string `json:"file"` // that says so

	from string // for people
}

// installed adds what is known about an installed skill, by this program or by another. Its SHA is the commit, if there is one.
func (d *details) installed(ctx context.Context, packages *packages.Packages, e skill.Entry) {
	i := packages.Installed(ctx).Of(ctx, e)
	if r := packages.Recorded(ctx, e); i == nil && r != nil {
		d.Recorded = &recordedJSON{r.By, r.Source, r.Ref, r.Path, r.Pinned, r.File, r.From()}
	}
	if d.Installed = newInstalled(i); i != nil && i.CommitSHA != "" {
		d.SHA = output.Short(i.CommitSHA)
	}
}

func installedText(d *details) string {
	i := d.Installed
	switch {
	case d.Recorded != nil:
		return "by " + d.Recorded.By + ", from " + d.Recorded.from
	case i == nil:
		return ""
	case i.Linked:
		return "a link to " + i.Folder
	}
	text := "from " + i.from + ", on " + i.Installed.Format("2006-01-02")
	if i.Pinned {
		text += ", pinned"
	}
	return text
}

func commitText(i *installedJSON) string {
	if i == nil || i.Commit == nil {
		return ""
	}
	return fmt.Sprint(i.Commit)
}

func submodulesText(i *installedJSON) string {
	if i == nil {
		return ""
	}
	var out []string
	for _, part := range i.Submodules {
		out = append(out, part.String())
	}
	return strings.Join(packages.Some(out), "; ")
}

func calledText(i *installedJSON) string {
	if i == nil || i.Original == "" {
		return ""
	}
	return i.Original + " where it is from"
}

func versionsKept(i *installedJSON) string {
	if i == nil || i.Versions < 2 {
		return ""
	}
	return fmt.Sprintf("%d kept; agent skill rollback goes back to the former one", i.Versions)
}
