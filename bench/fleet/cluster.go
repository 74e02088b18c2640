package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// cluster measures empty runs with three nodes on this machine, which keep three copies. The workers are at the first one.
func cluster(ctx context.Context, _ string) error {
	dir, err := os.MkdirTemp("", "yard")
	if err != nil {
		return err
	}
	y := &yard{dir: filepath.Join(dir, "n0")}
	cert, key, err := certificate(dir)
	if err != nil {
		return err
	}
	issuer, err := node.NewIssuer(ctx, dir)
	if err != nil {
		return err
	}
	at := make([]string, 6)
	for i := range at {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		at[i] = l.Addr().String()
		_ = l.Close() // another one is not given the same soon
	}
	var all sync.WaitGroup
	y.nodes = make([]*node.Node, 3)
	errs := make([]error, 3)
	for i := range y.nodes {
		name := fmt.Sprint("n", i)
		of := &node.Cluster{Name: name, Listen: at[i], Route: at[3+i], Peers: at[3:], Cert: cert, Key: key, CA: cert, Issuer: issuer}
		all.Go(func() {
			y.nodes[i], errs[i] = node.Open(ctx, &node.Options{Dir: filepath.Join(dir, name), Cluster: of})
		})
	}
	all.Wait()
	defer os.RemoveAll(dir)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	defer y.close()
	o := &dispatch.Options{Quota: 10_000, AtOnce: 1024, Replicas: 3}
	if err := y.begin(ctx, o, nil, 4, 256, func(context.Context, *dispatch.Run, uint64) []byte { return make([]byte, 300) }); err != nil {
		return err
	}
	return y.throughput(ctx, "three nodes")
}

// certificate writes a certificate of this machine, which signs itself, and its key.
func certificate(dir string) (cert, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	return cert, key, errors.Join(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600))
}
