package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/dirhash"
)

// compareOptions is that of verify and repair: both compare the files of installed skills, of all or of those named. So does ci for the
// skills of a lock file, by install.Package.Former.
type compareOptions struct {
	services *app.Services
	out      *output.Printer

	names []string
	json  bool
}

// comparing returns a command that compares the files of installed skills.
func comparing(s *app.Services, run func(context.Context, *compareOptions) error, c *cobra.Command) *cobra.Command {
	o := &compareOptions{services: s, out: s.Out}
	c.ValidArgsFunction = completeInstalled(s)
	c.RunE = func(c *cobra.Command, args []string) error {
		o.names = args
		return run(c.Context(), o)
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// compare looks at the files. in changes them.
func (o *compareOptions) compare(ctx context.Context, change bool) (in *install.Installer, found []install.Verified, err error) {
	in, entries, err := installedSkills(ctx, o.services, change, o.names...)
	if err != nil {
		return nil, nil, err
	}
	err = o.out.Busy("reading", func() error {
		found, err = in.Verify(ctx, entries)
		return err
	})
	return in, found, err
}

func newVerifyCommand(s *app.Services, run func(context.Context, *compareOptions) error) *cobra.Command {
	return comparing(s, run, &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Check that installed skills have the files that were installed",
		Long: `Compare the files of installed skills, of all or of those named, with what was installed. The exit code is 7 if a file is
another one, is missing or is too many; the answer names the files where the content was approved. A linked folder has no
recorded content.

The signature of a skill that has one (skill.oms.sig) is checked against the certificates of the setting signatureRoots, as of
the time of the installation. A signature that is not good is exit code 7 too.`,
		Example: `  agent skill verify
  agent skill verify pdf --json`,
	})
}

// verified is the result for one skill.
type verified struct {
	Name      string      `json:"name"`
	Canonical string      `json:"name_canonical"`
	Condition string      `json:"condition"` // ok, changed, missing or linked
	Digest    string      `json:"digest"`    // that was installed; "" for a linked folder
	Present   string      `json:"present"`   // digest of the files that are there; "" if they have none
	Files     []fileDelta `json:"files"`     // how these differ from those that were approved
	Signature string      `json:"signature"` // an oms.State, "" if it was not checked
	Signer    string      `json:"signer"`    // "" if nobody is known
	Root      string      `json:"root"`      // that vouches for the signer
	Error     string      `json:"error,omitempty"`
	Path      string      `json:"installed_path"`

	signed string
}

func runVerify(ctx context.Context, o *compareOptions) error {
	_, found, err := o.compare(ctx, false)
	if err != nil {
		return err
	}
	var bad, links []string
	list := []verified{}
	for i := range found {
		v := o.verdict(ctx, &found[i])
		list = append(list, v)
		switch {
		case v.Condition != string(install.Edited) && v.Condition != string(install.Missing) && v.Error == "":
			continue
		case found[i].Entry.Linked && found[i].Condition == install.Missing:
			links = append(links, v.Name)
		default:
			bad = append(bad, v.Canonical)
		}
	}
	ok := len(bad)+len(links) == 0
	if o.json {
		err = o.out.JSON(map[string]any{"skills": list, "ok": ok})
	} else {
		err = o.print(list)
	}
	if err != nil || ok {
		return err
	}
	if len(bad) > 0 {
		o.out.Remark(cure.Repair(bad...) + " puts the installed content back, and keeps what is there now")
	}
	for _, name := range links {
		o.out.Remark(cure.Link(name))
	}
	return failure.Silent(failure.ExitIntegrity)
}

func (o *compareOptions) verdict(ctx context.Context, f *install.Verified) verified {
	v := verified{Name: f.Entry.Name, Canonical: f.Entry.NameCanonical, Condition: string(f.Condition), Digest: f.Entry.Digest, Present: f.Digest,
		Files: []fileDelta{}, Path: f.Entry.InstalledPath}
	switch {
	case f.Signature != nil:
		v.Signature, v.Signer, v.Root = signatureFields(f.Signature)
		v.signed = packages.SignatureText(f.Signature)
	case f.Entry.OriginalName != "":
		v.signed = "not checked: it was renamed, from " + f.Entry.OriginalName
	}
	switch {
	case f.Err != nil:
		v.Error = f.Err.Error()
	case f.SignError != nil:
		v.Error = "its signature cannot be checked: " + f.SignError.Error()
	case f.Signature != nil && f.Signature.Broken():
		v.Error = v.signed
	}
	if f.Condition == install.Edited && f.Err == nil {
		for _, c := range dirhash.Diff(o.approved(ctx, &f.Entry), f.Files) {
			v.Files = append(v.Files, fileDelta{c.Path, c.Kind.String()})
		}
	}
	return v
}

// approved returns the files of the installed content as they were approved, or nil.
func (o *compareOptions) approved(ctx context.Context, e *registry.Entry) []dirhash.File {
	set, err := o.services.Trust.Load(ctx)
	if err != nil {
		return nil
	}
	var out []dirhash.File
	for _, a := range set.Approvals() {
		if a.Name != e.NameCanonical || !a.Is(e.Digest) {
			continue
		}
		for _, f := range a.Files {
			out = append(out, dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		}
	}
	return out
}

func (o *compareOptions) print(list []verified) error {
	if len(list) == 0 {
		o.out.Printf("No skills are installed\n")
		return nil
	}
	var rows [][]string
	for _, v := range list {
		rows = append(rows, []string{v.Name, v.Condition, output.OrDash(output.Short(v.Digest)), output.OrDash(v.signed)})
	}
	if err := o.out.Table([]string{"NAME", "FILES", "DIGEST", "SIGNATURE"}, rows); err != nil {
		return err
	}
	for _, v := range list {
		if v.Error != "" {
			o.out.Printf("%s: %s\n", v.Name, v.Error)
		}
		for i, f := range v.Files {
			if i == mostNames {
				o.out.Printf("%s: and %d more\n", v.Name, len(v.Files)-i)
				break
			}
			o.out.Printf("%s: %s %s\n", v.Name, f.Change, f.Path)
		}
		if v.Condition == string(install.Edited) && v.Error == "" && len(v.Files) == 0 {
			o.out.Printf("%s: %s\n", v.Name, fmt.Sprintf("the files in %s have the digest %s", v.Path, v.Present))
		}
	}
	return nil
}
