package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

type addOptions struct {
	services *app.Services
	out      *output.Printer

	sources          []string
	ref, branch, tag string
	path             string
	names            []string
	as               string // the name to install under; "" is the skill's own
	given            want.Set
	digests          []string // that are approved without a question
	all, trusted     bool
	link, lock       bool
	ci               bool // the lock file says what is installed
	dryRun, json     bool
}

func newAddCommand(s *app.Services, run func(context.Context, *addOptions) error) *cobra.Command {
	o := &addOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:        "add SOURCE...",
		SuggestFor: []string{"import", "get", "download"},
		Aliases:    []string{"install"},
		Short:      "Install a skill from a git repository.",
		Long: `Install skills from a repository, an archive, a folder, a site with a discovery index, an OCI registry or an MCP server. SOURCE is one of

  owner/repo                     a repository on GitHub; owner/repo/path is a folder in it
  https://host/repo.git          any git repository; also ssh://, git@host:repo and file:///path
  ./folder                       a folder on this machine
  ./skill.zip, https://…/x.tgz   an archive: .zip, .skill, .tar.gz, .tgz
  https://host                   a site with /.well-known/agent-skills/index.json
  oci://registry/repository:tag  an artifact in an OCI registry
  mcp:server/skill               a skill that an MCP server of your settings publishes

Add #branch, #tag or #commit to a repository to choose a version, and :folder to that to choose a folder. The address of a
folder or a SKILL.md on the page of a forge does both. If a source has several skills, choose with --skill, --path or --all.

Before a skill is installed, you see where it is from, what it asks for and what a check found, and are asked. Without a
terminal, answer with --trusted or --trust DIGEST. Nothing of a skill is run. Your settings list the installed skills under
"plugins".

--link is for authors. It uses your folder in place, with all later changes, and does not make it trusted.`,
		Example: `  agent skill add anthropics/skills --skill pdf
  agent skill add https://git.example.com/team/skills.git --ref v1.2 --all
  agent skill add team/skills --skill csv --name team-csv
  agent skill add ./my-skill --dry-run`,
		Args: arguments(1, -1, "where the skills are"),
		RunE: func(c *cobra.Command, args []string) error {
			o.sources = args
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.ref, "ref", "", "install this branch, tag or `COMMIT` of a repository")
	f.StringVar(&o.branch, "branch", "", "follow this `BRANCH`")
	f.StringVar(&o.tag, "tag", "", "install this `TAG`, and stay at it")
	f.StringVar(&o.path, "path", "", "look in this `FOLDER` of the source")
	f.StringSliceVar(&o.names, "skill", nil, "install the skill called `NAME` (repeatable)")
	f.StringVar(&o.as, "name", "", "Custom skill name")
	f.BoolVar(&o.link, "link", false, "use your folder in place, without a copy")
	f.BoolVar(&o.all, "all", false, "install every skill of the source")
	f.BoolVar(&o.trusted, "trusted", false, "Skip trust confirmation")
	f.StringSliceVar(&o.digests, "trust", nil, "approve the content with this `DIGEST` (sha256:...) without a question (repeatable)")
	givenFlags(c, s, &o.given)
	f.BoolVar(&o.lock, "lock", false, "record the skill in skills-lock.json of the project, for agent skill ci")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be installed, and install nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	c.MarkFlagsMutuallyExclusive("ref", "branch", "tag")
	c.MarkFlagsMutuallyExclusive("skill", "all")
	c.MarkFlagsMutuallyExclusive("name", "all")
	for _, other := range []string{"trusted", "trust", "name", "dry-run"} {
		c.MarkFlagsMutuallyExclusive("link", other)
	}
	return c
}

func runAdd(ctx context.Context, o *addOptions) error {
	var refs []source.Ref
	for _, text := range o.sources {
		ref, err := o.parse(text)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	if err := checkDigests(o.digests); err != nil {
		return err
	}
	if o.as != "" {
		if err := manifest.CheckName(o.as); err != nil {
			return err
		}
	}
	in, err := o.services.Packages.Repaired(ctx)
	if err != nil {
		return err
	}
	var done []installed
	for _, ref := range refs {
		some, err := o.from(ctx, in, ref)
		done = append(done, some...)
		if err != nil {
			return errors.Join(o.report(done), err)
		}
	}
	return o.report(done)
}

// parse reads a source and adds what the flags say.
func (o *addOptions) parse(text string) (source.Ref, error) {
	ref, err := o.services.Packages.Parse(text)
	if err != nil {
		return ref, err
	}
	if dir := "./" + text; ref.Kind == source.Git && o.isFolder(text) {
		if o.link {
			return o.services.Packages.Parse(dir)
		}
		o.out.Remark(fmt.Sprintf("%s is read as a repository of GitHub; write %s for the folder", text, dir))
	}
	for _, want := range []struct{ value, kind string }{{o.ref, ""}, {o.branch, "branch"}, {o.tag, "tag"}} {
		if want.value == "" {
			continue
		}
		if !ref.Kind.HasVersions() {
			return ref, failure.Usage(fmt.Errorf("%s has no branch, tag or commit", text), "leave --ref, --branch and --tag out")
		}
		ref = ref.At(want.value, want.kind)
	}
	if o.path != "" {
		ref.Path = strings.Trim(o.path, "/")
	}
	return ref, nil
}

// isFolder reports whether a source that is written as "owner/repo" is a folder here, too.
func (o *addOptions) isFolder(text string) bool {
	if strings.Contains(text, ":") || !filepath.IsLocal(text) {
		return false
	}
	info, err := os.Stat(o.services.Sys.Abs(text))
	return err == nil && info.IsDir()
}

// checkDigests returns an error for a digest of --trust that is none.
func checkDigests(digests []string) error {
	for _, d := range digests {
		if !strings.HasPrefix(d, "sha256:") || len(d) != len("sha256:")+64 {
			return failure.Usage(fmt.Errorf("--trust %s is no digest", d), "it is sha256: and 64 hexadecimal digits")
		}
	}
	return nil
}

// installed is one skill that was installed, or would be.
type installed struct {
	entry   registry.Entry
	from    registry.Entry // what was there already as an entry of the place that it is added from now
	digest  string
	kept    bool              // false with --dry-run, and if it was there already
	present bool              // it was there already
	files   install.Condition // of what was there already; "" if nothing was
	leftOut []string          // what the source has below its folder and the copy has not
	checked packages.Checked  // of what was not there

	signature *oms.Report // nil if it was not checked
	hiding
}

// from installs the chosen skills of one source.
func (o *addOptions) from(ctx context.Context, in *install.Installer, ref source.Ref) (done []installed, err error) {
	var place *install.Place
	err = o.out.Busy("fetching "+ref.String(), func() error {
		if o.all {
			place, err = in.OpenAll(ctx, ref)
		} else {
			place, err = in.Open(ctx, ref, "", o.wanted(ref)...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer place.Close()
	ref = place.Origin.Source
	chosen, err := o.choose(ctx, place, ref)
	if err != nil {
		return nil, err
	}
	if chosen, err = o.withNeeded(ctx, chosen, place); err != nil {
		return nil, err
	}
	if o.as != "" && len(chosen) > 1 {
		return nil, failure.Usage(fmt.Errorf("--name %s is for one skill, and there are %d", o.as, len(chosen)), "choose one with --skill NAME")
	}
	if o.link {
		return o.linked(ctx, in, ref, chosen)
	}
	a := &adding{addOptions: o, in: in, ref: ref}
	defer a.close()
	if err := o.out.Busy("getting the files", func() error { return place.Get(ctx, chosen...) }); err != nil {
		return nil, err
	}
	if err := a.unpackAll(ctx, place, chosen); err != nil {
		return nil, err
	}
	o.others(place.Others(chosen...))
	return a.finish(ctx)
}

// others says what of a source is no part of the chosen skills and could not be read.
func (o *addOptions) others(list []string) {
	switch {
	case o.services.Flags.Verbose:
		for _, line := range list {
			o.out.Remark("left out: " + line)
		}
	case len(list) > 0:
		o.out.Remark(output.Count(len(list), "other file") + " of the source could not be read or followed; see --verbose")
	}
}

// report prints what was installed.
func (o *addOptions) report(done []installed) error {
	if o.json {
		records := []map[string]any{}
		for _, d := range done {
			signed, signer, root := signatureFields(d.signature)
			records = append(records, map[string]any{"signature": signed, "signer": signer, "root": root, "name": d.entry.Name, "name_canonical": manifest.Canonical(d.entry.Name), "digest": d.digest,
				"git_url": orNull(d.entry.GitURL), "commit_sha": orNull(d.entry.CommitSHA), "source": d.entry.Source, "path": d.entry.Path,
				"installed_path": orNull(d.entry.InstalledPath), "original_name": orNull(d.entry.OriginalName), "linked": d.entry.Linked, "installed": d.kept || d.present, "changed": d.kept, "condition": cmp.Or(d.files, install.Intact), "left_out": nonNil(d.leftOut), "scripts_use_outside": nonNil(d.checked.Lost), "hides": append([]shadow{}, d.hides...), "hidden_by": d.by})
		}
		if err := o.out.JSON(map[string]any{"skills": records}); err != nil {
			return err
		}
		return o.lacking(done)
	}
	for _, d := range done {
		sayFiles(o.out, &d.entry, d.files)
		switch {
		case d.kept && d.entry.Linked:
			o.out.Printf("Linked %s to %s\n", d.entry.Name, d.entry.InstalledPath)
			o.out.Remark("its scripts run once you trust it: " + cure.Trust(d.entry.NameCanonical))
		case d.kept:
			o.out.Printf("%s\n", o.out.Wrapped(fmt.Sprintf("Installed %s [%s] from %s", d.entry.Name, output.Short(d.digest), packages.From(d.entry)), 0))
		case d.present:
			o.out.Printf("%s [%s] is installed already\n", d.entry.Name, output.Short(d.digest))
		default:
			o.out.Printf("Would install %s [%s]\n", d.entry.Name, d.digest)
		}
	}
	return o.lacking(done)
}

// lacking warns of the skills that use what lies outside of their folders.
func (o *addOptions) lacking(done []installed) error {
	if err := o.out.Flush(); err != nil { // the warnings stand below what was done
		return err
	}
	if set := o.services.Settings; len(done) > 0 && !slices.Contains(set.Config().Sources, config.PluginDir) {
		o.out.Warn("installed skills are not loaded: " + set.Origin("sources") + " has no plugin")
	}
	hinted := false
	for _, d := range done {
		if !d.kept {
			continue
		}
		if len(d.leftOut) > 0 && o.trusted { // a question has shown them
			o.out.Warn(d.entry.Name + ": left out: " + strings.Join(packages.Some(d.leftOut), "; "))
		}
		if outside := d.checked.Outside(); len(outside) > 0 {
			o.out.Warn(fmt.Sprintf("%s: only its own folder was installed: %s", d.entry.Name, strings.Join(outside, "; ")))
		}
		if lost := d.checked.LostText(); lost != "" {
			o.out.Warn(fmt.Sprintf("%s: only its own folder was installed, and its scripts use %s", d.entry.Name, lost))
			hinted = true
		}
	}
	if hinted {
		o.out.Remark("clone the repository, and let the scripts see the folder that has both: " + cure.TrustRoot("FOLDER"))
	}
	return nil
}

// signatureFields are the fields of JSON about a signature: an oms.State, who signed, and the root that vouches for that. They
// are empty if it was not checked.
func signatureFields(r *oms.Report) (state, signer, root string) {
	if r == nil {
		return "", "", ""
	}
	return r.State.String(), r.Signer.Name, r.Signer.Root
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
