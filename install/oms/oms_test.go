package oms

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/internal/test/omstest"
)

// skillFiles is a skill with the habits of real ones.
func skillFiles() fstest.MapFS {
	return fstest.MapFS{
		"SKILL.md":            {Data: []byte("---\nname: example\ndescription: For the test.\n---\nRun scripts/run.py.\n")},
		"scripts/run.py":      {Data: []byte("print('hello')\n"), Mode: 0o755},
		"references/a b.md":   {Data: []byte("# A\n")},
		"evals/evals.json":    {Data: []byte("{}")},
		"references/deep/x.y": {Data: nil},
	}
}

func verify(t *testing.T, files fs.FS, o *Options) *Report {
	t.Helper()
	r, err := Verify(t.Context(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The kinds of keys that signers use. A bundle is of any of them.
func TestVerifyKeys(t *testing.T) {
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options omstest.Options
		want    State
	}{
		"P-256":      {omstest.Options{Key: omstest.Key(t, elliptic.P256())}, Valid},
		"P-384":      {omstest.Options{Key: omstest.Key(t, elliptic.P384())}, Valid},
		"P-521":      {omstest.Options{Key: omstest.Key(t, elliptic.P521())}, Valid},
		"Ed25519":    {omstest.Options{Key: edKey}, Valid},
		"P-224":      {omstest.Options{Key: omstest.Key(t, elliptic.P224())}, Unreadable},
		"RSA":        {omstest.Options{Key: rsaKey}, Unreadable},
		"encryption": {omstest.Options{Edit: func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }}, BadSignature},
		"web server": {omstest.Options{Edit: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }}, Untrusted},
		"code":       {omstest.Options{Edit: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning} }}, Valid},
	} {
		t.Run(name, func(t *testing.T) {
			a := omstest.New(t, test.options)
			files := skillFiles()
			files[File] = &fstest.MapFile{Data: a.Sign(t, skillFiles())}
			r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}})
			if r.State != test.want {
				t.Errorf("got %v: %v; want %v", r.State, r, test.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	a := omstest.New(t, omstest.Options{})
	files := skillFiles()
	files[File] = &fstest.MapFile{Data: a.Sign(t, skillFiles())}
	files[".gitignore"] = &fstest.MapFile{}
	files[".git/objects/x"] = &fstest.MapFile{}

	r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}})
	if want := "signed by Example Signing (Example Ltd), all 5 files are as signed; not covered: .gitignore"; r.String() != want {
		t.Errorf("got %q, want %q", r, want)
	}
	s := r.Signer
	if s.Subject != "CN=Example Signing,O=Example Ltd" || s.Issuer != "CN=Example Intermediate" || len(s.Fingerprint) != 64 || s.Root != "Example Root" || s.Expires.IsZero() {
		t.Errorf("the signer is %+v", s)
	}

	// A chain that comes with the bundle makes nobody trusted.
	r = verify(t, files, nil)
	if want := "signed by Example Signing (Example Ltd), no configured root says whether that is true"; r.State != NoRoots || r.String() != want {
		t.Errorf("got %v %q, want %q", r.State, r, want)
	}
	other := omstest.New(t, omstest.Options{})
	r = verify(t, files, &Options{Roots: []*x509.Certificate{other.Root}})
	if r.State != Untrusted || !strings.HasPrefix(r.String(), "signed by Example Signing (Example Ltd), which is not trusted: x509: ") {
		t.Errorf("got %v %q, want an untrusted one", r.State, r)
	}

	// The certificate of a signer can be the root.
	leaf, err := x509.ParseCertificate(a.Chain[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := verify(t, files, &Options{Roots: []*x509.Certificate{leaf}}); r.State != Valid {
		t.Errorf("with the signer as the root: %v", r)
	}
	if r := verify(t, skillFiles(), nil); r.State != Unsigned || r.String() != "not signed" {
		t.Errorf("without a bundle: %v", r)
	}
}

// A bundle does not say when it was made, so the certificate must be valid when the skill is known to have been there.
func TestVerifyTime(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2024, 5, n, 0, 0, 0, 0, time.UTC) }
	a := omstest.New(t, omstest.Options{NotBefore: day(10), NotAfter: day(20)})
	stranger := omstest.New(t, omstest.Options{})
	files := skillFiles()
	files[File] = &fstest.MapFile{Data: a.Sign(t, skillFiles())}
	for _, test := range []struct {
		at    time.Time
		roots *omstest.Authority
		want  State
	}{
		{day(15), a, Valid},
		{day(9), a, Expired},
		{day(21), a, Expired},
		{time.Time{}, a, Expired}, // now
		{time.Time{}, stranger, Untrusted},
	} {
		r := verify(t, files, &Options{Roots: []*x509.Certificate{test.roots.Root}, Time: test.at})
		if r.State != test.want {
			t.Errorf("at %v: got %v: %v; want %v", test.at, r.State, r, test.want)
		}
		if want := "the certificate of Example Signing (Example Ltd) is valid from 2024-05-10 to 2024-05-20 only"; r.State == Expired && r.Reason != want {
			t.Errorf("got %q, want %q", r.Reason, want)
		}
	}
}

// C77: what belongs to no skill is no difference, whether it was signed or came later.
func TestVerifyLeftovers(t *testing.T) {
	a := omstest.New(t, omstest.Options{})
	withLeftovers := skillFiles()
	for _, name := range []string{".DS_Store", "scripts/__pycache__/run.cpython-314.pyc", "scripts/run.pyc", ".git/config"} {
		withLeftovers[name] = &fstest.MapFile{Data: []byte("left")}
	}
	for what, signed := range map[string]fstest.MapFS{"signed": withLeftovers, "not signed": skillFiles()} {
		for there, now := range map[string]fstest.MapFS{"there": withLeftovers, "gone": skillFiles()} {
			files := maps.Clone(now)
			files[File] = &fstest.MapFile{Data: a.Sign(t, signed)}
			if r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}}); r.State != Valid || len(r.Ignored) > 0 {
				t.Errorf("%s, %s: %v", what, there, r)
			}
		}
	}
	files := maps.Clone(withLeftovers)
	files[File] = &fstest.MapFile{Data: a.Sign(t, withLeftovers)}
	files["scripts/lone.pyc"] = &fstest.MapFile{}
	if r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}}); r.State != FilesDiffer || r.Reason != "not signed: scripts/lone.pyc" {
		t.Errorf("a module of byte code: %v", r)
	}
}

func TestVerifyFiles(t *testing.T) {
	a := omstest.New(t, omstest.Options{})
	signed := a.Sign(t, skillFiles())
	for name, test := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"changed":   {func(m fstest.MapFS) { m["SKILL.md"].Data = append(m["SKILL.md"].Data, '\n') }, "changed since: SKILL.md"},
		"missing":   {func(m fstest.MapFS) { delete(m, "references/a b.md") }, "missing: references/a b.md"},
		"extra":     {func(m fstest.MapFS) { m["scripts/more.sh"] = &fstest.MapFile{} }, "not signed: scripts/more.sh"},
		"in hidden": {func(m fstest.MapFS) { m["scripts/.hidden/x"] = &fstest.MapFile{} }, "not signed: scripts/.hidden/x"},
		"swapped": {func(m fstest.MapFS) { m["SKILL.md"], m["scripts/run.py"] = m["scripts/run.py"], m["SKILL.md"] },
			"changed since: SKILL.md, scripts/run.py"},
		"link": {func(m fstest.MapFS) {
			m["scripts/run.py"] = &fstest.MapFile{Data: []byte("../SKILL.md"), Mode: fs.ModeSymlink | 0o777}
		}, "not signed: scripts/run.py"},
		"folder": {func(m fstest.MapFS) {
			m["scripts/run.py/x"] = m["scripts/run.py"]
			delete(m, "scripts/run.py")
		}, "not signed: scripts/run.py, scripts/run.py/x"},
		"all": {func(m fstest.MapFS) {
			delete(m, "evals/evals.json")
			m["x"], m["y"], m["z"], m["zz"] = &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}
			m["scripts/run.py"].Data = nil
		}, "changed since: scripts/run.py; missing: evals/evals.json; not signed: x, y, z and 1 more"},
	} {
		t.Run(name, func(t *testing.T) {
			files := skillFiles()
			files[File] = &fstest.MapFile{Data: signed}
			test.change(files)
			r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}})
			if r.State != FilesDiffer || r.Reason != test.want {
				t.Errorf("got %v %q, want %q", r.State, r.Reason, test.want)
			}
			r = verify(t, files, nil)
			if want := "signed by Example Signing (Example Ltd), which no configured root confirms, but " + test.want; r.String() != want {
				t.Errorf("without roots: got %q, want %q", r, want)
			}
		})
	}
}

// Each change of a bundle that was not signed again.
func TestVerifyTampered(t *testing.T) {
	a, other := omstest.New(t, omstest.Options{}), omstest.New(t, omstest.Options{})
	payload := omstest.JSON(t, omstest.Statement(omstest.Resources(skillFiles())))
	envelope := func(b map[string]any) map[string]any { return b["dsseEnvelope"].(map[string]any) }
	material := func(b map[string]any) map[string]any { return b["verificationMaterial"].(map[string]any) }
	chain := func(b map[string]any, certificates ...[]byte) {
		var all []any
		for _, c := range certificates {
			all = append(all, map[string]any{"rawBytes": c})
		}
		material(b)["x509CertificateChain"] = map[string]any{"certificates": all}
	}
	for name, test := range map[string]struct {
		change func(map[string]any)
		want   State
		reason string
	}{
		"payload": {func(b map[string]any) {
			envelope(b)["payload"] = bytes.Replace(payload, []byte("example"), []byte("exampel"), 1)
		}, BadSignature, "was not made with the key"},
		"payload type": {func(b map[string]any) { envelope(b)["payloadType"] = "text/plain" }, BadSignature, "was not made"},
		"no signature": {func(b map[string]any) { envelope(b)["signatures"] = []any{} }, Unreadable, "it has 0 signatures"},
		"two": {func(b map[string]any) {
			s := envelope(b)["signatures"].([]any)
			envelope(b)["signatures"] = append(s, s[0])
		}, Unreadable, "it has 2 signatures"},
		"empty":         {func(b map[string]any) { envelope(b)["signatures"] = []any{map[string]any{"sig": ""}} }, BadSignature, "was not made"},
		"not base64":    {func(b map[string]any) { envelope(b)["payload"] = "!" }, Unreadable, "invalid base64"},
		"other key":     {func(b map[string]any) { chain(b, other.Chain[0], a.Chain[1], a.Chain[2]) }, BadSignature, "was not made"},
		"other chain":   {func(b map[string]any) { chain(b, a.Chain[0], other.Chain[1], other.Chain[2]) }, Untrusted, "unknown authority"},
		"leaf only":     {func(b map[string]any) { chain(b, a.Chain[0]) }, Untrusted, "unknown authority"},
		"no chain":      {func(b map[string]any) { chain(b) }, Unreadable, "0 certificates"},
		"long chain":    {func(b map[string]any) { chain(b, make([][]byte, 9)...) }, Unreadable, "9 certificates"},
		"no DER":        {func(b map[string]any) { chain(b, []byte("x")) }, Unreadable, "certificate 1: x509"},
		"huge":          {func(b map[string]any) { chain(b, make([]byte, 20_000)) }, Unreadable, "certificate 1 has 20000 bytes"},
		"keyless":       {func(b map[string]any) { material(b)["certificate"] = map[string]any{"rawBytes": ""} }, Unreadable, "short-lived certificate"},
		"bare key":      {func(b map[string]any) { material(b)["publicKey"] = map[string]any{"hint": ""} }, Unreadable, "bare key"},
		"media type":    {func(b map[string]any) { b["mediaType"] = "text/plain" }, Unreadable, "media type"},
		"without roots": {func(b map[string]any) { chain(b, a.Chain[0], a.Chain[1]) }, Valid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			parts := a.Parts(t, payload)
			test.change(parts)
			files := skillFiles()
			files[File] = &fstest.MapFile{Data: omstest.JSON(t, parts)}
			r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}})
			if r.State != test.want || !strings.Contains(r.Reason, test.reason) {
				t.Errorf("got %v: %q, want %v: %q", r.State, r.Reason, test.want, test.reason)
			}
		})
	}
}

// Statements that a signer with a trusted certificate should not make.
func TestVerifyHostileStatement(t *testing.T) {
	a := omstest.New(t, omstest.Options{})
	good := omstest.Resources(skillFiles())
	with := func(name string) func(map[string]any) {
		return func(s map[string]any) {
			maps.Copy(s, omstest.Statement(append([]omstest.Resource{{Name: name, Algorithm: "sha256", Digest: good[0].Digest}}, good...)))
		}
	}
	predicate := func(s map[string]any) map[string]any { return s["predicate"].(map[string]any) }
	serialization := func(s map[string]any) map[string]any {
		return predicate(s)["serialization"].(map[string]any)
	}
	for name, test := range map[string]struct {
		change func(map[string]any)
		want   State
		reason string
	}{
		"above":      {with("../evil"), Unreadable, `"../evil", which cannot be a signed file of a skill`},
		"absolute":   {with("/etc/passwd"), Unreadable, `"/etc/passwd", which`},
		"dots":       {with("a/../SKILL.md"), Unreadable, `"a/../SKILL.md", which`},
		"empty name": {with(""), Unreadable, `"", which`},
		"the folder": {with("."), Unreadable, `".", which`},
		"twice":      {with("SKILL.md"), Unreadable, `lists "SKILL.md" twice`},
		"other case": {with("skill.md"), FilesDiffer, "missing: skill.md"},
		"itself":     {with(File), Unreadable, `"skill.oms.sig", which`},
		"no files":   {func(s map[string]any) { maps.Copy(s, omstest.Statement(nil)) }, Unreadable, "it lists 0 files"},
		"many":       {func(s map[string]any) { maps.Copy(s, omstest.Statement(make([]omstest.Resource, maxFiles+1))) }, Unreadable, "it lists 20001 files"},
		"blake2b":    {func(s map[string]any) { serialization(s)["hash_type"] = "blake2b" }, Unreadable, `"files" and "blake2b"`},
		"shards":     {func(s map[string]any) { serialization(s)["method"] = "shards" }, Unreadable, `"shards"`},
		"old form":   {func(s map[string]any) { s["predicateType"] = "https://model_signing/Digests/v0.1" }, Unreadable, "Digests"},
		"no subject": {func(s map[string]any) { s["subject"] = []any{} }, Unreadable, "0 subjects"},
		"subject": {func(s map[string]any) {
			s["subject"] = []any{map[string]any{"digest": map[string]any{"sha256": good[0].Digest}}}
		}, Unreadable, "digest of the whole"},
		"algorithm":   {func(s map[string]any) { predicate(s)["resources"].([]omstest.Resource)[0].Algorithm = "md5" }, Unreadable, "no SHA-256"},
		"short sum":   {func(s map[string]any) { predicate(s)["resources"].([]omstest.Resource)[0].Digest = "00" }, Unreadable, "no SHA-256"},
		"all ignored": {func(s map[string]any) { serialization(s)["ignore_paths"] = []string{".", "/", ".."} }, FilesDiffer, "not signed: x.sh"},
		"ignored":     {func(s map[string]any) { serialization(s)["ignore_paths"] = []string{"x.sh", "scripts"} }, Valid, ""},
		"no manifest": {func(s map[string]any) {
			maps.Copy(s, omstest.Statement(good[1:]))
			serialization(s)["ignore_paths"] = []string{"x.sh", "SKILL.md"}
		}, FilesDiffer, "not signed: SKILL.md"},
	} {
		t.Run(name, func(t *testing.T) {
			st := omstest.Statement(omstest.Resources(skillFiles()))
			test.change(st)
			files := skillFiles()
			if _, ignored := serialization(st)["ignore_paths"].([]string); ignored && strings.Contains(name, "ignore") {
				files["x.sh"] = &fstest.MapFile{}
			}
			files[File] = &fstest.MapFile{Data: a.Bundle(t, omstest.JSON(t, st))}
			r := verify(t, files, &Options{Roots: []*x509.Certificate{a.Root}})
			if r.State != test.want || !strings.Contains(r.Reason, test.reason) {
				t.Errorf("got %v: %q, want %v: %q", r.State, r.Reason, test.want, test.reason)
			}
		})
	}
}

// Texts that are not the JSON of a bundle.
func TestVerifyHostileJSON(t *testing.T) {
	for name, test := range map[string]struct{ text, reason string }{
		"empty":       {"", "not valid JSON"},
		"null":        {"null", "media type"},
		"list":        {"[]", "it is not a bundle"},
		"two values":  {"{} {}", "not valid JSON"},
		"bytes":       {"{\"mediaType\": \"\xff\"}", "not UTF-8"},
		"twice":       {`{"mediaType": "a", "mediaType": "b"}`, `it has "mediatype" twice`},
		"cases":       {`{"mediaType": "a", "MEDIATYPE": "b"}`, `it has "mediatype" twice`},
		"long s":      {`{"signatures": "a", "ſignatures": "b"}`, `it has "signatures" twice`},
		"deep":        {strings.Repeat("[", 100_000), "nested deeper"},
		"wrong types": {`{"mediaType": 1}`, `it is not a bundle: "mediaType" is of type number`},
		"long":        {strings.Repeat(" ", maxBundle+1), "more than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := verify(t, fstest.MapFS{File: {Data: []byte(test.text)}}, nil)
			if r.State != Unreadable || !strings.Contains(r.Reason, test.reason) || len(r.Reason) > 300 {
				t.Errorf("got %v: %q, want %q", r.State, r.Reason, test.reason)
			}
		})
	}
}

// A bundle that is a link, and what ends the work.
func TestVerifyErrors(t *testing.T) {
	a := omstest.New(t, omstest.Options{})
	dir := t.TempDir()
	for name, f := range skillFiles() {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "sig")
	if err := os.WriteFile(outside, a.Sign(t, skillFiles()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if r := verify(t, root.FS(), nil); r.State != Unreadable || r.Reason != "skill.oms.sig is not a regular file" {
		t.Errorf("got %v %q", r.State, r.Reason)
	}

	files := skillFiles()
	files[File] = &fstest.MapFile{Data: a.Sign(t, skillFiles())}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, files, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: %v", err)
	}
	if _, err := Verify(t.Context(), broken{files, "scripts/run.py"}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("with a file that cannot be read: %v", err)
	}
	if _, err := Verify(t.Context(), broken{files, File}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("with a bundle that cannot be read: %v", err)
	}
}

// broken is a file system with a file that cannot be opened.
type broken struct {
	fstest.MapFS
	name string
}

func (b broken) Open(name string) (fs.File, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

func TestReadRoots(t *testing.T) {
	a, b := omstest.New(t, omstest.Options{}), omstest.New(t, omstest.Options{})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})
	for name, test := range map[string]struct {
		text string
		want int
		err  string
	}{
		"one":       {string(a.PEM()), 1, ""},
		"two":       {"# ours\n" + string(a.PEM()) + "\n# theirs\n" + string(b.PEM()) + "\n", 2, ""},
		"empty":     {"", 0, "has no certificates"},
		"DER":       {string(a.Root.Raw), 0, "has no certificates"},
		"key":       {string(key), 0, `has "PRIVATE KEY"`},
		"cut":       {string(a.PEM()) + string(b.PEM()[:200]), 0, "certificate 2 is damaged"},
		"not X.509": {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), 0, "certificate 1: x509"},
		"large":     {strings.Repeat("#", maxRootFile+1), 0, "more than 1048576 bytes"},
		"many":      {strings.Repeat(string(a.PEM()), maxRoots+1), 0, "has 201 certificates"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "roots.pem")
			if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			roots, err := ReadRoots(file)
			if len(roots) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %d roots and %v, want %d and %q", len(roots), err, test.want, test.err)
			}
		})
	}
	if _, err := ReadRoots(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}

// Whatever a bundle says, nothing is Valid but what the authority has signed.
func FuzzVerify(f *testing.F) {
	a := omstest.New(f, omstest.Options{})
	good := a.Sign(f, skillFiles())
	f.Add(good)
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, bundle []byte) {
		files := skillFiles()
		files[File] = &fstest.MapFile{Data: bundle}
		r, err := Verify(t.Context(), files, &Options{Roots: []*x509.Certificate{a.Root}})
		if err != nil {
			t.Fatal(err)
		}
		if r.State == Valid && r.Files != len(skillFiles()) {
			t.Errorf("valid: %v", r)
		}
		_ = r.String()
	})
}

// What is read of a statement is what a skill can have.
func FuzzStatement(f *testing.F) {
	f.Add(omstest.JSON(f, omstest.Statement(omstest.Resources(skillFiles()))))
	f.Add([]byte(`{"predicate":{"resources":[{"name":"../x"}]}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		st, err := parseStatement(payload)
		if err != nil {
			if fault := new(fault); !errors.As(err, &fault) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		for name, sum := range st.files {
			if !fs.ValidPath(name) || len(sum) != 32 {
				t.Errorf("it has %q", name)
			}
		}
		if err := st.compare(t.Context(), skillFiles(), &Report{}); err != nil {
			t.Error(err)
		}
	})
}
