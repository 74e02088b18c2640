package envs

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// Node returns the skill's folder for a run, and the folder of the npm packages. They are dir and "" unless the script needs npm
// packages: then it runs from a copy of its skill below the folder with the packages, because an interpreter looks for them in the
// folders above the script.
func (st *Store) Node(ctx context.Context, of *Of, dir string) (runDir, packages string, err error) {
	sc, ok := nodeScript(of.Skill, of.Script)
	if !ok {
		return dir, "", nil
	}
	p, err := st.nodes.Prepare(ctx, st.project(ctx, of, sc), nil)
	if err != nil {
		return "", "", ofNode(err)
	}
	if !p.Needed {
		return dir, "", nil
	}
	key, err := contentKey(ctx, of.Skill)
	if err != nil {
		return "", "", fail.ToCopy(ctx, of.Skill.Name(), err)
	}
	dir, err = p.Copy(ctx, key, func(folder string) (string, error) {
		sealed, err := of.Skill.Seal(ctx, folder)
		if err != nil {
			return "", err
		}
		defer sealed.Close()
		return sealed.Dir(ctx)
	})
	if err != nil {
		return "", "", fail.ToCopy(ctx, of.Skill.Name(), err)
	}
	return dir, p.Folder, nil
}

// contentKey names the content of a skill: its digest, its name, and which of its files are executable.
func contentKey(ctx context.Context, s *skill.Skill) (string, error) {
	dir, err := s.Dir(ctx)
	if err != nil {
		return "", err
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return "", err
	}
	parts := []string{digest, filepath.Base(dir)}
	err = fs.WalkDir(s.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err == nil && survey.Executable(info.Mode()) {
			parts = append(parts, p)
		}
		return nil
	})
	return ondisk.Digest(parts...), err
}

// project describes the JavaScript or TypeScript that of is or starts to nodeenv. It traces the making of an environment.
func (st *Store) project(ctx context.Context, of *Of, sc survey.Script) *nodeenv.Project {
	p := of.project(sc.File)
	p.Making = func() func(error) { return st.o.Making(ctx, of.Skill, sc) }
	return p
}

func (of *Of) project(file string) *nodeenv.Project {
	return &nodeenv.Project{FS: of.Skill.FS(), File: file, Script: of.Script.Name, With: npmPackages(of.With), Also: of.Also, Else: npmPackages(of.Else)}
}

// ofNode returns a *fail.Error for an error of nodeenv, and other errors, which are those of ctx, unchanged.
func ofNode(err error) error {
	var e *nodeenv.Error
	if !errors.As(err, &e) {
		return err
	}
	return &fail.Error{Code: fail.ExecutionFailed, Reason: e.Reason, Message: e.Message, Err: e}
}

// prepareNode prepares the packages of a JavaScript or TypeScript script.
func (st *Store) prepareNode(ctx context.Context, of *Of, o *PrepareOptions) *Prepared {
	start := time.Now()
	options := nodeenv.PrepareOptions{Upgrade: o.Upgrade, Since: o.Since}
	if o.Large != nil {
		options.Large = func(ctx context.Context, d nodeenv.Download) (bool, error) {
			return o.Large(ctx, Download{Script: d.Script, Packages: d.Packages, Bytes: d.Bytes})
		}
	}
	own, _ := nodeScript(of.Skill, of.Script)
	p, err := st.nodes.Prepare(ctx, st.project(ctx, of, own), &options)
	out := &Prepared{Scripts: []survey.Script{of.Script}, Needed: p.Needed, Err: ofNode(err)}
	if p.Needed && (err == nil || p.Declared != "") {
		out.Declared = declaredBy(p.Declared, of.With)
	}
	for _, name := range p.Lacks {
		out.Undeclared = append(out.Undeclared, want.NPM+name)
	}
	if err == nil {
		out.Made, out.Packages, out.Unbuilt, out.folder = p.Made, p.Packages, p.Unbuilt, p.Folder
		out.Duration = time.Since(start)
	}
	return out
}

// declaredBy says what declares npm packages: a package.json, the user, or both; or the program that runs toolsets.
func declaredBy(file string, with []string) string {
	switch {
	case file == "" && len(npmPackages(with)) == 0:
		return "agent-base"
	case file == "":
		return "the user"
	case len(npmPackages(with)) > 0:
		return file + " and the user"
	}
	return file
}

// nodeDependencies returns what the JavaScript or TypeScript needs that a script is or starts. It has neither packages nor an
// error if that needs nothing.
func (of *Of) nodeDependencies() Dependencies {
	own, _ := nodeScript(of.Skill, of.Script)
	file, packages, lacks, err := nodeenv.Declared(of.project(own.File))
	d := Dependencies{Scripts: []survey.Script{of.Script}, Err: ofNode(err)}
	for _, p := range packages {
		d.Packages = append(d.Packages, want.NPM+p)
	}
	for _, p := range lacks {
		d.Undeclared = append(d.Undeclared, want.NPM+p)
	}
	if len(packages) > 0 {
		d.Declared = declaredBy(file, of.With)
	}
	return d
}
