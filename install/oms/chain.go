package oms

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Limits of the user's own file of roots.
const (
	maxRootFile = 1 << 20
	maxRoots    = 200
)

// ReadRoots reads the certificates of a PEM file. They may be those of authorities, or those of single signers. It fails if
// the file has none, or a part that is not a certificate.
func ReadRoots(file string) ([]*x509.Certificate, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRootFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxRootFile {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxRootFile)
	}
	roots, err := ParseRoots(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return roots, nil
}

// ParseRoots reads certificates in PEM form, as ReadRoots does.
func ParseRoots(text []byte) ([]*x509.Certificate, error) {
	var roots []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("has %q, which is not a certificate", clip(block.Type))
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(roots)+1, err)
		}
		roots = append(roots, root)
	}
	switch {
	case bytes.Contains(text, []byte("-----BEGIN")):
		return nil, fmt.Errorf("certificate %d is damaged", len(roots)+1)
	case len(roots) == 0:
		return nil, errors.New("has no certificates in PEM form")
	case len(roots) > maxRoots:
		return nil, fmt.Errorf("has %d certificates, more than %d", len(roots), maxRoots)
	}
	return roots, nil
}

func signerOf(c *x509.Certificate) Signer {
	sum := sha256.Sum256(c.Raw)
	s := Signer{Name: c.Subject.CommonName, Subject: clip(c.Subject.String()), Issuer: clip(c.Issuer.String()), Fingerprint: hex.EncodeToString(sum[:]), Expires: c.NotAfter}
	if len(c.Subject.Organization) > 0 {
		s.Name += " (" + c.Subject.Organization[0] + ")"
	}
	if c.Subject.CommonName == "" {
		s.Name = s.Subject
	}
	if s.Name == "" {
		s.Name = "the certificate " + s.Fingerprint
	}
	s.Name = clip(s.Name)
	return s
}

// checkSignature checks the signature of the payload with the key of the first certificate.
func (b *bundle) checkSignature() error {
	// What is signed is the pre-authentication encoding of DSSE.
	message := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(b.payloadType), b.payloadType, len(b.payload), b.payload)
	signer := b.chain[0]
	if signer.KeyUsage != 0 && signer.KeyUsage&x509.KeyUsageDigitalSignature == 0 {
		return &fault{BadSignature, "the key of its certificate is not for signatures"}
	}
	var good bool
	switch key := signer.PublicKey.(type) {
	case *ecdsa.PublicKey:
		sum, err := hashFor(key, message)
		if err != nil {
			return err
		}
		good = ecdsa.VerifyASN1(key, sum, b.signature)
	case ed25519.PublicKey:
		good = ed25519.Verify(key, message, b.signature)
	default:
		return bad("keys of kind %v are not supported", signer.PublicKeyAlgorithm)
	}
	if !good {
		return &fault{BadSignature, "it was not made with the key of its certificate, or what it signs was changed"}
	}
	return nil
}

// hashFor returns the hash of a message that belongs to the curve of key.
func hashFor(key *ecdsa.PublicKey, message []byte) ([]byte, error) {
	switch bits := key.Curve.Params().BitSize; bits {
	case 256:
		sum := sha256.Sum256(message)
		return sum[:], nil
	case 384:
		sum := sha512.Sum384(message)
		return sum[:], nil
	case 521:
		sum := sha512.Sum512(message)
		return sum[:], nil
	default:
		return nil, bad("keys of %d bits are not supported", bits)
	}
}

// checkChain says whether the chain ends at a root of the user, and completes the signer.
func (b *bundle) checkChain(o *Options, s *Signer) (State, string) {
	if len(o.Roots) == 0 {
		return NoRoots, ""
	}
	at := o.Time
	if at.IsZero() {
		at = time.Now()
	}
	chain, err := b.verify(o.Roots, at)
	if err == nil {
		s.Root = signerOf(chain[len(chain)-1]).Name
		return Valid, ""
	}
	// Would it be valid at the first moment at which all certificates are?
	var from time.Time
	for _, c := range b.chain {
		if c.NotBefore.After(from) {
			from = c.NotBefore
		}
	}
	once, errOnce := b.verify(o.Roots, from)
	if errOnce != nil {
		return Untrusted, clip(err.Error())
	}
	for _, c := range once {
		if at.Before(c.NotBefore) || at.After(c.NotAfter) {
			return Expired, fmt.Sprintf("the certificate of %s is valid from %s to %s only", signerOf(c).Name, day(c.NotBefore), day(c.NotAfter))
		}
	}
	return Untrusted, clip(err.Error())
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// verify returns a chain from the certificate of the signer to one of roots, all valid at a time. A certificate that is for
// something else only, such as that of a web server, cannot sign.
func (b *bundle) verify(roots []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	o := x509.VerifyOptions{
		Roots:         x509.NewCertPool(),
		Intermediates: x509.NewCertPool(),
		CurrentTime:   at,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	}
	for _, c := range roots {
		o.Roots.AddCert(c)
	}
	for _, c := range b.chain[1:] {
		o.Intermediates.AddCert(c)
	}
	chains, err := b.chain[0].Verify(o)
	if err != nil {
		return nil, err
	}
	return chains[0], nil
}
