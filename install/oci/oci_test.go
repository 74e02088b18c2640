package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/ocitest"
)

var _ install.Fetcher = (*Client)(nil)

func pdf() Skill {
	return Skill{
		Name: "pdf", Description: "Reads PDF files.", Version: "1.2.0", License: "MIT", Compatibility: "needs python", AllowedTools: []string{"Bash(python:*)"},
		FS: fstest.MapFS{
			"SKILL.md":       {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\n"), Mode: 0o664},
			"scripts/run.py": {Data: []byte("#!/usr/bin/env python3\n"), Mode: 0o775},
			".git/config":    {Data: []byte("x")},
		},
	}
}

// client returns a client for a registry over http.
func client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	o.PlainHTTP = true
	c, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ref(r *ocitest.Registry, want string) source.Ref {
	return source.Ref{Kind: source.OCI, URL: r.Host() + "/skills/pdf", Want: want}
}

// get returns the files that a fetch gets: their modes and contents.
func get(t *testing.T, c *Client, from source.Ref) (map[string]string, install.Origin, error) {
	t.Helper()
	dir := t.TempDir()
	s, err := c.Fetch(t.Context(), &install.Request{Source: from, Dir: dir})
	if err != nil {
		return nil, install.Origin{}, err
	}
	defer s.Close()
	if _, err := os.Stat(dir + "/layer"); err == nil {
		t.Error("the layer is still there")
	}
	files := map[string]string{}
	err = fs.WalkDir(s.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(s.FS, name)
		files[name] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, s.Origin, nil
}

func want(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestPushFetch(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	pushed, err := c.Push(t.Context(), &PushRequest{To: ref(r, "1.2.0"), Skills: []Skill{pdf()}})
	if err != nil {
		t.Fatal(err)
	}
	digest := pushed.Digest
	if pushed.Tag != "1.2.0" || fmt.Sprint(pushed.Excluded) != "[pdf/.git/]" {
		t.Errorf("pushed %+v", pushed)
	}
	files := map[string]string{
		"pdf/SKILL.md":       "-rw-r--r-- ---\nname: pdf\ndescription: Reads PDF files.\n---\n",
		"pdf/scripts/run.py": "-rwxr-xr-x #!/usr/bin/env python3\n",
	}
	got, origin, err := get(t, c, ref(r, "1.2.0"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, files)
	if origin.Commit != digest || origin.Tag != "1.2.0" || origin.Pinned || origin.URL != "oci://"+r.Host()+"/skills/pdf" {
		t.Errorf("the origin is %+v", origin)
	}
	got, origin, err = get(t, c, ref(r, digest))
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, files)
	if origin.Commit != digest || origin.Tag != "" || !origin.Pinned {
		t.Errorf("by digest, the origin is %+v", origin)
	}

	// What is known is not sent again.
	before := len(r.Log())
	s, err := c.Fetch(t.Context(), &install.Request{Source: ref(r, "1.2.0"), Dir: t.TempDir(), Known: digest})
	if err != nil || s.FS != nil || s.Origin.Commit != digest || s.Close() != nil {
		t.Errorf("with the known digest: %+v, %v", s, err)
	}
	if log := r.Log()[before:]; len(log) != 1 {
		t.Errorf("requests: %v", log)
	}
}

// The form of what is pushed, as other programs read it.
func TestPushForm(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	push := &PushRequest{To: ref(r, ""), Skills: []Skill{pdf()}}
	first, err := c.Push(t.Context(), push)
	if err != nil {
		t.Fatal(err)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(r.Manifest("skills/pdf", "latest"), &m); err != nil {
		t.Fatal(err)
	}
	if m.SchemaVersion != 2 || m.MediaType != "application/vnd.oci.image.manifest.v1+json" || m.ArtifactType != "application/vnd.agentskills.skill.v1" ||
		m.Config.MediaType != "application/vnd.agentskills.skill.config.v1+json" || len(m.Layers) != 1 || m.Layers[0].MediaType != "application/vnd.agentskills.skill.content.v1.tar+gzip" {
		t.Errorf("the manifest is %+v", m)
	}
	if got, want := fmt.Sprint(m.Annotations), "map[io.agentskills.skill.compatibility:needs python io.agentskills.skill.name:pdf org.opencontainers.image.description:Reads PDF files. org.opencontainers.image.licenses:MIT org.opencontainers.image.title:pdf org.opencontainers.image.version:1.2.0]"; got != want {
		t.Errorf("annotations: %v", got)
	}
	if got, want := string(r.Blob(m.Config.Digest.String())), `{"schemaVersion":"1","name":"pdf","version":"1.2.0","description":"Reads PDF files.","license":"MIT","compatibility":"needs python","allowedTools":["Bash(python:*)"]}`; got != want {
		t.Errorf("the configuration is %s", got)
	}
	zip, err := gzip.NewReader(bytes.NewReader(r.Blob(m.Layers[0].Digest.String())))
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if err != nil {
			break
		}
		entries = append(entries, fmt.Sprintf("%s %o", h.Name, h.Mode))
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s: %+v", h.Name, h)
		}
	}
	if got, want := strings.Join(entries, ", "), "pdf/SKILL.md 644, pdf/scripts/run.py 755"; got != want {
		t.Errorf("entries: %s", got)
	}

	// The same skill has the same digest, whatever the times of its files, and its blobs are not sent again.
	before := len(r.Log())
	for _, f := range push.Skills[0].FS.(fstest.MapFS) {
		f.ModTime = time.Now()
	}
	again, err := c.Push(t.Context(), push)
	if err != nil || again.Digest != first.Digest || again.Tag != "latest" {
		t.Errorf("again: %+v, %v; first: %+v", again, err, first)
	}
	if log := fmt.Sprint(r.Log()[before:]); strings.Contains(log, "uploads") {
		t.Errorf("sent again: %s", log)
	}
}

func TestPushRefuses(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	with := func(change func(*Skill)) []Skill {
		s := pdf()
		change(&s)
		return []Skill{s}
	}
	for name, test := range map[string]struct {
		request PushRequest
		want    string
	}{
		"digest":   {PushRequest{To: ref(r, "sha256:"+strings.Repeat("0", 64)), Skills: []Skill{pdf()}}, "needs a tag"},
		"git":      {PushRequest{To: source.Ref{Kind: source.Git}, Skills: []Skill{pdf()}}, "git is not a kind"},
		"none":     {PushRequest{To: ref(r, "")}, "1 to 500 skills, not 0"},
		"two":      {PushRequest{To: ref(r, ""), Skills: []Skill{pdf(), {Name: "x"}}}, "name of a collection"},
		"twice":    {PushRequest{To: ref(r, ""), Skills: []Skill{pdf(), pdf()}, Collection: "c"}, `two skills have the name "pdf"`},
		"registry": {PushRequest{To: source.Ref{Kind: source.OCI, URL: "nothing"}, Skills: []Skill{pdf()}}, "not a repository"},
		"name":     {PushRequest{To: ref(r, ""), Skills: with(func(s *Skill) { s.Name = "../x" })}, "cannot be the name of a folder"},
		"no files": {PushRequest{To: ref(r, ""), Skills: with(func(s *Skill) { s.FS = nil })}, "no name or no files"},
		"manifest": {PushRequest{To: ref(r, ""), Skills: with(func(s *Skill) { delete(s.FS.(fstest.MapFS), "SKILL.md") })}, "no SKILL.md"},
		"link": {PushRequest{To: ref(r, ""), Skills: with(func(s *Skill) {
			s.FS.(fstest.MapFS)["ln"] = &fstest.MapFile{Mode: fs.ModeSymlink}
		})}, `"ln" is not a regular file`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Push(t.Context(), &test.request); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if log := r.Log(); len(log) > 0 {
		t.Errorf("requests: %v", log)
	}
}

func TestCollection(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	docx := pdf()
	docx.Name, docx.FS = "docx", fstest.MapFS{"SKILL.md": {Data: []byte("docx")}}
	pushed, err := c.Push(t.Context(), &PushRequest{To: ref(r, "1"), Skills: []Skill{pdf(), docx}, Collection: "office"})
	if err != nil {
		t.Fatal(err)
	}
	got, origin, err := get(t, c, ref(r, "1"))
	if err != nil || origin.Commit != pushed.Digest {
		t.Fatalf("%+v, %v", origin, err)
	}
	if names := slices.Sorted(maps.Keys(got)); fmt.Sprint(names) != "[docx/SKILL.md pdf/SKILL.md pdf/scripts/run.py]" {
		t.Errorf("got %v", names)
	}
	var index ocispec.Index
	if err := json.Unmarshal(r.Manifest("skills/pdf", "1"), &index); err != nil {
		t.Fatal(err)
	}
	if index.ArtifactType != "application/vnd.agentskills.collection.v1" || index.Annotations["io.agentskills.collection.name"] != "office" || index.Manifests[1].Annotations["io.agentskills.skill.name"] != "docx" {
		t.Errorf("the index is %+v", index)
	}
}

// layer makes a tar archive. A name that ends in "@" is a link.
func layer(t testing.TB, compressed bool, files ...string) []byte {
	t.Helper()
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, name := range files {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(name)), Typeflag: tar.TypeReg}
		if link, ok := strings.CutSuffix(name, "@"); ok {
			h = &tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: "/etc"}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte(name))
		}
	}
	w.Close()
	if !compressed {
		return plain.Bytes()
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(plain.Bytes())
	z.Close()
	return out.Bytes()
}

// blob stores a blob and returns its descriptor.
func blob(r *ocitest.Registry, media string, content []byte) ocispec.Descriptor {
	r.PutBlob(content)
	return describe(media, content)
}

// put stores a manifest and returns its descriptor.
func put(t testing.TB, r *ocitest.Registry, tag, media string, m any) ocispec.Descriptor {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r.PutManifest("skills/pdf", tag, media, raw)
	return describe(media, raw)
}

func image(artifact string, layers ...ocispec.Descriptor) ocispec.Manifest {
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifact, Config: describe(ocispec.MediaTypeImageConfig, []byte("{}")), Layers: layers}
	m.SchemaVersion = 2
	return m
}

func index(artifact string, manifests ...ocispec.Descriptor) ocispec.Index {
	m := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, ArtifactType: artifact, Manifests: manifests}
	m.SchemaVersion = 2
	return m
}

// Artifacts of other programs.
func TestFetchForeign(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	gz := blob(r, ocispec.MediaTypeImageLayerGzip, layer(t, true, "SKILL.md", "./scripts/run.sh"))
	wrapped := blob(r, skillContent, layer(t, true, "pdf/SKILL.md"))
	card := blob(r, "application/vnd.example.card.v1+yaml", []byte("name: pdf"))
	platform := func(d ocispec.Descriptor, os, arch string) ocispec.Descriptor {
		d.Platform = &ocispec.Platform{OS: os, Architecture: arch}
		return d
	}
	docker := image("", gz)
	docker.MediaType, docker.Config.MediaType, docker.Layers[0].MediaType = dockerManifest, dockerConfig, dockerLayer
	old := image("", wrapped)
	old.Config.MediaType = skillConfig
	one := put(t, r, "", ocispec.MediaTypeImageManifest, image(toolHiveArtifact, gz))
	other := put(t, r, "", ocispec.MediaTypeImageManifest, image("", blob(r, ocispec.MediaTypeImageLayer, layer(t, false, "SKILL.md", "arm"))))
	attestation := put(t, r, "", ocispec.MediaTypeImageManifest, image("", blob(r, "application/vnd.in-toto+json", []byte("{}"))))
	skill := put(t, r, "", ocispec.MediaTypeImageManifest, image(skillArtifact, wrapped))
	skill.ArtifactType = skillArtifact
	for name, test := range map[string]struct {
		media    string
		manifest any
		want     string
	}{
		"toolhive":       {ocispec.MediaTypeImageManifest, image(toolHiveArtifact, gz), "[SKILL.md scripts/run.sh]"},
		"toolhive index": {ocispec.MediaTypeImageIndex, index(toolHiveArtifact, platform(other, "linux", "arm64"), platform(one, "linux", "amd64")), "[SKILL.md scripts/run.sh]"},
		"image":          {ocispec.MediaTypeImageManifest, image("", gz), "[SKILL.md scripts/run.sh]"},
		"two layers": {ocispec.MediaTypeImageManifest, image("", gz, blob(r, ocispec.MediaTypeImageLayer, layer(t, false, "references/x.md"))),
			"[SKILL.md references/x.md scripts/run.sh]"},
		"docker":         {dockerManifest, docker, "[SKILL.md scripts/run.sh]"},
		"image index":    {ocispec.MediaTypeImageIndex, index("", platform(attestation, "unknown", "unknown"), platform(other, "linux", "arm64")), "[SKILL.md arm]"},
		"without a type": {ocispec.MediaTypeImageManifest, old, "[pdf/SKILL.md]"},
		"with a card":    {ocispec.MediaTypeImageManifest, image(skillArtifact, card, wrapped), "[pdf/SKILL.md]"},
		"catalog":        {ocispec.MediaTypeImageIndex, index(catalogArtifact, skill, skill), "[pdf/SKILL.md]"},
		"plain index":    {ocispec.MediaTypeImageIndex, index("", platform(other, "linux", "amd64"), skill), "[pdf/SKILL.md]"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, r, "x", test.media, test.manifest)
			got, _, err := get(t, c, ref(r, "x"))
			if names := slices.Sorted(maps.Keys(got)); err != nil || fmt.Sprint(names) != test.want {
				t.Errorf("got %v, %v; want %s", names, err, test.want)
			}
		})
	}
}

// security 2.7 #114, security 2.8 #125
func TestFetchRefuses(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	c.limits.MaxFiles, c.limits.MaxBytes = 10, 1000
	good := blob(r, ocispec.MediaTypeImageLayerGzip, layer(t, true, "SKILL.md"))
	content := blob(r, skillContent, layer(t, true, "pdf/SKILL.md"))
	of := func(d ocispec.Descriptor, change func(*ocispec.Descriptor)) ocispec.Descriptor {
		change(&d)
		return d
	}
	nested := put(t, r, "", ocispec.MediaTypeImageIndex, index(collectionArtifact, content))
	both := map[string]any{"schemaVersion": 2, "manifests": []any{}, "layers": []any{good}, "config": good}
	bomb := blob(r, ocispec.MediaTypeImageLayerGzip, zeros(t, 50<<20))
	for name, test := range map[string]struct {
		media    string
		manifest any
		is       error
		want     string
	}{
		"helm":          {ocispec.MediaTypeImageManifest, image("application/vnd.cncf.helm.config.v1+json", good), errNotSkill, `its type is "application/vnd.cncf.helm.config.v1+json"`},
		"zstd":          {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.MediaType = ocispec.MediaTypeImageLayerZstd })), errNotSkill, `layer.v1.tar+zstd", which is not supported`},
		"foreign layer": {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.MediaType = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip" })), errNotSkill, "foreign.diff"},
		"no content":    {ocispec.MediaTypeImageManifest, image(skillArtifact, good), errNotSkill, `0 layers of type "` + skillContent + `", not 1; it has one of type "` + ocispec.MediaTypeImageLayerGzip},
		"two contents":  {ocispec.MediaTypeImageManifest, image(skillArtifact, content, content), errNotSkill, "2 layers"},
		"no layers":     {ocispec.MediaTypeImageManifest, image(""), errNotSkill, "no layers"},
		"many layers":   {ocispec.MediaTypeImageManifest, image("", slices.Repeat([]ocispec.Descriptor{good}, 33)...), errNotSkill, "33 layers"},
		"huge layer":    {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.Size = 10 << 30 })), errNotSkill, "content of 10737418240 bytes"},
		"huge together": {ocispec.MediaTypeImageManifest, image("", slices.Repeat([]ocispec.Descriptor{of(good, func(d *ocispec.Descriptor) { d.Size = 200 << 20 })}, 2)...), errNotSkill, "more than 268435456"},
		"negative":      {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.Size = -1 })), errNotSkill, "content of -1 bytes"},
		"sha512":        {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.Digest = "sha512:00" })), errNotSkill, `"sha512:00", not by a SHA-256`},
		"path":          {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.Digest = "sha256:../../x" })), errNotSkill, "not by a SHA-256"},
		"missing":       {ocispec.MediaTypeImageManifest, image("", describe(ocispec.MediaTypeImageLayerGzip, []byte("not there"))), ErrNotFound, ""},
		"size":          {ocispec.MediaTypeImageManifest, image("", of(good, func(d *ocispec.Descriptor) { d.Size++ })), nil, "mismatch Content-Length"},
		"version":       {ocispec.MediaTypeImageManifest, map[string]any{"schemaVersion": 1}, errNotSkill, "version 1"},
		"other type":    {"application/json", image("", good), errNotSkill, `media type "application/json"`},
		"two types":     {ocispec.MediaTypeImageIndex, image("", good), errNotSkill, "and the registry says"},
		"ambiguous":     {ocispec.MediaTypeImageIndex, both, errNotSkill, "as an index and as one artifact"},
		"not JSON":      {ocispec.MediaTypeImageManifest, "x", errNotSkill, "cannot be read"},
		"nested":        {ocispec.MediaTypeImageIndex, index(collectionArtifact, nested), errNotSkill, "a collection in a collection"},
		"other index":   {ocispec.MediaTypeImageIndex, index("application/vnd.example", good), errNotSkill, `its type is "application/vnd.example"`},
		"empty list":    {ocispec.MediaTypeImageIndex, map[string]any{"schemaVersion": 2, "artifactType": collectionArtifact, "manifests": []any{}}, errNotSkill, "lists nothing"},
		"empty index":   {ocispec.MediaTypeImageIndex, map[string]any{"schemaVersion": 2, "manifests": []any{}}, errNotSkill, "lists nothing"},
		"many":          {ocispec.MediaTypeImageIndex, index("", slices.Repeat([]ocispec.Descriptor{good}, 501)...), errNotSkill, "501 artifacts"},
		"long":          {ocispec.MediaTypeImageManifest, map[string]any{"x": strings.Repeat("x", maxManifest)}, errNotSkill, "more than 4194304"},
		"traversal":     {ocispec.MediaTypeImageManifest, image("", blob(r, ocispec.MediaTypeImageLayerGzip, layer(t, true, "../evil"))), nil, "is not a path below the folder"},
		"link":          {ocispec.MediaTypeImageManifest, image("", blob(r, ocispec.MediaTypeImageLayerGzip, layer(t, true, "bin@"))), nil, "is a link"},
		"replaced":      {ocispec.MediaTypeImageManifest, image("", good, blob(r, ocispec.MediaTypeImageLayer, layer(t, false, "SKILL.md"))), nil, "is there twice"},
		"many files":    {ocispec.MediaTypeImageManifest, image("", blob(r, ocispec.MediaTypeImageLayer, layer(t, false, strings.Split("abcdefghijk", "")...))), nil, "more than the 10 files"},
		"bomb":          {ocispec.MediaTypeImageManifest, image("", bomb), nil, "exceeds the 1000 bytes"},
		"no gzip":       {ocispec.MediaTypeImageManifest, image("", blob(r, ocispec.MediaTypeImageLayerGzip, []byte("x"))), nil, "cannot be read as gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, r, "x", test.media, test.manifest)
			_, _, err := get(t, c, ref(r, "x"))
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v: %q", err, test.is, test.want)
			}
		})
	}
	if _, err := c.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Git}}); err == nil {
		t.Error("a git source is accepted")
	}
	if _, err := c.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.OCI, URL: "x"}}); err == nil {
		t.Error("a reference without a repository is accepted")
	}
	if _, err := New(&Options{}); err == nil {
		t.Error("a client without a transport is made")
	}
}

// zeros is a compressed tar archive with one file of zeros.
func zeros(t *testing.T, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "zeros", Size: n, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	for range n >> 20 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	z.Close()
	return out.Bytes()
}

// A registry or who is between sends another content than its digest says.
func TestFetchDigest(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	pushed, err := c.Push(t.Context(), &PushRequest{To: ref(r, "1"), Skills: []Skill{pdf()}})
	if err != nil {
		t.Fatal(err)
	}
	digest := pushed.Digest
	var m ocispec.Manifest
	if err := json.Unmarshal(r.Manifest("skills/pdf", "1"), &m); err != nil {
		t.Fatal(err)
	}
	evil := bytes.Replace(r.Manifest("skills/pdf", "1"), []byte("1.2.0"), []byte("6.6.6"), 1)
	for name, hook := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"layer": func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, m.Layers[0].Digest.String()) {
				return false
			}
			w.Write(make([]byte, m.Layers[0].Size))
			return true
		},
		"longer": func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, m.Layers[0].Digest.String()) {
				return false
			}
			w.Write(r.Blob(m.Layers[0].Digest.String()))
			w.(http.Flusher).Flush() // no length
			w.Write(make([]byte, 1<<20))
			return true
		},
		"manifest": func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.Contains(req.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", digest)
			w.Header().Set("Content-Length", fmt.Sprint(len(evil)))
			w.Write(evil)
			return true
		},
	} {
		r.Hook = hook
		for _, reference := range []string{"1", digest} {
			if _, _, err := get(t, c, ref(r, reference)); !errors.Is(err, ErrDigest) {
				t.Errorf("%s by %s: %v", name, reference, err)
			}
		}
	}
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool { // without a digest in its header
		if !strings.Contains(req.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Content-Length", fmt.Sprint(len(evil)))
		w.Write(evil)
		return true
	}
	if _, _, err := get(t, c, ref(r, digest)); err == nil {
		t.Error("another manifest is accepted for a digest")
	}
}

func TestFetchNotFound(t *testing.T) {
	r := ocitest.New(t)
	c := client(t, Options{})
	if _, _, err := get(t, c, ref(r, "")); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "/skills/pdf: there is no such artifact: latest") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Push(t.Context(), &PushRequest{To: ref(r, "v1"), Skills: []Skill{pdf()}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, c, ref(r, "v2")); !errors.Is(err, ErrNotFound) || !strings.HasSuffix(err.Error(), `v2; tags are ["v1"]`) {
		t.Errorf("got %v", err)
	}
}

func TestFetchContext(t *testing.T) {
	r := ocitest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		cancel()
		<-req.Context().Done()
		return true
	}
	if _, err := client(t, Options{}).Fetch(ctx, &install.Request{Source: ref(r, "1"), Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	for _, m := range []any{image("", describe(ocispec.MediaTypeImageLayer, nil)), image(skillArtifact, describe(skillContent, nil)), index("", describe(ocispec.MediaTypeImageManifest, nil)), index(collectionArtifact)} {
		raw, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, ocispec.MediaTypeImageManifest)
		f.Add(raw, ocispec.MediaTypeImageIndex)
	}
	f.Fuzz(func(t *testing.T, raw []byte, media string) {
		m, err := parseManifest(raw, media)
		if err != nil {
			return
		}
		if m.isIndex() {
			members, err := m.members()
			if err == nil && len(members) == 0 {
				t.Error("an index has no members, and that is not an error")
			}
			return
		}
		layers, err := m.content()
		for _, l := range layers {
			if l.Size < 0 || l.Size > maxDownload || len(l.Digest) != len("sha256:")+64 || !isTar(l.MediaType) && !isTarGz(l.MediaType) {
				t.Errorf("a layer is %+v", l)
			}
		}
		if err == nil && len(layers) == 0 {
			t.Error("a skill has no layers")
		}
	})
}
