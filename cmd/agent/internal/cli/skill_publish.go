package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/install/oci"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/pack"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

type publishOptions struct {
	sys      *setup.System
	out      *output.Printer
	packages *packages.Packages

	name, to, collection string
	skip                 []string // names of skills of the folder
	remove               []string // names of skills of the site
	json                 bool
}

func newPublishCommand(s *app.Services, run func(context.Context, *publishOptions) error) *cobra.Command {
	o := &publishOptions{sys: s.Sys, out: s.Out, packages: s.Packages}
	c := &cobra.Command{
		Use:   "publish [NAME|FOLDER] --to DESTINATION",
		Short: "Offer skills on a site or in an OCI registry",
		Long: `Offer one skill, or all skills of a folder, to others.

With a folder as DESTINATION, write a site for any web server: /.well-known/agent-skills/index.json, an archive for each
skill, and index.html for people. "agent skill add https://host" then finds them. Skills that the site has already stay;
--remove takes one off, also without NAME or FOLDER. With oci://registry/repository:tag, push
to an OCI registry; several skills need --collection. The password is that of Docker's config.json, from "docker login".

The same skills give the same bytes. If a skill does not pass "agent skill validate", or has text that nobody has
written yet, nothing is published, and all such skills are named; --skip leaves one out.`,
		Example: `  agent skill publish ./skills --to ./public
  agent skill publish ./skills --to ./public --skip draft
  agent skill publish --to ./public --remove csv-report
  agent skill publish csv-report --to oci://ghcr.io/acme/csv-report:1.2`,
		Args:              arguments(0, 1, "the name or the folder of a skill, or a folder of skills"),
		ValidArgsFunction: completeSkillsAndFolders(s),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				o.name = args[0]
			case len(o.remove) == 0:
				return failure.Usage(errors.New("it is not said what to publish"), "name a skill, or a folder of skills")
			}
			if o.to == "" {
				return failure.Usage(errors.New("it is not said where to"), "--to ./public or --to oci://registry/repository:tag")
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.to, "to", "", "the folder of a site, or oci://registry/repository:tag, as `DESTINATION`")
	c.Flags().StringVar(&o.collection, "collection", "", "push several skills together under this `NAME`")
	c.Flags().StringSliceVar(&o.skip, "skip", nil, "leave out the skill called `NAME` of the folder (repeatable)")
	c.Flags().StringSliceVar(&o.remove, "remove", nil, "take the skill called `NAME` off the site (repeatable)")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runPublish(ctx context.Context, o *publishOptions) error {
	var list []*skill.Skill
	var err error
	if o.name != "" {
		list, err = o.open(ctx)
	}
	defer func() {
		for _, s := range list {
			s.Close()
		}
	}()
	if err != nil {
		return err
	}
	if !strings.ContainsAny(o.to, `/\:`) {
		o.to = "./" + o.to // one word names no repository
	}
	ref, err := o.packages.Parse(o.to)
	switch {
	case err != nil:
		return err
	case ref.Kind == source.OCI && len(o.remove) > 0:
		return failure.Usage(errors.New("--remove is for sites"), "a tag of a registry is removed with the registry's own tools")
	case ref.Kind == source.OCI:
		return o.push(ctx, list, ref)
	case ref.Kind == source.Folder:
		return o.site(ctx, list, ref.URL)
	}
	return failure.Usage(fmt.Errorf("skills cannot be published to %s", o.to), "name a folder that begins with ./, or oci://registry/repository:tag")
}

// open opens the skill that was named, or all skills of the folder. None of them may have an error.
func (o *publishOptions) open(ctx context.Context) (list []*skill.Skill, err error) {
	entries, err := o.packages.Below(ctx, o.name)
	if f := new(failure.Error); errors.As(err, &f) && f.Exit == failure.ExitNotFound {
		s, err := o.packages.Open(ctx, o.name)
		if err != nil {
			return nil, err
		}
		return []*skill.Skill{s}, o.packages.Publishable(s)
	} else if err != nil {
		return nil, err
	}
	if entries, err = o.withoutSkipped(entries); err != nil {
		return nil, err
	}
	var bad []string
	var wrong []error
	for _, e := range entries {
		s, err := e.Load(ctx)
		if err == nil {
			list = append(list, s)
			err = o.packages.Publishable(s)
		}
		if err != nil {
			bad, wrong = append(bad, e.Name()), append(wrong, err)
		}
	}
	switch {
	case len(wrong) == 1 && len(entries) == 1:
		return list, wrong[0]
	case len(wrong) > 0:
		return list, &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Err: errors.Join(wrong...),
			Hint: "nothing was published: correct them, or leave them out: --skip " + strings.Join(bad, ",")}
	case len(list) == 0:
		return nil, failure.NotFound(fmt.Errorf("%q has no skills", o.name), "name a folder that has skills")
	}
	return list, nil
}

// withoutSkipped returns the skills that --skip does not name.
func (o *publishOptions) withoutSkipped(entries []skill.Entry) ([]skill.Entry, error) {
	for _, name := range o.skip {
		n := len(entries)
		entries = slices.DeleteFunc(entries, func(e skill.Entry) bool { return e.Canonical() == manifest.Canonical(name) })
		if len(entries) == n {
			return nil, failure.NotFound(fmt.Errorf("%q has no skill %q to skip", o.name, name), "agent skill validate "+o.name+" names its skills")
		}
	}
	return entries, nil
}

// site writes a discovery index and the archives.
func (o *publishOptions) site(ctx context.Context, list []*skill.Skill, dir string) error {
	if len(o.remove) == 0 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var skills []pack.Skill
	for _, s := range list {
		skills = append(skills, pack.Skill{Name: s.Canonical(), Description: s.Manifest().Description, FS: s.Whole()})
	}
	remove := make([]string, len(o.remove))
	for i, name := range o.remove {
		remove[i] = manifest.Canonical(name)
	}
	done, err := pack.Index(ctx, root, skills, remove)
	if errors.Is(err, fs.ErrNotExist) && len(remove) > 0 {
		return failure.NotFound(err, "nothing was written")
	}
	if err != nil {
		return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Err: err, Hint: "nothing was written"}
	}
	if o.json {
		return o.out.JSON(map[string]any{"skills": done.Entries, "kept": done.Kept, "written": nonNil(done.Written), "removed": nonNil(done.Removed)})
	}
	for _, e := range done.Entries {
		for _, name := range e.Excluded {
			o.out.Remark(e.Name + ": left out: " + name)
		}
		o.out.Printf("%s  %s\n", e.Digest, e.Name)
	}
	for _, name := range done.Removed {
		o.out.Remark("removed: " + name)
	}
	if len(done.Kept) > 0 {
		o.out.Remark(output.Count(len(done.Kept), "other skill") + " of the site kept; --remove NAME takes one off")
	}
	if !o.out.Quiet() {
		o.out.Hint(fmt.Sprintf("serve %s as the root of an https site; agent skill add https://HOST installs from it", o.to))
	}
	return nil
}

// push stores the skills in a registry.
func (o *publishOptions) push(ctx context.Context, list []*skill.Skill, ref source.Ref) error {
	if len(list) > 1 && o.collection == "" {
		return failure.Usage(fmt.Errorf("%d skills cannot be one artifact", len(list)), "--collection NAME pushes them together")
	}
	client, err := o.packages.Registry(ref)
	if err != nil {
		return err
	}
	r := &oci.PushRequest{To: ref, Collection: o.collection}
	for _, s := range list {
		m := s.Manifest()
		r.Skills = append(r.Skills, oci.Skill{FS: s.Whole(), Name: s.Name(), Description: m.Description, Version: m.Version, License: m.License,
			Compatibility: m.Compatibility, AllowedTools: m.AllowedTools.Rules, Metadata: m.Metadata})
	}
	var done *oci.Pushed
	err = o.out.Busy("pushing to "+ref.String(), func() error {
		done, err = client.Push(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]any{"reference": ref.String(), "tag": ref.Want, "digest": done.Digest, "skills": len(list)})
	}
	o.out.Printf("%s  %s@%s\n", done.Digest, ref, done.Digest)
	return nil
}
