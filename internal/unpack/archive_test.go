package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// file is an entry of an archive that a test makes.
type file struct {
	name, data string
	mode       int64 // 0 means 0644
	kind       byte  // of tar; 0 means a regular file
	link       string
	pax        map[string]string
}

func makeTar(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Linkname: f.link, Typeflag: f.kind, Mode: max(f.mode, 0o644), Size: int64(len(f.data)), PAXRecords: f.pax}
		if f.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if f.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: f.kind, PAXRecords: f.pax}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func makeTarGz(t testing.TB, files ...file) []byte { return packed(makeTar(t, files...)) }

func packed(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func makeZip(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(os.FileMode(max(f.mode, 0o644)))
		if strings.HasSuffix(f.name, "/") {
			h.Method = zip.Store
			h.SetMode(os.ModeDir | 0o755)
		}
		if f.kind != 0 {
			h.SetMode(map[byte]os.FileMode{tar.TypeSymlink: os.ModeSymlink, tar.TypeFifo: os.ModeNamedPipe, tar.TypeChar: os.ModeDevice | os.ModeCharDevice}[f.kind] | 0o777)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(to, f.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpackTo unpacks an archive into a new folder and returns what is there.
func unpackTo(t testing.TB, data []byte, o *Options) (map[string]string, error) {
	t.Helper()
	root := folder(t)
	w := NewWriter(root, o)
	err := Archive(t.Context(), bytes.NewReader(data), int64(len(data)), w)
	err = errors.Join(err, w.Close())
	return tree(t, root), err
}

func checkRefused(t *testing.T, data []byte, why string) {
	t.Helper()
	_, err := unpackTo(t, data, nil)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want a refusal: %s", err, why)
	}
}

// security 2.7 #118, security 2.7 #120
func TestArchive(t *testing.T) {
	files := []file{
		{name: "demo/", kind: tar.TypeDir},
		{name: "demo/SKILL.md", data: "text", mode: 0o6777},
		{name: "demo/scripts/run.sh", data: "run", mode: 0o4755, pax: map[string]string{"mtime": "4300000000", "SCHILY.xattr.user.x": "y"}},
		{name: "demo/empty/", kind: tar.TypeDir},
		{name: "demo/nested.zip", data: string(makeZip(t, file{name: "inner", data: "x"}))},
	}
	want := map[string]string{"demo/SKILL.md": "-rwxr-xr-x text", "demo/scripts/run.sh": "-rwxr-xr-x run", "demo/nested.zip": "-rw-r--r-- " + files[4].data}
	forZip := append([]file{{name: "__MACOSX/demo/._SKILL.md", data: "x"}}, files...)
	for i := range forZip {
		forZip[i].kind = 0
	}
	comment := append([]file{{kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "1234"}}}, files...)
	dotted := append([]file{{name: "./", kind: tar.TypeDir}}, files...)
	dotted[2].name = "./demo/SKILL.md"
	for name, data := range map[string][]byte{
		"tar.gz": makeTarGz(t, files...), "zip": makeZip(t, forZip...), "git archive": makeTarGz(t, comment...), "dotted": makeTarGz(t, dotted...),
		"padded": packed(append(makeTar(t, files...), make([]byte, 9*512)...)), "two gzip members": append(packed(makeTar(t, files...)[:512]), packed(makeTar(t, files...)[512:])...),
		"empty tar.gz": makeTarGz(t), "empty zip": makeZip(t),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unpackTo(t, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := want
			if strings.HasPrefix(name, "empty") {
				want = map[string]string{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// security 2.7 #113
func TestArchiveNames(t *testing.T) {
	for _, name := range []string{"../x", "/etc/passwd", "a/../../b", `C:\x`, `..\x`, "a//b", "a/./b", "CON", "a\nb", ".git/hooks/x", "sub/.GIT/x", strings.Repeat("d/", 3000) + "f", "../d/", ".."} {
		data := ""
		if !strings.HasSuffix(name, "/") {
			data = "x"
		}
		f := file{name: name, data: data}
		checkRefused(t, makeZip(t, file{name: "SKILL.md"}, f), "")
		if data == "" {
			f.kind = tar.TypeDir
		}
		checkRefused(t, makeTarGz(t, file{name: "SKILL.md"}, f), "")
	}
	checkRefused(t, makeZip(t, file{name: "a\x00b"}), "forbid")
	checkRefused(t, makeZip(t, file{name: ""}), "not a path")
	checkRefused(t, makeZip(t, file{name: "__MACOSX/../../x", data: "x"}), "not a path")
}

// Some programs for Windows write "\\" between the parts of a name. security 2.7 #113
func TestZipBackslashes(t *testing.T) {
	got, err := unpackTo(t, rawZip(rawFile{local: `demo\`}, rawFile{local: `demo\SKILL.md`, data: "text"}, rawFile{local: `demo\a\b`, data: "x"}, rawFile{local: "top", data: "y"}), nil)
	want := map[string]string{"demo/SKILL.md": "-rw-r--r-- text", "demo/a/b": "-rw-r--r-- x", "top": "-rw-r--r-- y"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	checkRefused(t, rawZip(rawFile{local: `demo\SKILL.md`}, rawFile{local: "demo/a"}), `make the archive with "/" in each name`)
	checkRefused(t, rawZip(rawFile{local: `demo\a/b`}), `make the archive with "/" in each name`)
	checkRefused(t, makeTarGz(t, file{name: `demo\SKILL.md`, data: "x"}), "")
	for _, name := range []string{`..\x`, `a\..\..\x`, `\x`, `\\host\share\x`, `C:\x`, `a\.git\config`, `a\CON`, `a\\b`, `__MACOSX\..\..\x`, `\`, `a\.`} {
		checkRefused(t, rawZip(rawFile{local: "SKILL.md"}, rawFile{local: name}), "")
	}
	checkRefused(t, rawZip(rawFile{local: `A\x`}, rawFile{local: `a\x`}), "")
	checkRefused(t, rawZip(rawFile{local: `a`}, rawFile{local: `a\x`}), "")
	checkRefused(t, rawZip(rawFile{local: `a\`, data: "x"}), "folder with content")
}

// security 2.7 #114
func TestArchiveKinds(t *testing.T) {
	for kind, why := range map[byte]string{tar.TypeSymlink: "is a link", tar.TypeLink: "is a hard link", tar.TypeChar: "is a device", tar.TypeBlock: "is a device", tar.TypeFifo: "is a named pipe", tar.TypeCont: "is a special file"} {
		checkRefused(t, makeTarGz(t, file{name: "ln", kind: kind, link: "/etc"}, file{name: "ln/passwd", data: "x"}), `"ln" `+why)
	}
	for kind, why := range map[byte]string{tar.TypeSymlink: "is a link", tar.TypeFifo: "is a special file", tar.TypeChar: "is a special file"} {
		checkRefused(t, makeZip(t, file{name: "ln", data: "/etc", kind: kind}), `"ln" `+why)
	}
}

// Links that are left out are not made, and nothing gets through them. security 2.7 #114
func TestFollowLinks(t *testing.T) {
	link := file{name: "./sub/ln", kind: tar.TypeSymlink, link: "/etc"}
	zipLink := file{name: "sub/ln", kind: tar.TypeSymlink, data: "/etc"}
	good := file{name: "SKILL.md", data: "text"}
	unpackLeaving := func(data []byte) (map[string]string, []string, error) {
		root := folder(t)
		w := NewWriter(root, &Options{FollowLinks: true})
		err := Archive(t.Context(), bytes.NewReader(data), int64(len(data)), w)
		return tree(t, root), w.LeftOut(), errors.Join(err, w.Close())
	}
	for _, data := range [][]byte{makeTarGz(t, link, good), makeZip(t, zipLink, good)} {
		got, left, err := unpackLeaving(data)
		if err != nil || len(got) != 1 || got["SKILL.md"] == "" || len(left) != 1 || !strings.Contains(left[0], `sub/ln is a symbolic link to "/etc", an absolute path`) {
			t.Errorf("%v, left out %v, %v", got, left, err)
		}
	}
	tool := file{name: "lib/tool.py", data: "print()", mode: 0o755}
	for _, data := range [][]byte{
		makeTarGz(t, file{name: "sub/ln", kind: tar.TypeSymlink, link: "../lib/tool.py"}, file{name: "sub/two", kind: tar.TypeSymlink, link: "ln"}, tool),
		makeZip(t, file{name: "sub/ln", kind: tar.TypeSymlink, data: "../lib/tool.py"}, file{name: "sub/two", kind: tar.TypeSymlink, data: "ln"}, tool),
	} {
		got, left, err := unpackLeaving(data)
		if err != nil || len(got) != 2 || got["sub/ln"] == "" || got["sub/ln"] != got["lib/tool.py"] || len(left) != 1 || !strings.Contains(left[0], "another link") {
			t.Errorf("%v, left out %v, %v", got, left, err)
		}
	}
	var many []file // copies count as files do
	for i := range 10 {
		many = append(many, file{name: fmt.Sprint("ln", i), kind: tar.TypeSymlink, link: "big"})
	}
	data := makeTarGz(t, append(many, file{name: "big", data: strings.Repeat("x", 1000)})...)
	w := NewWriter(folder(t), &Options{FollowLinks: true, MaxBytes: 5000})
	if err := errors.Join(Archive(t.Context(), bytes.NewReader(data), int64(len(data)), w), w.Close()); err == nil || !strings.Contains(err.Error(), "all files together") {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"sub/ln", "sub/ln/passwd", "sub/LN/passwd"} {
		for _, data := range [][]byte{makeTarGz(t, link, file{name: name}), makeTarGz(t, file{name: name}, link), makeZip(t, zipLink, file{name: name})} {
			if _, _, err := unpackLeaving(data); !errors.As(err, new(*Error)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, f := range []file{{name: "../ln", kind: tar.TypeSymlink, link: "x"}, {name: "ln", kind: tar.TypeLink, link: "SKILL.md"}, {name: "dev", kind: tar.TypeChar}} {
		if _, _, err := unpackLeaving(makeTarGz(t, good, f)); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// security 2.7 #120
func TestTarOverrides(t *testing.T) {
	for _, name := range []string{"../../x", "/etc/passwd", "a/../../b"} {
		checkRefused(t, makeTarGz(t, file{name: name + strings.Repeat("/long", 40), data: "x"}), "not a path")
		checkRefused(t, makeTarGz(t, file{kind: tar.TypeXGlobalHeader, pax: map[string]string{"path": name}}, file{name: "a"}), `has a header "path"`)
	}
	raw := makeTar(t, file{name: "a", data: "x", pax: map[string]string{"comment": "aaaaaaaa"}})
	for from, to := range map[string]string{"20 comment=aaaaaaaa": "20 path=/etc/passwd\n"[:19], "comment=aaaaaaaa": "path=../aaaaaaaa"} {
		if !bytes.Contains(raw, []byte(from)) {
			t.Fatalf("%q is not there", from)
		}
		checkRefused(t, packed(bytes.Replace(raw, []byte(from), []byte(to), 1)), "")
	}
	checkRefused(t, packed(bytes.Replace(raw, []byte("comment=aaaaaaaa"), []byte("path=aaaa\x00aaaaaa"), 1)), "cannot be read as tar")
	checkRefused(t, packed(bytes.Replace(raw, []byte("comment=aaaaaaaa"), []byte("size=99999999999"), 1)), "more than the")
	checkRefused(t, packed(bytes.Replace(raw, []byte("comment=aaaaaaaa"), []byte("GNU.sparse.nm=aa"), 1)), "")
}

// security 2.7 #121
func TestArchiveDamaged(t *testing.T) {
	files := []file{{name: "a", data: strings.Repeat("text ", 1000)}, {name: "b", data: "x"}}
	tgz, zipped := makeTarGz(t, files...), makeZip(t, files...)
	for _, data := range [][]byte{tgz, zipped} {
		for _, n := range []int{1, 10, 30, 100, len(data) - 30, len(data) - 9, len(data) - 1} {
			checkRefused(t, data[:n], "")
		}
		checkRefused(t, append(bytes.Clone(data), "trailing"...), "")
		checkRefused(t, append(bytes.Clone(data), data...), "")
		broken := bytes.Clone(data)
		broken[60] ^= 0xff
		checkRefused(t, broken, "")
	}
	checkRefused(t, packed(append(makeTar(t, files...), "trailing"...)), "data after its end")
	checkRefused(t, packed(append(makeTar(t, files...), makeTar(t, file{name: "c"})...)), "data after its end")
	wrong := bytes.Clone(tgz)
	wrong[len(wrong)-8] ^= 1
	checkRefused(t, wrong, "checksum")
	for magic, why := range map[string]string{"": "it is empty", "BZh91": "bzip2", "\xfd7zXZ\x00": "xz", "\x28\xb5\x2f\xfd": "zstd", "<!doctype html>": "a page",
		string(makeTar(t, files...)): "not compressed", "PKnothing": "ends too early", "# a skill": "no archive"} {
		checkRefused(t, []byte(magic), why)
	}
}

// security 2.7 #116
func TestBombs(t *testing.T) {
	limits := &Options{MaxFiles: 100, MaxBytes: 1 << 20}
	zeros := strings.Repeat("\x00", 2<<20)
	for name, data := range map[string][]byte{
		"tar content": makeTarGz(t, file{name: "a", data: zeros}),
		"tar padding": packed(append(makeTar(t, file{name: "a"}), zeros...)),
		"tar headers": makeTarGz(t, file{name: "a", pax: map[string]string{"comment": strings.Repeat("x", 1<<19)}}, file{name: "b", pax: map[string]string{"comment": strings.Repeat("x", 1<<20-40)}},
			file{name: "c", pax: map[string]string{"comment": strings.Repeat("x", 1<<20-40)}}),
		"zip content": makeZip(t, file{name: "a", data: zeros}),
		"zip sum":     makeZip(t, file{name: "a", data: zeros[:1<<19]}, file{name: "b", data: zeros[:1<<19]}, file{name: "c", data: "x"}),
	} {
		if _, err := unpackTo(t, data, limits); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lying := makeZip(t, file{name: "a", data: zeros})
	for _, at := range [][2]int{{bytes.Index(lying, []byte(recordMagic)) + 24, 4}} {
		copy(lying[at[0]:], []byte{1, 0, 0, 0}) // it declares one byte
	}
	copy(lying[bytes.Index(lying, []byte(descriptorMagic))+12:], []byte{1, 0, 0, 0})
	if _, err := unpackTo(t, lying, limits); err == nil || !strings.Contains(err.Error(), "more than the 1 bytes that it declares") {
		t.Errorf("got %v", err)
	}
}

// rawFile is a file of a zip archive with every field free.
type rawFile struct {
	local, central string // names
	data           string
	flags, method  uint16
	mode           uint32
	made           byte
	extra          string
	localExtra     string // in place of extra in the header
	large          bool   // the header has no sizes
	offset         int    // added to the offset in the directory
}

// rawZip makes a zip archive by hand.
func rawZip(files ...rawFile) []byte {
	var b, dir []byte
	for _, f := range files {
		content := f.data
		if f.method == deflated {
			var z bytes.Buffer
			w, _ := flate.NewWriter(&z, 9)
			io.WriteString(w, f.data)
			w.Close()
			content = z.String()
		}
		if f.central == "" {
			f.central = f.local
		}
		at := len(b) + f.offset
		sizes := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, crc32.ChecksumIEEE([]byte(f.data))), uint32(len(content))), uint32(len(f.data)))
		b = append(b, headerMagic+"\x14\x00"...)
		b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, f.flags), f.method), 0)
		b = append(b, sizes...)
		if f.large {
			copy(b[len(b)-8:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		}
		if f.localExtra == "" {
			f.localExtra = f.extra
		}
		b = append(le.AppendUint16(le.AppendUint16(b, uint16(len(f.local))), uint16(len(f.localExtra))), f.local+f.localExtra+content...)
		dir = append(dir, recordMagic+"\x14"...)
		dir = append(dir, f.made, 20, 0)
		dir = le.AppendUint32(le.AppendUint16(le.AppendUint16(dir, f.flags), f.method), 0)
		dir = append(dir, sizes...)
		dir = le.AppendUint16(le.AppendUint16(dir, uint16(len(f.central))), uint16(len(f.extra)))
		dir = append(dir, make([]byte, 6)...)
		dir = append(le.AppendUint32(le.AppendUint32(dir, f.mode<<16), uint32(at)), f.central+f.extra...)
	}
	return append(append(b, dir...), endOf(len(files), len(dir), len(b), "")...)
}

func endOf(files, length, offset int, comment string) []byte {
	b := []byte(endMagic + "\x00\x00\x00\x00")
	b = le.AppendUint16(le.AppendUint16(b, uint16(files)), uint16(files))
	b = le.AppendUint32(le.AppendUint32(b, uint32(length)), uint32(offset))
	return append(le.AppendUint16(b, uint16(len(comment))), comment...)
}

// security 2.7 #117, security 2.7 #116
func TestZipTricks(t *testing.T) {
	good := rawZip(rawFile{local: "a", data: "text", method: deflated}, rawFile{local: "b", data: "x", mode: 0o100755, made: madeUnix})
	if got, err := unpackTo(t, good, nil); err != nil || got["a"] != "-rw-r--r-- text" || got["b"] != "-rwxr-xr-x x" {
		t.Fatal(got, err)
	}
	dir := bytes.Index(good, []byte(recordMagic))
	body, list := good[:dir], good[dir:len(good)-endSize]
	with := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	end := endOf(2, len(list), dir, "")
	zip64 := make([]byte, 56+locatorSize)
	copy(zip64, "PK\x06\x06")
	copy(zip64[56:], locatorMagic)
	overlap := rawZip(rawFile{local: "a", data: "text"}, rawFile{local: "b", data: "text", offset: -35})
	shifted := rawZip(rawFile{local: "a", data: "x", offset: 2})
	shiftedDir := bytes.Index(shifted, []byte(recordMagic))
	tests := []struct {
		name string
		data []byte
		why  string
	}{
		{"overlap", overlap, "overlaps"},
		{"overlap with descriptor", rawZip(rawFile{local: "a", data: "text", flags: flagDescriptor}, rawFile{local: "b", data: "text", offset: -2}), `"a" overlaps`},
		{"wrong checksum", bytes.Replace(rawZip(rawFile{local: "a", data: "text"}), []byte("text"), []byte("tExt"), 1), "wrong checksum"},
		{"same place", rawZip(rawFile{local: "a", data: "text"}, rawFile{local: "a", central: "b", data: "text", offset: -35}), "overlaps"},
		{"local name", rawZip(rawFile{local: "a", central: "b", data: "x"}), "differs from the directory"},
		{"local size", bytes.Replace(good, []byte("\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00"), []byte("\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00"), 1), "differs from the directory"},
		{"twice", rawZip(rawFile{local: "a"}, rawFile{local: "a"}), "is there twice"},
		{"case", rawZip(rawFile{local: "skill.md"}, rawFile{local: "SKILL.md"}), "is the same as"},
		{"prefix", with([]byte("#!/bin/sh\n"), good), "an archive is"},
		{"prefix that looks right", with([]byte("PK"), good), "not where"},
		{"adjusted prefix", with([]byte("PK"), shifted[:shiftedDir], shifted[shiftedDir:len(shifted)-endSize], endOf(1, len(shifted)-endSize-shiftedDir, shiftedDir+2, "")), "begins with data"},
		{"gap before directory", with(body, []byte("hidden"), list, endOf(2, len(list), dir+6, "")), "belongs to no file"},
		{"gap after directory", with(body, list, []byte("hidden"), end), "not where"},
		{"more in directory", with(body, list, list[:recordSize+1], endOf(2, len(list)+recordSize+1, dir, "")), "more than its 2 files"},
		{"fewer in directory", with(body, list[:recordSize+1], endOf(2, recordSize+1, dir, "")), "ends too early"},
		{"two ends", with(good, end), ""},
		{"end in comment", with(body, list, endOf(2, len(list), dir, "x"+string(end))), ""},
		{"record in comment", with(body, list, endOf(2, len(list), dir, "PK\x01\x02")), "looks like a part"},
		{"long comment", with(body, list, endOf(2, len(list), dir, "note")[:endSize+2]), "after its end"},
		{"zip64 end", with(body, list, zip64, end), "ZIP64"},
		{"zip64 count", with(body, list, endOf(0xffff, len(list), dir, "")), "more than the"},
		{"zip64 size", rawZip(rawFile{local: "a", data: "x", extra: "\x01\x00\x08\x00\xff\xff\xff\xff\xff\xff\xff\x7f"}), "ZIP64"},
		{"large sizes that differ", rawZip(rawFile{local: "a", data: "x", localExtra: "\x01\x00\x10\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", large: true}), "differs from the directory"},
		{"large sizes missing", rawZip(rawFile{local: "a", data: "x", large: true}), "differs from the directory"},
		{"second name", rawZip(rawFile{local: "a", extra: "\x75\x70\x09\x00\x01\x00\x00\x00\x00../x"}), "second name"},
		{"cut extra", rawZip(rawFile{local: "a", extra: "\x75\x70\x09\x00"}), "cut off"},
		{"encrypted", rawZip(rawFile{local: "a", flags: 1}), "encrypted"},
		{"method", rawZip(rawFile{local: "a", method: 14}), "method 14"},
		{"link of another system", rawZip(rawFile{local: "a", data: "/etc", mode: 0o120777}), "is a link"},
		{"folder as file", rawZip(rawFile{local: "a", mode: 0o040755, made: madeUnix}), "file and a folder"},
		{"folder with content", rawZip(rawFile{local: "a/", data: "x"}), "folder with content"},
		{"after deflate", rawZip(rawFile{local: "a", data: "\x01\x00\x00\xff\xffhidden", method: stored}), ""},
		{"long name", rawZip(rawFile{local: strings.Repeat("n", 2000)}), "more than 1024 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "after deflate" { // the content is an empty block and more, now named deflate in both places
				for at := bytes.Index(tt.data, []byte("PK\x03\x04")); at >= 0; at = -1 {
					tt.data[at+8] = deflated
				}
				tt.data[bytes.Index(tt.data, []byte(recordMagic))+10] = deflated
				tt.why = ""
			}
			checkRefused(t, tt.data, tt.why)
		})
	}
	large := rawZip(rawFile{local: "a", data: "x", localExtra: "\x01\x00\x10\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", large: true})
	if got, err := unpackTo(t, large, nil); err != nil || got["a"] != "-rw-r--r-- x" {
		t.Errorf("large sizes that are equal: %v, %v", got, err)
	}
	if _, err := unpackTo(t, with(body, list, endOf(2, len(list), dir, "a comment")), nil); err != nil {
		t.Errorf("with a comment: %v", err)
	}
}

// security 2.7 #117: the number of entries is refused before memory is used for them, and without a file on the disk.
func TestZipManyEntries(t *testing.T) {
	many := make([]rawFile, 1001)
	for i := range many {
		many[i].local = fmt.Sprint(i)
	}
	got, err := unpackTo(t, rawZip(many...), &Options{MaxFiles: 1000})
	if err == nil || !strings.Contains(err.Error(), "has 1001 files and folders, more than the 1000") || len(got) > 0 {
		t.Errorf("%d files, %v", len(got), err)
	}
	lie := endOf(65_535, 0, 0, "") // 65,535 entries in 22 bytes
	if n := testing.AllocsPerRun(10, func() { zipDirectory(bytes.NewReader(lie), int64(len(lie)), 10_000, 100) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

// A bomb by overlap: 4,000 files of the directory share one header, and declare 62 GiB. security 2.7 #116
func TestOverlapBomb(t *testing.T) {
	first := rawZip(rawFile{local: "a", data: strings.Repeat("\x00", 16<<20), method: deflated})
	at := bytes.Index(first, []byte(recordMagic))
	data, list := bytes.Clone(first[:at]), []byte{}
	for i := range 4000 {
		one := bytes.Clone(first[at : len(first)-endSize])
		one[recordSize] = byte('a' + i%26)
		list = append(list, one...)
	}
	data = append(append(data, list...), endOf(4000, len(list), at, "")...)
	began := time.Now()
	checkRefused(t, data, "overlaps")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestArchiveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, data := range [][]byte{makeTarGz(t, file{name: "a", data: "x"}), makeZip(t, file{name: "a", data: "x"})} {
		if err := Archive(ctx, bytes.NewReader(data), int64(len(data)), NewWriter(folder(t), nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}
