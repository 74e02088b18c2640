package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// clusterFiles writes what three nodes on this machine need: a folder tls with ca, cert and key, and the variables LISTEN1 to LISTEN3 and
// ROUTE1 to ROUTE3 with addresses at which nobody listens.
func clusterFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: clusterfiles")
	}
	dir := filepath.Join(ts.Getenv("WORK"), "tls")
	ts.Check(os.MkdirAll(dir, 0o700))
	write := func(name, kind string, der []byte) {
		ts.Check(os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	authority, of := newKey(ts), &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &authority.PublicKey, authority)
	ts.Check(err)
	write("ca", "CERTIFICATE", der)
	key := newKey(ts)
	node := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: of.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err = x509.CreateCertificate(rand.Reader, node, of, &key.PublicKey, authority)
	ts.Check(err)
	write("cert", "CERTIFICATE", der)
	der, err = x509.MarshalECPrivateKey(key)
	ts.Check(err)
	write("key", "EC PRIVATE KEY", der)
	for i := range 3 {
		for _, name := range []string{"LISTEN", "ROUTE"} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			ts.Check(err)
			defer l.Close()
			ts.Setenv(fmt.Sprint(name, i+1), l.Addr().String())
		}
	}
}

func newKey(ts *testscript.TestScript) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	return key
}
