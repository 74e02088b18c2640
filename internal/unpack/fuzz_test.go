package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// small bounds what the fuzz tests write.
var small = &Options{MaxFiles: 50, MaxBytes: 1 << 20, MaxFile: 1 << 19, Volatile: true}

func FuzzTar(f *testing.F) {
	f.Add(makeTar(f, file{name: "./", kind: tar.TypeDir}, file{name: "./SKILL.md", data: "text"}, file{name: "scripts/run.sh", data: "run", mode: 0o755}))
	f.Add(makeTar(f, file{kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "x"}}, file{name: "ä/" + strings.Repeat("long/", 40) + "f", data: "x", pax: map[string]string{"mtime": "1.5"}}))
	f.Add(makeTar(f, file{name: "ln", kind: tar.TypeSymlink, link: "/etc"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := folder(t)
		w := NewWriter(root, small)
		err := errors.Join(Tar(t.Context(), bytes.NewReader(data), w), w.Close())
		checkBounds(t, tree(t, root), err)
	})
}

// What is accepted is what the standard library's reader sees, which reads the same archive by other code.
func FuzzZip(f *testing.F) {
	f.Add(makeZip(f, file{name: "demo/"}, file{name: "demo/SKILL.md", data: strings.Repeat("text", 100)}, file{name: "demo/run.sh", data: "run", mode: 0o755}))
	f.Add(rawZip(rawFile{local: "a", data: "text"}, rawFile{local: "b", data: strings.Repeat("text", 100), method: deflated, mode: 0o100755, made: madeUnix, extra: "\x99\x99\x01\x00x"}))
	f.Add(append(rawZip(rawFile{local: "a", data: "text"})[:35+47], endOf(1, 47, 35, "comment")...))
	f.Add(rawZip(rawFile{local: `demo\`}, rawFile{local: `demo\SKILL.md`, data: "text"}, rawFile{local: `..\x`}, rawFile{local: `\\h\s\x`}, rawFile{local: `C:\x`}))
	f.Add(rawZip(rawFile{local: `demo\SKILL.md`, data: "text"}, rawFile{local: `demo\a\b`, data: "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := folder(t)
		w := NewWriter(root, small)
		err := errors.Join(Zip(t.Context(), bytes.NewReader(data), int64(len(data)), w), w.Close())
		got := tree(t, root)
		checkBounds(t, got, err)
		if err != nil {
			return
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("accepted, but the standard library says: %v", err)
		}
		for _, f := range z.File {
			f.Name = strings.ReplaceAll(f.Name, `\`, "/")
			if strings.HasSuffix(f.Name, "/") || strings.HasPrefix(f.Name, "__MACOSX/") {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(r)
			if have, ok := got[f.Name]; err != nil || !ok || have[len("-rw-r--r-- "):] != string(want) {
				t.Errorf("%q: got %q, want %q, %v", f.Name, have, want, err)
			}
			delete(got, f.Name)
		}
		if len(got) > 0 {
			t.Errorf("files that the standard library does not see: %v", got)
		}
	})
}

// checkBounds checks that no more was written than is allowed, and that a refusal is one.
func checkBounds(t *testing.T, got map[string]string, err error) {
	t.Helper()
	sum := 0
	for name, content := range got {
		sum += len(content) - len("-rw-r--r-- ")
		if strings.Contains(name, "..") && strings.Contains("/"+name+"/", "/../") {
			t.Errorf("wrote %q", name)
		}
	}
	if len(got) > small.MaxFiles || int64(sum) > small.MaxBytes {
		t.Errorf("wrote %d files, %d bytes", len(got), sum)
	}
	if err != nil && !errors.As(err, new(*Error)) {
		t.Errorf("an error that is not a refusal: %v", err)
	}
}
