package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// Remote is a node of a cluster, or a NATS server of others with JetStream.
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

// key returns what signs orders: a new key, that of a cluster, whose workers take orders of each node, or for a server of others the one in
// the folder. Its public half is there for workers that others start.
func (f *Fleet) key(ctx context.Context) (ed25519.PrivateKey, error) {
	if f.o.Remote == nil && f.o.Cluster == nil {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	}
	if err := os.MkdirAll(f.o.Dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.o.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	seed, err := f.seed(ctx, root)
	if err != nil {
		return nil, err
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey) //nolint:forcetypeassert // it says so
	return private, lockfile.Write(root, signers, []byte(keyName(public)+"\n"), 0o644)
}

// seed returns what the key is made of. In the folder the first one makes it.
func (f *Fleet) seed(ctx context.Context, dir *os.Root) ([]byte, error) {
	if f.o.Remote == nil {
		return f.o.Cluster.Issuer.Secret("the key that signs orders")
	}
	unlock, err := lockfile.Lock(ctx, filepath.Join(f.o.Dir, "signer.lock"), patience)
	if err != nil {
		return nil, err
	}
	defer unlock()
	seed, err := lockfile.ReadPrivate(filepath.Join(f.o.Dir, "signer"), 1<<10)
	if err == nil && len(seed) != ed25519.SeedSize {
		err = fmt.Errorf("%s is no key: remove it, and give workers the new %s", filepath.Join(f.o.Dir, "signer"), signers)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return seed, err
	}
	seed = make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // it never fails
	return seed, lockfile.Write(dir, "signer", seed, 0o600)
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

// For works for the servers of these keys, over a NATS server, until ctx is done. It waits for that, unless it refuses the credentials.
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
