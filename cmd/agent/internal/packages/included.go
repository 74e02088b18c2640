package packages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
)

// maxIncluded is how many files the folder of an included policy may have.
const maxIncluded = 100

// FetchPolicies gets the policies that the one of the machine includes, and returns them. One that is not what it must be is not kept.
func (p *Packages) FetchPolicies(ctx context.Context) ([]*policy.Document, error) {
	var out []*policy.Document
	organisation := p.Settings.Policy().Organisation
	if len(organisation) == 0 {
		return nil, nil
	}
	for _, in := range organisation[0].Includes() { // that of the machine
		d, err := p.fetchPolicy(ctx, &in)
		if err != nil {
			return out, fmt.Errorf("%s: %w", &in, err)
		}
		out = append(out, d)
	}
	return out, nil
}

func (p *Packages) fetchPolicy(ctx context.Context, in *policy.Include) (*policy.Document, error) {
	ref, err := source.Parse(in.Source, &source.Options{})
	if err != nil {
		return nil, err
	}
	fetcher := p.fetchers()[ref.Kind]
	if ref.Kind != source.Git && ref.Kind != source.OCI {
		return nil, errors.New("a policy is included from a git repository or an OCI artifact")
	}
	to := p.Settings.IncludedDir(in)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(filepath.Dir(to), fetching)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	fetched, folder := filepath.Join(work, "fetched"), filepath.Join(work, "folder")
	if err := errors.Join(os.Mkdir(fetched, 0o700), os.Mkdir(folder, 0o700)); err != nil {
		return nil, err
	}
	snapshot, err := fetcher.Fetch(ctx, &install.Request{Source: ref, Dir: fetched, All: true, Progress: p.progress})
	if err != nil {
		return nil, err
	}
	err = copyFolder(ctx, snapshot, path.Join(ref.Path, path.Dir(in.File())), folder)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		return nil, err
	}
	d := p.Settings.Included(in, folder)
	if err := d.Err(); err != nil {
		return nil, errors.Unwrap(err)
	}
	if err := os.RemoveAll(to); err != nil {
		return nil, err
	}
	return d, os.Rename(folder, to)
}

// fetching begins the name of a folder in which a policy is fetched.
const fetching = "fetch-"

// fetchTime is how long the fetching of a policy certainly takes no longer.
const fetchTime = 24 * time.Hour

// OldFetches returns what the fetching of policies left behind that was killed, and removes it with remove.
func (p *Packages) OldFetches(remove bool) (out []script.Swept) {
	home := p.Settings.Home()
	list, _ := filepath.Glob(filepath.Join(home, "cache", "policy", fetching+"*"))
	for _, dir := range list {
		info, err := os.Lstat(dir)
		if err != nil || p.Sys.Now().Sub(info.ModTime()) < fetchTime {
			continue
		}
		_, bytes := proc.Measure(dir)
		out = append(out, script.Swept{Path: path.Join("policy", filepath.Base(dir)), Why: "left by the fetching of a policy that was killed", Bytes: bytes})
		if remove {
			ondisk.RemoveAll(dir)
		}
	}
	return out
}

// copyFolder copies the files of one folder of a snapshot, without the folders in it.
func copyFolder(ctx context.Context, snapshot *install.Snapshot, folder, to string) error {
	if snapshot.Need != nil {
		if err := snapshot.Need(ctx, func(name string) bool { return path.Dir(name) == path.Clean(folder) }); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(snapshot.FS, path.Clean(folder))
	if err != nil {
		return err
	}
	if len(entries) > maxIncluded {
		return fmt.Errorf("its folder has more than %d files: put it in a folder of its own", maxIncluded)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := copyFile(snapshot.FS, path.Join(folder, e.Name()), root, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from fs.FS, name string, root *os.Root, to string) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, policy.MaxFile+1))
	if err == nil && len(content) > policy.MaxFile {
		err = fmt.Errorf("%q has more than %d bytes", name, policy.MaxFile)
	}
	if err != nil {
		return err
	}
	return root.WriteFile(to, content, 0o600)
}
