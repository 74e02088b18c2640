package script

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// usesNode reports whether a script is run by an interpreter of JavaScript or TypeScript.
func usesNode(s *skill.Skill, sc Script) bool {
	lang := survey.LanguageOf(sc.File)
	if lang == "" {
		if bang, err := survey.ParseShebang(survey.Head(s.FS(), sc.File)); err == nil {
			lang = survey.LanguageNamed(bang.Name())
		}
	}
	return lang == survey.JavaScript || lang == survey.TypeScript
}

// withPackages returns the skill's folder and the script's path for a run. They are those given unless the script needs npm
// packages: then it runs from a copy of its skill below the folder with the packages, because an interpreter looks for
// them in the folders above the script.
func (h *Host) withPackages(ctx context.Context, c *call, src *source, dir string) (runDir, runFile string, err error) {
	sc, ok := nodeScript(c.s, c.sc)
	if !ok {
		return dir, src.file, nil
	}
	p, err := h.nodes.Prepare(ctx, h.project(ctx, c.s, sc, src.with, c.serve), nil)
	if err != nil {
		return "", "", ofNode(err)
	}
	if !p.Needed {
		return dir, src.file, nil
	}
	key, err := contentKey(ctx, c.s)
	if err != nil {
		return "", "", sealError(ctx, c.s, err)
	}
	dir, err = p.Copy(ctx, key, func(folder string) (string, error) {
		sealed, err := c.s.Seal(ctx, folder)
		if err != nil {
			return "", err
		}
		defer sealed.Close()
		return sealed.Dir(ctx)
	})
	if err != nil {
		return "", "", sealError(ctx, c.s, err)
	}
	c.packages = p.Folder
	return dir, filepath.Join(dir, filepath.FromSlash(c.sc.File)), nil
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
	return program.Digest(parts...), err
}

// project describes a script to nodeenv. It traces the making of an environment.
func (h *Host) project(ctx context.Context, s *skill.Skill, sc Script, with []string, serve *ServeOptions) *nodeenv.Project {
	p := project(s, sc, with, serve)
	p.Making = func() func(error) { return h.preparing(ctx, s, sc) }
	return p
}

// project describes a script, or what Serve runs, which has further files and packages.
func project(s *skill.Skill, sc Script, with []string, serve *ServeOptions) *nodeenv.Project {
	p := &nodeenv.Project{FS: s.FS(), File: sc.File, Script: sc.Name, With: npmPackages(with)}
	if serve != nil && len(serve.Files) > 0 {
		p.Also, p.Else = serve.Files[1:], npmPackages(serve.Else)
	}
	return p
}

// NPM begins the name of an npm package among packages that a user added: npm:marked. Others are of Python.
const NPM = want.NPM

// npmPackages returns the npm packages among those that a user added, without the prefix.
func npmPackages(with []string) (out []string) {
	for _, p := range with {
		if name, ok := strings.CutPrefix(p, NPM); ok {
			out = append(out, name)
		}
	}
	return out
}

// pythonPackages returns the Python packages among those that a user added.
func pythonPackages(with []string) []string {
	return slices.DeleteFunc(slices.Clone(with), func(p string) bool { return strings.HasPrefix(p, NPM) })
}

// ofNode returns an *Error for an error of nodeenv, and other errors, which are those of ctx, unchanged.
func ofNode(err error) error {
	var e *nodeenv.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Code: ExecutionFailed, Reason: e.Reason, Message: e.Message, Err: e}
}

// prepareNode prepares the packages of a JavaScript or TypeScript script.
func (h *Host) prepareNode(ctx context.Context, s *skill.Skill, sc Script, with []string, serve *ServeOptions, o *PrepareOptions) *Prepared {
	start := time.Now()
	options := nodeenv.PrepareOptions{Upgrade: o.Upgrade, Since: o.Since}
	if o.Large != nil {
		options.Large = func(ctx context.Context, d nodeenv.Download) (bool, error) {
			return o.Large(ctx, Download{Script: d.Script, Packages: d.Packages, Bytes: d.Bytes})
		}
	}
	own, _ := nodeScript(s, sc)
	p, err := h.nodes.Prepare(ctx, h.project(ctx, s, own, with, serve), &options)
	out := &Prepared{Scripts: []Script{sc}, Needed: p.Needed, Err: ofNode(err)}
	if p.Needed && (err == nil || p.Declared != "") {
		out.Declared = declaredBy(p.Declared, with)
	}
	for _, name := range p.Lacks {
		out.Undeclared = append(out.Undeclared, NPM+name)
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
func nodeDependencies(s *skill.Skill, sc Script, with []string, serve *ServeOptions) Dependencies {
	own, _ := nodeScript(s, sc)
	file, packages, lacks, err := nodeenv.Declared(project(s, Script{Name: sc.Name, File: own.File}, with, serve))
	d := Dependencies{Scripts: []Script{sc}, Err: ofNode(err)}
	for _, p := range packages {
		d.Packages = append(d.Packages, NPM+p)
	}
	for _, p := range lacks {
		d.Undeclared = append(d.Undeclared, NPM+p)
	}
	if len(packages) > 0 {
		d.Declared = declaredBy(file, with)
	}
	return d
}
