package nodeenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// copied is the record of a copy of a skill.
type copied struct {
	Folder string `json:"folder"` // next to the record
	Files  string `json:"files"`  // the digest of its inventory
	Dir    string `json:"dir"`    // slash path of the skill in the folder
}

const copyWait = time.Minute // for another process that makes the same copy

// Copy returns the absolute folder of a copy of the script's skill that has node_modules next to package.json, and so for
// every file below. key names the content of the skill. seal makes a new copy: it copies the skill to a folder of its own
// below the folder that it gets, and returns its absolute path. Copy uses an existing copy if its files are unchanged.
//
// The error is that of seal, of the file system or of ctx.
func (p *Prepared) Copy(ctx context.Context, key string, seal func(folder string) (string, error)) (dir string, err error) {
	place := envstore.Place{Root: filepath.Join(p.Folder, skills), Key: key}
	if dir := p.copyThere(place); dir != "" {
		return dir, nil
	}
	unlock, err := place.Lock(ctx, copyWait)
	if err != nil {
		return "", err
	}
	defer unlock()
	if dir := p.copyThere(place); dir != "" {
		return dir, nil
	}
	folder, err := place.NewFolder("")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			ondisk.RemoveAll(folder)
		}
	}()
	if dir, err = seal(folder); err != nil {
		return "", err
	}
	if err := p.link(dir); err != nil {
		return "", err
	}
	inside, err := filepath.Rel(folder, dir)
	if err != nil {
		return "", err
	}
	files, err := envstore.Inventory(folder)
	if err != nil {
		return "", err
	}
	return dir, place.Write(&copied{filepath.Base(folder), files, filepath.ToSlash(inside)})
}

// copyThere returns the folder of an unchanged copy, or "".
func (p *Prepared) copyThere(place envstore.Place) string {
	var c copied
	if !place.Read(&c) || place.Folder(c.Folder) == "" || !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return ""
	}
	folder := place.Folder(c.Folder)
	if files, err := envstore.Inventory(folder); err != nil || files != c.Files {
		return ""
	}
	envstore.MarkUsed(place.Path(".json"))
	return filepath.Join(folder, filepath.FromSlash(c.Dir))
}

// link makes node_modules in the package's folder of a copy, for scripts that name that folder themselves. Interpreters find
// the packages without it, in the folders above, so a system that makes no links does without.
func (p *Prepared) link(dir string) error {
	at := filepath.Join(dir, filepath.FromSlash(p.packageDir))
	target, err := filepath.Rel(at, filepath.Join(p.Folder, modules))
	if err != nil {
		return err
	}
	if err := os.Chmod(at, 0o700); err != nil {
		return err
	}
	linked := os.Symlink(target, filepath.Join(at, modules))
	if err := os.Chmod(at, 0o500); err != nil {
		return err
	}
	if errors.Is(linked, os.ErrExist) {
		return linked
	}
	return nil
}
