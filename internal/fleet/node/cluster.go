package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// Cluster says how a node is reached from other machines. Everything that comes from there is encrypted.
type Cluster struct {
	Name   string   // of this node: as that of a worker, unique in the cluster, and always the same
	Listen string   // HOST:PORT for workers
	Route  string   // HOST:PORT for the other nodes; "" where there are none
	Peers  []string // HOST:PORT of the routes of all nodes, or of the others; three nodes bear the loss of one

	// Cert, Key and CA are files in PEM. Nodes show their certificates to each other and to workers; CA signs those of nodes, and of
	// nobody else. A certificate that is replaced is used from the next connection on.
	Cert, Key, CA string

	// Issuer says whose credentials are good.
	Issuer *Issuer
}

// clusterName is the name of every cluster. The certificates say which nodes belong to one.
const clusterName = "agent"

const (
	maxPEM     = 1 << 20 // bytes
	maxName    = 48
	leaderTime = 2 * time.Minute // for the other nodes to come, and to choose a leader
	routeTime  = 10              // seconds for the handshake with another node
	pingTime   = 3 * time.Second // after which a connection is asked whether it works; the third time without an answer it is closed
	fewest     = 3               // nodes that bear the loss of one
)

// nodes returns how many nodes there are.
func (c *Cluster) nodes() int {
	if c == nil || c.Route == "" {
		return 1
	}
	if slices.Contains(c.Peers, c.Route) {
		return len(c.Peers)
	}
	return len(c.Peers) + 1
}

// add adds what c says to the options of a server.
func (c *Cluster) add(o *server.Options) error {
	if err := checkName(c.Name); err != nil {
		return fmt.Errorf("the name of a node: %w", err)
	}
	if len(c.Name) > maxName {
		return fmt.Errorf("the name of a node has %d letters, at most %d leave room for the names of its workers", len(c.Name), maxName)
	}
	if n := c.nodes(); c.Route != "" && n < fewest {
		return fmt.Errorf("a cluster of %d nodes does not bear the loss of one: name at least %d", n, fewest)
	}
	outside, inside, err := c.tls()
	if err != nil {
		return err
	}
	if c.Issuer == nil {
		return errors.New("node.Cluster: no Issuer")
	}
	if o.Host, o.Port, err = hostPort(c.Listen); err != nil {
		return err
	}
	o.ServerName, o.DontListen, o.TLSConfig, o.TLSTimeout = c.Name, false, outside, routeTime
	if c.Route == "" {
		return nil
	}
	o.Cluster = server.ClusterOpts{Name: clusterName, TLSConfig: inside, TLSTimeout: routeTime, NoAdvertise: true, PingInterval: pingTime}
	if o.Cluster.Host, o.Cluster.Port, err = hostPort(c.Route); err != nil {
		return err
	}
	for _, peer := range c.Peers {
		if _, _, err := hostPort(peer); err != nil {
			return err
		}
		if peer != c.Route {
			o.Routes = append(o.Routes, &url.URL{Scheme: "tls", Host: peer})
		}
	}
	return nil
}

func hostPort(address string) (string, int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("address %.200q: write it as HOST:PORT", address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("address %.200q: %.20q is no port", address, port)
	}
	return host, int(n), nil
}

// tls returns what a node shows to workers, and what nodes show to each other.
func (c *Cluster) tls() (outside, inside *tls.Config, _ error) {
	ca, err := lockfile.Read(c.CA, maxPEM)
	if err != nil {
		return nil, nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, nil, fmt.Errorf("%s has no certificate in PEM", c.CA)
	}
	own := func() (*tls.Certificate, error) {
		cert, err := lockfile.Read(c.Cert, maxPEM)
		if err != nil {
			return nil, err
		}
		key, err := lockfile.Read(c.Key, maxPEM)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", c.Cert, c.Key, err)
		}
		return &pair, nil
	}
	if _, err := own(); err != nil {
		return nil, nil, err
	}
	outside = &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own() }}
	inside = outside.Clone()
	inside.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own() }
	inside.ClientAuth, inside.ClientCAs, inside.RootCAs = tls.RequireAndVerifyClientCert, pool, pool
	return outside, inside, nil
}

// leader waits until the nodes have chosen who leads them: before that nothing can be stored.
func (n *Node) leader(ctx context.Context) error {
	js, err := jetstream.New(n.conn)
	if err != nil {
		return err
	}
	err = patience.Ask(ctx, leaderTime, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second) // a node that has no leader does not answer
		defer cancel()
		_, err := js.AccountInfo(ctx)
		return err
	}, nil)
	if err != nil {
		err = fmt.Errorf("the nodes of the cluster have no leader: start agent serve on most of their machines, and let them reach each other (%w)", err)
	}
	return err
}
