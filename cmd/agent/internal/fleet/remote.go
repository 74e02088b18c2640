package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// SigningKey returns the key that signs orders. It is that of the issuer in the folder of a node, which all nodes of a cluster have. It
// writes the file of its public half, which workers get.
func SigningKey(ctx context.Context, dir string) (ed25519.PrivateKey, error) {
	issuer, err := node.NewIssuer(ctx, dir)
	if err != nil {
		return nil, err
	}
	seed, err := issuer.Secret("the key that signs orders")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
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

// Signers reads the keys whose orders a worker carries out from a file: a line for each, as the file signer.pub of a server has it.
func Signers(path string) (map[string]ed25519.PublicKey, error) {
	text, err := lockfile.Read(path, 1<<20)
	if err != nil {
		return nil, err
	}
	out := map[string]ed25519.PublicKey{}
	for _, line := range strings.Fields(string(text)) {
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%s: %.60q is not the key of a server", path, line)
		}
		out[line] = key
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no key of a server", path)
	}
	return out, nil
}

// For carries out the orders of these keys that come from a NATS server, until ctx is done. It connects again and again, unless the server
// refuses the credentials, or it was drained: the error is dispatch.ErrDrained then.
func (w *Worker) For(ctx context.Context, r *node.Remote, name string, keys map[string]ed25519.PublicKey) error {
	for said := false; ctx.Err() == nil; pause(ctx, beat) {
		conn, err := r.Connect(w.Say)
		if err == nil {
			w.Say(fmt.Sprintf("worker %s takes runs of %s, %d at a time", name, r.URL, w.AtOnce))
			err = w.work(ctx, conn, &Admission{Name: name, Keys: keys})
			conn.Close()
		}
		if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, dispatch.ErrDrained) {
			return err
		}
		if err != nil && !said {
			w.Say(fmt.Sprintf("no runs come (%v): it is tried again", err))
			said = true
		}
	}
	return nil
}
