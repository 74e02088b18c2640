package node

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	pair tls.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	cert, key, err := Certificate(nil, "test", time.Now().Add(time.Hour))
	if err == nil {
		a.pair, err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.write("ca", cert)
	return a
}

func (a *authority) write(name string, text []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// issue writes a certificate for a node of this machine.
func (a *authority) issue(name string) (cert, key string) {
	of, private, err := Certificate(&a.pair, "127.0.0.1", time.Now().Add(time.Hour))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".crt", of), a.write(name+".key", private)
}

func (a *authority) ca() string { return filepath.Join(a.dir, "ca") }

// ports returns free addresses of this machine.
func ports(t *testing.T, n int) (out []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out
}

func issuer(t *testing.T) *Issuer {
	t.Helper()
	i, err := NewIssuer(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// cluster starts three nodes, and returns them with the addresses for workers.
func cluster(t *testing.T, a *authority, i *Issuer) ([]*Node, []string) {
	t.Helper()
	listen, routes := ports(t, 3), ports(t, 3)
	nodes, errs := make([]*Node, 3), make([]error, 3)
	var all sync.WaitGroup
	for k := range nodes {
		cert, key := a.issue(fmt.Sprintf("n%d", k))
		o := &Options{Dir: t.TempDir(), Cluster: &Cluster{Name: fmt.Sprintf("n%d", k), Listen: listen[k], Route: routes[k], Peers: routes, Cert: cert, Key: key, CA: a.ca(), Issuer: i}}
		all.Go(func() { nodes[k], errs[k] = Open(t.Context(), o) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		t.Cleanup(n.Close)
	}
	return nodes, listen
}

// worker connects as one of a credential.
func worker(t *testing.T, a *authority, address string, credential []byte, o ...nats.Option) (*nats.Conn, error) {
	t.Helper()
	shown, err := WithCredential(credential)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect("tls://"+address, append(append(o, shown...), nats.RootCAs(a.ca()), nats.NoReconnect())...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

// Three nodes bear the loss of one, and a worker that came in at one of them is reached from the others.
func TestCluster(t *testing.T) {
	a, i := newAuthority(t), issuer(t)
	nodes, listen := cluster(t, a, i)
	js, err := jetstream.New(nodes[0].Conn())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // until all three are there
		if _, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s.*"}, Replicas: 3}); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if _, err := js.Publish(t.Context(), "s.1", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	credential, err := i.Credential("w", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := worker(t, a, listen[1], credential)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Subscribe("to.w.ask", func(m *nats.Msg) { _ = m.Respond([]byte("here")) }); err != nil || conn.Flush() != nil {
		t.Fatal(err)
	}
	leads := slices.IndexFunc(nodes, func(n *Node) bool { return n.server.JetStreamIsStreamLeader("$G", "s") })
	if leads == 1 { // the worker is there
		leads = 2
	}
	nodes[leads].Close()
	for k, n := range nodes {
		if k == leads {
			continue
		}
		js, err := jetstream.New(n.Conn())
		if err != nil {
			t.Fatal(err)
		}
		var got *jetstream.RawStreamMsg
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			var s jetstream.Stream
			if s, err = js.Stream(t.Context(), "s"); err == nil {
				if got, err = s.GetMsg(t.Context(), 1); err == nil {
					break
				}
			}
		}
		if err != nil || string(got.Data) != "kept" {
			t.Errorf("node %d: %v", k, err)
		}
		if m, err := n.Conn().Request("to.w.ask", nil, 5*time.Second); err != nil || string(m.Data) != "here" {
			t.Errorf("node %d does not reach the worker: %v", k, err)
		}
	}
}

// one starts a node that workers reach.
func one(t *testing.T, a *authority, i *Issuer) (*Node, string) {
	t.Helper()
	listen := ports(t, 1)[0]
	cert, key := a.issue("one")
	n, err := Open(t.Context(), &Options{Dir: t.TempDir(), Cluster: &Cluster{Name: "one", Listen: listen, Cert: cert, Key: key, CA: a.ca(), Issuer: i}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, listen
}

// A worker comes in with a credential of the issuer, in its time and with its key, and by nothing else.
func TestCredential(t *testing.T) {
	a, i, other := newAuthority(t), issuer(t), issuer(t)
	_, listen := one(t, a, i)
	give := func(by *Issuer, name string, left time.Duration) []byte {
		t.Helper()
		c, err := by.Credential(name, time.Now().Add(left))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	good := give(i, "w", time.Hour)
	owner, err := jwt.ParseDecoratedUserNKey(good)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := owner.Seed()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := mine.Seed()
	if err != nil {
		t.Fatal(err)
	}
	stolen := bytes.Replace(good, theirs, seed, 1)
	if bytes.Equal(stolen, good) {
		t.Fatalf("no seed in %s", good)
	}
	forever := jwt.NewUserClaims(public(t, mine))
	forever.Name = "w"
	everlasting, err := forever.Encode(i.key)
	if err != nil {
		t.Fatal(err)
	}
	noEnd, err := jwt.FormatUserConfig(everlasting, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name       string
		credential []byte
		ok         bool
	}{
		{"a good one", good, true},
		{"of another issuer", give(other, "w", time.Hour), false},
		{"with the key of somebody else", stolen, false},
		{"without an end", noEnd, false},
	} {
		if _, err := worker(t, a, listen, row.credential); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if _, err := nats.Connect("tls://"+listen, nats.RootCAs(a.ca()), nats.NoReconnect()); err == nil {
		t.Error("it came in without a credential")
	}
	if _, err := worker(t, newAuthority(t), listen, good); err == nil {
		t.Error("the worker speaks with a node of another authority")
	}
	closed := make(chan bool)
	short := give(i, "w", 2*time.Second)
	if _, err := worker(t, a, listen, short, nats.ClosedHandler(func(*nats.Conn) { close(closed) })); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("it stays when its time is over")
	}
	if _, err := worker(t, a, listen, short); err == nil {
		t.Error("it came in when its time was over")
	}
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a credential says about its rights is not believed: the name says them.
func TestCredentialRights(t *testing.T) {
	a, i := newAuthority(t), issuer(t)
	n, listen := one(t, a, i)
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewUserClaims(public(t, key))
	claims.Name, claims.Expires = "w", time.Now().Add(time.Hour).Unix()
	claims.Permissions.Pub.Allow.Add(">")
	claims.Permissions.Sub.Allow.Add(">")
	token, err := claims.Encode(i.key)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	credential, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 20)
	conn, err := worker(t, a, listen, credential, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 20)
	for _, subject := range []string{">", "to.other.>", "to.w.>", "run.*", "$SYS.>", "$JS.API.>", "state.>", "content.>"} {
		if _, err := conn.Subscribe(subject, func(m *nats.Msg) { heard <- m.Subject }); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"to.other.run", "run.t", "to.w.run"} {
		if err := n.Conn().Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Conn().Flush(); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "to.w.run" {
		t.Errorf("it heard %s", got)
	}
	for _, subject := range []string{"from.other.beat", "$JS.API.STREAM.LIST", "run.t", "to.other.run", "state.doc.t.t.t", "content.x.end", "$JS.API.STREAM.MSG.GET.STATE", "admit.one"} {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 15 {
		select {
		case err := <-refused:
			if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a subject was not refused")
		}
	}
}

// The issuer of a folder stays, and its copy in another folder issues the same.
func TestIssuer(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	first, err := NewIssuer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	made := make([]string, 8) // at the same time, in a new folder
	var all sync.WaitGroup
	for k, d := range slices.Repeat([]string{t.TempDir()}, len(made)) {
		all.Go(func() {
			if i, err := NewIssuer(t.Context(), d); err != nil {
				t.Error(err)
			} else {
				made[k] = i.public
			}
		})
	}
	all.Wait()
	if one := slices.Compact(made); len(one) != 1 {
		t.Errorf("one folder has the issuers %v", one)
	}
	text, err := os.ReadFile(filepath.Join(dir, IssuerName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, IssuerName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, other} {
		if again, err := NewIssuer(t.Context(), d); err != nil || again.public != first.public {
			t.Errorf("%v", err)
		}
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{[]byte("x"), bytes.ToLower(text), seed} {
		if err := os.WriteFile(filepath.Join(other, IssuerName), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewIssuer(t.Context(), other); err == nil || !strings.Contains(err.Error(), IssuerName) {
			t.Errorf("%.5s: %v", bad, err)
		}
	}
	for _, row := range []struct {
		name string
		left time.Duration
	}{{"A", time.Hour}, {"", time.Hour}, {"a.b", time.Hour}, {"a*", time.Hour}, {strings.Repeat("a", 65), time.Hour}, {"a", 0}, {"a", Longest + time.Hour}} {
		if _, err := first.Credential(row.name, time.Now().Add(row.left)); err == nil {
			t.Errorf("%q for %v", row.name, row.left)
		}
	}
}

// A node of another authority does not join, and a cluster that cannot work says why.
func TestClusterRefuses(t *testing.T) {
	a, i := newAuthority(t), issuer(t)
	cert, key := a.issue("x")
	good := Cluster{Name: "x", Listen: "127.0.0.1:1", Cert: cert, Key: key, CA: a.ca(), Issuer: i}
	for want, edit := range map[string]func(c *Cluster){
		"leave room for the names":        func(c *Cluster) { c.Name = strings.Repeat("n", 49) },
		"is no name":                      func(c *Cluster) { c.Name = "" },
		"no Issuer":                       func(c *Cluster) { c.Issuer = nil },
		"write it as HOST:PORT":           func(c *Cluster) { c.Listen = "127.0.0.1" },
		"is no port":                      func(c *Cluster) { c.Listen = "127.0.0.1:http" },
		"\"0\" is no port":                func(c *Cluster) { c.Listen = "127.0.0.1:0" },
		"name at least 3":                 func(c *Cluster) { c.Route, c.Peers = "127.0.0.1:2", []string{"127.0.0.1:2", "127.0.0.1:3"} },
		"no such file":                    func(c *Cluster) { c.Cert = filepath.Join(a.dir, "none") },
		"no certificate in PEM":           func(c *Cluster) { c.CA = key },
		"failed to find any PEM data":     func(c *Cluster) { c.Key = a.write("empty", nil) },
		`"127.0.0.1:70000": "70000" is n`: func(c *Cluster) { c.Listen = "127.0.0.1:70000" },
	} {
		c := good
		edit(&c)
		if n, err := Open(t.Context(), &Options{Dir: t.TempDir(), Cluster: &c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
			if err == nil {
				n.Close()
			}
		}
	}
}

func TestForeignNode(t *testing.T) {
	a, i, foreign := newAuthority(t), issuer(t), newAuthority(t)
	nodes, _ := cluster(t, a, i)
	routes := nodes[0].server.ClusterAddr()
	cert, key := foreign.issue("foreign")
	mine := ports(t, 3)
	c := &Cluster{Name: "foreign", Listen: mine[0], Route: mine[1], Peers: []string{mine[1], routes.String(), mine[2]}, Cert: cert, Key: key, CA: a.ca(), Issuer: i}
	if n, err := Open(t.Context(), &Options{Dir: t.TempDir(), Cluster: c, wait: 3 * time.Second}); err == nil {
		n.Close()
		t.Error("it has joined")
	}
	if got := nodes[0].server.NumRoutes(); got == 0 {
		t.Error("the others lost each other")
	}
	for _, n := range nodes {
		for _, peer := range n.server.JetStreamClusterPeers() {
			if peer == "foreign" {
				t.Error("it is a peer")
			}
		}
	}
}
