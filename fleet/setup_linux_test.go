package fleet

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	random "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
)

// newCrowd starts a fleet of so many nodes and workers, with two replicas, or one where there is one node.
func newCrowd(t *testing.T, nodes, workers int, b broken) *crowd {
	dir, err := os.MkdirTemp("", "fleet") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := &crowd{t: t, parts: map[string]part{}, all: map[string]*exec.Cmd{}, inputs: map[string]io.Closer{}, ledger: newLedger(), gaps: map[string][]time.Duration{},
		random: random.New(random.NewPCG(seed, 1)), clocks: filepath.Join(dir, "clocks"), nodes: []string{"n0", "n1", "n2"}[:nodes], workers: []string{"a", "b", "c", "d"}[:workers],
		part: part{Public: public, Seed: private.Seed(), Cache: scratch.Dir(t), Effects: scratch.Dir(t), Skill: t.TempDir(), Beat: beat, Repeat: b.repeat, Escape: b.escape}}
	script := "sleep $3; echo x >>\"$2/$1\"; sleep $3; echo did\n"
	if b.hollow {
		script = "sleep $3; echo did\n"
	}
	if b.escape { // without its worker it stays for longer than is waited for it
		script += "kill -0 $PPID 2>&- || sleep 20\n"
	}
	probe.In(t, c.part.Skill, probe.Tree{"scripts/a.sh": script})
	if err := os.Mkdir(c.clocks, 0o700); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	if *inNamespaces && nodes > 1 {
		c.net = newNetwork(t)
	}
	for i, name := range slices.Concat(c.nodes, c.workers) {
		addresses[name] = "127.0.0.1"
		if c.net != nil {
			addresses[name] = fmt.Sprintf("10.77.0.%d", i+1)
			c.net.add(name, addresses[name])
		}
	}
	c.startAll(dir, addresses)
	return c
}

// startAll starts the processes. Nodes have folders below dir.
func (c *crowd) startAll(dir string, addresses map[string]string) {
	cert, key := certificate(c.t, dir, addresses)
	var listen, routes, urls []string
	for _, name := range c.nodes {
		p := ports(c.t, 2)
		listen = append(listen, fmt.Sprintf("%s:%d", addresses[name], p[0]))
		routes = append(routes, fmt.Sprintf("%s:%d", addresses[name], p[1]))
		urls = append(urls, "tls://"+listen[len(listen)-1])
	}
	issuer, err := node.NewIssuer(c.t.Context(), dir)
	if err != nil {
		c.t.Fatal(err)
	}
	for i, name := range c.nodes {
		p := c.part
		p.Role, p.Name, p.Node = "node", name, filepath.Join(dir, name)
		if p.Cluster = (&node.Cluster{Name: name, Listen: listen[i], Cert: cert, Key: key, CA: cert}); len(c.nodes) > 1 {
			p.Cluster.Route, p.Cluster.Peers = routes[i], routes
		}
		if err := os.Mkdir(p.Node, 0o700); err != nil {
			c.t.Fatal(err)
		}
		if c.net != nil {
			small(c.t, p.Node)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "issuer")); err != nil || os.WriteFile(filepath.Join(p.Node, "issuer"), text, 0o600) != nil {
			c.t.Fatal("the issuer is not copied")
		}
		c.begin(name, p)
		if i < 2 {
			p.Role, p.Name = "replica", "r"+name[1:]
			c.replicas = append(c.replicas, p.Name)
			c.begin(p.Name, p)
		}
	}
	for _, name := range c.workers {
		p := c.part
		p.Role, p.Name, p.CA, p.Servers = "worker", name, cert, strings.Join(urls, ",")
		if p.Creds, err = issuer.Credential(name, time.Now().Add(10*24*time.Hour)); err != nil {
			c.t.Fatal(err)
		}
		c.begin(name, p)
	}
}

// begin starts a process for the first time.
func (c *crowd) begin(name string, p part) {
	c.parts[name] = p
	c.start(name)
}

// certificate writes a certificate that signs itself, for all nodes.
func certificate(t *testing.T, dir string, addresses map[string]string) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-240 * time.Hour), NotAfter: time.Now().Add(240 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for _, a := range addresses {
		of.IPAddresses = append(of.IPAddresses, net.ParseIP(a))
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	err = errors.Join(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// ports returns free ports of this machine.
func ports(t *testing.T, n int) (out []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// start starts a process of the fleet.
func (c *crowd) start(name string) {
	c.t.Helper()
	p := c.parts[name]
	if p.Role == "replica" {
		c.starts++
		p.Name += fmt.Sprintf("x%d", c.starts)
	}
	cmd := c.command(p, c.net.in(name)...)
	cmd.Env = append(cmd.Env, clockVariable+"="+filepath.Join(c.clocks, name))
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if c.inputs[name], err = cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.all[name] = cmd
	c.readers.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.ledger.note(name, lines.Text())
		}
	})
}

// kill kills a process, and returns what starts it again. What runs in a worker ends with it.
func (c *crowd) kill(name string) func() {
	scripts := c.scripts(c.all[name].Process.Pid)
	c.signal(name, syscall.SIGKILL)
	_ = c.all[name].Wait()
	c.orphans += c.stay(scripts)
	return func() { c.start(name) }
}

func (c *crowd) pause(name string) func() {
	c.signal(name, syscall.SIGSTOP)
	return func() { c.signal(name, syscall.SIGCONT) }
}
