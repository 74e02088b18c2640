//go:build amd64 || arm64

package walk

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file with a lease on it is busy at once; the other skills are found.
func TestLeasedManifest(t *testing.T) { // F3
	root := t.TempDir()
	put(t, root, map[string]string{"good/SKILL.md": "x", "leased/SKILL.md": "y"})
	f, err := os.OpenFile(filepath.Join(root, "leased", "SKILL.md"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("this file system has no leases:", err)
	}
	for _, portable := range []bool{false, true} {
		r, err := Open(root, &Options{MaxSize: 100, Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		v := &busyVisitor{found: map[string]error{}}
		if _, err := r.Walk(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if err := v.found["leased"]; !errors.Is(err, ErrBusy) || v.found["good"] != nil || len(v.found) != 2 {
			t.Errorf("portable %v: found %v, want the leased one busy", portable, v.found)
		}
		r.Close()
	}
}

type busyVisitor struct{ found map[string]error }

func (v *busyVisitor) Begin([]string) []Stamp { return nil }

func (v *busyVisitor) Visit(_, _ int, it *Item) { v.found[it.Dir] = it.Err }

// What is mounted below a folder, as /proc is below /, is not read. This holds wherever the test may mount nothing.
func TestProcIsAnotherMount(t *testing.T) { // F14
	if how.Resolve&unix.RESOLVE_NO_XDEV == 0 {
		t.Error("manifests are opened without RESOLVE_NO_XDEV")
	}
	if _, err := os.Stat("/proc/version"); err != nil {
		t.Skip("no /proc")
	}
	tree, err := OpenFS("/")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if _, err := fs.Stat(tree, "proc/version"); err == nil {
		t.Error("FS.Stat reads /proc through /")
	}
	r, err := Open("/", &Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	folder, err := r.Folder(".")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f, err := os.Open("/proc/version")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := folder.Check(f); !errors.Is(err, ErrMount) {
		t.Errorf("Folder.Check returns %v, want %v", err, ErrMount)
	}
}

// A root and the folder of a skill may be mount points; what is mounted inside a skill is not read.
func TestMounts(t *testing.T) { // F14
	if dir := os.Getenv("SCAN_TEST_MOUNTS"); dir != "" {
		inNamespace(t, dir)
		return
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"out/o": "OUTSIDE", "out/SKILL.md": "mounted", "root/plain/SKILL.md": "plain", "root/plain/m/": "",
		"root/plain/file": "", "root/whole/": "", "root/manifest/SKILL.md": "", "root/group/sub/": "", "base/": ""})
	cmd := exec.Command(os.Args[0], "-test.run=^TestMounts$", "-test.v")
	cmd.Env = append(os.Environ(), "SCAN_TEST_MOUNTS="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit), strings.Contains(string(out), "--- SKIP"):
		t.Skipf("no mounts here: %v\n%s", err, out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

func inNamespace(t *testing.T, dir string) {
	if err := unix.Mount(filepath.Join(dir, "root"), filepath.Join(dir, "base"), "", unix.MS_BIND, ""); err != nil {
		t.Skip("cannot mount:", err)
	}
	for to, from := range map[string]string{"plain/m": "out", "plain/file": "out/o", "whole": "out", "manifest/SKILL.md": "out/o", "group/sub": "out"} {
		if err := unix.Mount(filepath.Join(dir, from), filepath.Join(dir, "base", to), "", unix.MS_BIND, ""); err != nil {
			t.Skip("cannot mount:", err)
		}
	}
	root := filepath.Join(dir, "base")
	r, err := Open(root, &Options{MaxSize: 100, Nested: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := &busyVisitor{found: map[string]error{}}
	if _, err := r.Walk(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	var got []string
	for dir, err := range v.found {
		got = append(got, dir+" "+class(err))
	}
	slices.Sort(got)
	if want := []string{"group/sub ok", "manifest error", "plain ok", "whole ok"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	checkMounted(t, r, root)
}

func checkMounted(t *testing.T, r *Root, root string) {
	tree, err := OpenFS(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for name, want := range map[string]bool{"plain/SKILL.md": true, "plain/m": false, "plain/m/o": false, "plain/file": false, "whole/o": true} {
		skill, file, _ := strings.Cut(name, "/")
		folder, err := r.Folder(skill)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		own, err := folder.Root()
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		f, err := own.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		err = folder.Check(f)
		if (err == nil) != want {
			t.Errorf("Folder.Check(%q): %v, want it accepted: %v", name, err, want)
		}
		in, err := tree.In(skill)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := fs.Stat(in, file); (err == nil) != want {
			t.Errorf("FS.Stat(%q): %v, want it found: %v", name, err, want)
		}
	}
	folder, err := r.Folder("manifest")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, _, err := folder.Manifest(Manifest); !errors.Is(err, ErrMount) {
		t.Errorf("Manifest: %v, want %v", err, ErrMount)
	}
}
