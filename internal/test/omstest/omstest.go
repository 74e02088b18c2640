// Package omstest signs skills as OpenSSF Model Signing does, with an authority of its own. It writes the format from its
// description, not with the code that is tested.
package omstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

// Authority issues the certificate of one signer: root, intermediate, leaf.
type Authority struct {
	Root  *x509.Certificate
	Chain [][]byte // DER: leaf, intermediate, root
	Key   crypto.Signer
}

// Options are the options of New. The zero value makes a P-384 key that is valid now.
type Options struct {
	Key       crypto.Signer // of the signer
	NotBefore time.Time     // of the signer's certificate
	NotAfter  time.Time     // likewise
	Edit      func(leaf *x509.Certificate)
}

// New makes an authority.
func New(t testing.TB, o Options) *Authority {
	t.Helper()
	if o.Key == nil {
		o.Key = Key(t, elliptic.P384())
	}
	if o.NotAfter.IsZero() {
		o.NotBefore, o.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	rootKey, middleKey := Key(t, elliptic.P384()), Key(t, elliptic.P384())
	root := authority("Example Root")
	rootDER := issue(t, root, root, rootKey.Public(), rootKey)
	middle := authority("Example Intermediate")
	middleDER := issue(t, middle, root, middleKey.Public(), rootKey)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(3),
		Subject:      pkix.Name{CommonName: "Example Signing", Organization: []string{"Example Ltd"}},
		NotBefore:    o.NotBefore,
		NotAfter:     o.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if o.Edit != nil {
		o.Edit(leaf)
	}
	leafDER := issue(t, leaf, middle, o.Key.Public(), middleKey)
	parsed, err := x509.ParseCertificate(rootDER)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{Root: parsed, Chain: [][]byte{leafDER, middleDER, rootDER}, Key: o.Key}
}

// Key makes a key.
func Key(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
}

func issue(t testing.TB, c, by *x509.Certificate, key crypto.PublicKey, with crypto.Signer) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, by, key, with)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// PEM returns the root as the file that a user configures.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Root.Raw})
}

// Resource is a signed file.
type Resource struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"`
}

// Resources lists the files of a skill.
func Resources(files fstest.MapFS) []Resource {
	var all []Resource
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name].Data)
		all = append(all, Resource{name, "sha256", hex.EncodeToString(sum[:])})
	}
	return all
}

// Statement returns what is signed about files, as JSON objects that a test can change.
func Statement(files []Resource) map[string]any {
	all := sha256.New()
	for _, f := range files {
		sum, _ := hex.DecodeString(f.Digest)
		all.Write(sum)
	}
	return map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []any{map[string]any{"name": "example", "digest": map[string]any{"sha256": hex.EncodeToString(all.Sum(nil))}}},
		"predicateType": "https://model_signing/signature/v1.0",
		"predicate": map[string]any{
			"serialization": map[string]any{
				"method": "files", "hash_type": "sha256", "allow_symlinks": false,
				"ignore_paths": []string{".gitignore", ".git", ".github", ".gitattributes"},
			},
			"resources": files,
		},
	}
}

// Sign returns the bundle of a skill.
func (a *Authority) Sign(t testing.TB, files fstest.MapFS) []byte {
	t.Helper()
	return a.Bundle(t, JSON(t, Statement(Resources(files))))
}

// Bundle signs a payload.
func (a *Authority) Bundle(t testing.TB, payload []byte) []byte {
	t.Helper()
	return JSON(t, a.Parts(t, payload))
}

// Parts is Bundle as objects that a test can change.
func (a *Authority) Parts(t testing.TB, payload []byte) map[string]any {
	t.Helper()
	const kind = "application/vnd.in-toto+json"
	var chain []any
	for _, der := range a.Chain {
		chain = append(chain, map[string]any{"rawBytes": der})
	}
	return map[string]any{
		"mediaType":            "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": map[string]any{"x509CertificateChain": map[string]any{"certificates": chain}, "tlogEntries": []any{}},
		"dsseEnvelope": map[string]any{
			"payload": payload, "payloadType": kind,
			"signatures": []any{map[string]any{"sig": a.sign(t, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)), "keyid": ""}},
		},
	}
}

func (a *Authority) sign(t testing.TB, message []byte) []byte {
	t.Helper()
	var sum []byte
	hash := crypto.Hash(0)
	switch key := a.Key.(type) {
	case ed25519.PrivateKey:
		sum = message
	case *ecdsa.PrivateKey:
		switch key.Curve {
		case elliptic.P384():
			s := sha512.Sum384(message)
			sum, hash = s[:], crypto.SHA384
		case elliptic.P521():
			s := sha512.Sum512(message)
			sum, hash = s[:], crypto.SHA512
		default:
			s := sha256.Sum256(message)
			sum, hash = s[:], crypto.SHA256
		}
	default:
		s := sha256.Sum256(message)
		sum, hash = s[:], crypto.SHA256
	}
	sig, err := a.Key.Sign(rand.Reader, sum, hash)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// JSON encodes a value.
func JSON(t testing.TB, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
