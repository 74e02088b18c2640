package install_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill"
)

// A skill is added, updated, verified and removed. The place is a folder here; "owner/repo#v1" and the other forms of
// source.Parse work in the same way, each with its fetcher; "file:///srv/repo" needs GitOptions.AllowFile. What is installed may not run by that: see package trust.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "install")
	if err != nil {
		log.Fatal(err)
	}
	defer removeAll(dir)
	write(dir, "place/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nOne.\n")

	installed := &registry.Store{Path: filepath.Join(dir, "registry.json")}
	in, err := install.New(&install.Options{
		Registry: installed,
		Folder:   filepath.Join(dir, "skills"),
		Fetchers: map[source.Kind]install.Fetcher{source.Folder: fetch.Folder(), source.Git: fetch.Git(nil)},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := add(ctx, in, filepath.Join(dir, "place"), "pdf"); err != nil {
		log.Fatal(err)
	}

	write(dir, "place/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills and signs forms.\n---\nTwo.\n")
	if err := update(ctx, in); err != nil {
		log.Fatal(err)
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "installed", Source: install.Source(installed, nil)}}})
	if err != nil {
		log.Fatal(err)
	}
	for e := range catalog.Visible() {
		fmt.Println(e.Name(), "-", e.Description())
	}

	entries, err := in.Installed(ctx)
	if err != nil {
		log.Fatal(err)
	}
	checked, err := in.Verify(ctx, entries)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range checked {
		fmt.Println(v.Entry.Name, v.Condition)
	}
	if _, err := in.Remove(ctx, "pdf"); err != nil {
		log.Fatal(err)
	}
	_, err = in.Remove(ctx, "pdf")
	fmt.Println(err, errors.Is(err, registry.ErrNotInstalled))
	// Output:
	// added pdf
	// updated pdf
	// pdf - Fills and signs forms.
	// pdf ok
	// skill "pdf" is not installed true
}

// add installs one skill of a place.
func add(ctx context.Context, in *install.Installer, text, name string) error {
	ref, err := source.Parse(text, nil)
	if err != nil {
		return err
	}
	place, err := in.Open(ctx, ref, "")
	if err != nil {
		return err
	}
	defer place.Close()
	chosen, err := install.Choose(place.Skills, []string{name})
	if err != nil {
		return err // names what is there
	}
	for _, c := range chosen {
		k, err := place.Unpack(ctx, c, "") // k.Skill is open: its files can be shown before it is kept
		if err != nil {
			return err
		}
		defer k.Close()
		if _, err := k.Keep(ctx, true, nil); err != nil {
			return err
		}
		fmt.Println("added", k.Name)
	}
	return nil
}

// update installs the new content of every skill whose place has one.
func update(ctx context.Context, in *install.Installer) error {
	entries, err := in.Installed(ctx)
	if err != nil {
		return err
	}
	updates, err := in.Check(ctx, entries, nil)
	if err != nil {
		return err
	}
	defer updates.Close()
	for _, u := range updates.List {
		if u.State != install.Available {
			continue // u.Err if the place could not be read
		}
		if _, err := u.Package.Keep(ctx, true, nil); err != nil {
			return err
		}
		fmt.Println("updated", u.Entry.Name)
	}
	return nil
}

func write(dir, name, text string) {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
}

// removeAll removes a folder with read-only folders in it.
func removeAll(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	os.RemoveAll(dir)
}
