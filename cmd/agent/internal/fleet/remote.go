package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// Remote is a node of a cluster, or a NATS server with JetStream.
type Remote struct {
	URL   string
	Creds []byte // what a file of credentials has, see node.WithCredential
	CA    string // a file of the certificates that sign those of the server; "" for those of the system
}

// connect connects to the server. say gets what becomes of the connection.
func (r *Remote) connect(say func(string)) (*nats.Conn, error) {
	shown, err := node.WithCredential(r.Creds)
	if err != nil {
		return nil, fmt.Errorf("the credentials for %s: %w", r.URL, err)
	}
	if r.CA != "" {
		shown = append(shown, nats.RootCAs(r.CA))
	}
	conn, err := nats.Connect(r.URL, append(shown, nats.Name("agent"), nats.MaxReconnects(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say(fmt.Sprintf("the connection to %s is lost (%v), and is made again", r.URL, err))
			}
		}), nats.ReconnectHandler(func(*nats.Conn) { say("connected to " + r.URL + " again") }))...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	return conn, nil
}

// open opens the node: that of the folder, or a connection to the server.
func (f *Fleet) open(ctx context.Context) (*node.Node, error) {
	if f.o.Remote == nil {
		return node.Open(ctx, &node.Options{Dir: f.o.Dir, Log: f.o.Warn, Cluster: f.o.Cluster})
	}
	conn, err := f.o.Remote.connect(f.o.Warn)
	if err != nil {
		return nil, err
	}
	return node.Of(conn), nil
}

// key returns the key that signs orders. It is new where this process admits the workers. Workers on other machines know that of the issuer
// in the folder, which all nodes of a cluster have: the file of its public half is for them.
func (f *Fleet) key(ctx context.Context) (ed25519.PrivateKey, error) {
	if f.o.Remote == nil && f.o.Cluster == nil {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	}
	issuer, err := node.NewIssuer(ctx, f.o.Dir)
	if err != nil {
		return nil, err
	}
	seed, err := issuer.Secret("the key that signs orders")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.o.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey) //nolint:forcetypeassert // it says so
	return private, lockfile.Write(root, signers, []byte(keyName(public)+"\n"), 0o644)
}

// signers is the name of the file with the public half of the key.
const signers = "signer.pub"

// keyName is the name of a key: itself.
func keyName(public ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(public) }

// Signers reads the keys whose orders a worker carries out: a line for each, as the file signer.pub of a server has it.
func Signers(text string) (map[string]ed25519.PublicKey, error) {
	out := map[string]ed25519.PublicKey{}
	for _, line := range strings.Fields(text) {
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%.60q is not the key of a server", line)
		}
		out[line] = key
	}
	if len(out) == 0 {
		return nil, errors.New("it has no key")
	}
	return out, nil
}

// For carries out the orders of these keys that come from a NATS server, until ctx is done. It connects again and again, unless the server
// refuses the credentials.
func (w *Worker) For(ctx context.Context, r *Remote, name string, keys map[string]ed25519.PublicKey) error {
	for said := false; ctx.Err() == nil; pause(ctx, beat) {
		conn, err := r.connect(w.Say)
		if err == nil {
			w.Say(fmt.Sprintf("worker %s takes runs of %s, %d at a time", name, r.URL, w.AtOnce))
			err = w.work(ctx, conn, &Admission{Name: name, Keys: keys})
			conn.Close()
		}
		if errors.Is(err, nats.ErrAuthorization) {
			return err
		}
		if err != nil && !said {
			w.Say(fmt.Sprintf("no runs come (%v): it is tried again", err))
			said = true
		}
	}
	return nil
}
