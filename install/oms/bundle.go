package oms

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Limits of a bundle. Those of 344 published skills have 40 kB, 3 certificates and 200 files at most.
const (
	maxBundle       = 8 << 20  // bytes of the file
	maxCertificates = 8        // of a chain
	maxCertificate  = 16 << 10 // bytes of one
	maxNesting      = 16       // of objects and arrays
	maxFiles        = 20_000   // signed, and files and folders that a skill may have
)

// readBundle returns the content of the bundle, or nil if there is none.
func readBundle(fsys fs.FS) ([]byte, error) {
	info, err := fs.Lstat(fsys, File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, bad("%s is not a regular file", File)
	}
	f, err := fsys.Open(File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxBundle+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBundle {
		return nil, bad("%s has more than %d bytes", File, maxBundle)
	}
	return raw, nil
}

// bundle is a Sigstore bundle with a chain of certificates and one signature.
type bundle struct {
	chain       []*x509.Certificate // the signer's first; at least one
	payloadType string
	payload     []byte
	signature   []byte
}

// parseBundle reads a bundle. It checks nothing but its form.
func parseBundle(raw []byte) (*bundle, error) {
	var in struct {
		MediaType string `json:"mediaType"`
		Material  struct {
			PublicKey   json.RawMessage `json:"publicKey"`
			Certificate json.RawMessage `json:"certificate"`
			Chain       struct {
				Certificates []struct {
					RawBytes []byte `json:"rawBytes"`
				} `json:"certificates"`
			} `json:"x509CertificateChain"`
		} `json:"verificationMaterial"`
		Envelope struct {
			Payload     []byte `json:"payload"`
			PayloadType string `json:"payloadType"`
			Signatures  []struct {
				Sig []byte `json:"sig"`
			} `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	if err := decode(raw, &in); err != nil {
		return nil, err
	}
	chain := in.Material.Chain.Certificates
	switch {
	case !strings.HasPrefix(in.MediaType, "application/vnd.dev.sigstore.bundle"):
		return nil, bad("its media type is %q, not that of a Sigstore bundle", clip(in.MediaType))
	case in.Material.PublicKey != nil || in.Material.Certificate != nil:
		return nil, bad("it has a bare key or a short-lived certificate; only chains of certificates are supported")
	case len(chain) == 0 || len(chain) > maxCertificates:
		return nil, bad("it has %d certificates, not 1 to %d", len(chain), maxCertificates)
	case len(in.Envelope.Signatures) != 1:
		return nil, bad("it has %d signatures, not 1", len(in.Envelope.Signatures))
	}
	b := &bundle{payloadType: in.Envelope.PayloadType, payload: in.Envelope.Payload, signature: in.Envelope.Signatures[0].Sig}
	for i, c := range chain {
		if len(c.RawBytes) > maxCertificate {
			return nil, bad("certificate %d has %d bytes, more than %d", i+1, len(c.RawBytes), maxCertificate)
		}
		parsed, err := x509.ParseCertificate(c.RawBytes)
		if err != nil {
			return nil, bad("certificate %d: %v", i+1, err)
		}
		b.chain = append(b.chain, parsed)
	}
	return b, nil
}

// decode reads one JSON value. Unlike package json it refuses an object that has a name twice: readers differ about what such
// an object means.
func decode(raw []byte, to any) error {
	if !utf8.Valid(raw) {
		return bad("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := checkNames(d, 0); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
			return bad("it has invalid base64")
		}
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return bad("it is not a bundle: %q is of type %s", clip(e.Field), e.Value)
		}
		return bad("it is not valid JSON: %v", err)
	}
	return nil
}

// checkNames reads one value of d and fails if an object in it has a name twice. As package json ignores case, so does it.
func checkNames(d *json.Decoder, depth int) error {
	if depth > maxNesting {
		return bad("its values are nested deeper than %d", maxNesting)
	}
	token, err := d.Token()
	if err != nil {
		return bad("it is not valid JSON: %v", err)
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if token == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return bad("it is not valid JSON: %v", err)
			}
			name := strings.ToLower(strings.ToUpper(fmt.Sprint(key)))
			if seen[name] {
				return bad("it has %q twice", clip(name))
			}
			seen[name] = true
		}
		if err := checkNames(d, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return bad("it is not valid JSON: %v", err)
	}
	return nil
}

// clip shortens a text of a bundle for a message.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
