package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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
	cert, key, ca, err := certificate(dir)
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
		of := &node.Cluster{Name: name, Listen: at[i], Route: at[3+i], Peers: at[3:], Cert: cert, Key: key, CA: ca, Issuer: issuer}
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

// certificate writes what nodes of this machine need: their certificate, its key, and the certificate of its authority.
func certificate(dir string) (cert, key, ca string, err error) {
	until := time.Now().Add(24 * time.Hour)
	signer, signerKey, err := node.Certificate(nil, "bench", until)
	if err != nil {
		return "", "", "", err
	}
	authority, err := tls.X509KeyPair(signer, signerKey)
	if err != nil {
		return "", "", "", err
	}
	own, ownKey, err := node.Certificate(&authority, "127.0.0.1", until)
	cert, key, ca = filepath.Join(dir, "cert"), filepath.Join(dir, "key"), filepath.Join(dir, "ca")
	return cert, key, ca, errors.Join(err, os.WriteFile(cert, own, 0o600), os.WriteFile(key, ownKey, 0o600), os.WriteFile(ca, signer, 0o600))
}
