package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// Certificate returns a new certificate and its key, in PEM. It is that of a node at a host, signed by an authority; without one it is that
// of a new authority, and host is its name.
func Certificate(authority *tls.Certificate, host string, until time.Time) (cert, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	of := &x509.Certificate{Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until, BasicConstraintsValid: true}
	signer, by := any(own), of
	switch ip := net.ParseIP(host); {
	case authority == nil:
		of.IsCA, of.KeyUsage = true, x509.KeyUsageCertSign
	case ip != nil:
		of.IPAddresses = []net.IP{ip}
	default:
		of.DNSNames = []string{host}
	}
	if authority != nil {
		of.KeyUsage = x509.KeyUsageDigitalSignature
		of.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
		signer, by = authority.PrivateKey, authority.Leaf
	}
	der, err := x509.CreateCertificate(rand.Reader, of, by, &own.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}
