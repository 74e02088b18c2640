package node

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Longest is for how long a credential can be good.
const Longest = 366 * 24 * time.Hour

// IssuerName is the name of the file of an Issuer in its folder.
const IssuerName = "issuer"

// Issuer signs the credentials by which workers on other machines come in, and says whose credentials are good. All nodes of a cluster have
// the same one.
type Issuer struct {
	key    nkeys.KeyPair
	public string
}

// NewIssuer returns the Issuer of a folder. The first call makes its file, of which the other nodes of a cluster get a copy.
func NewIssuer(ctx context.Context, dir string) (*Issuer, error) {
	seed, err := secret(ctx, dir, IssuerName, nkeys.CreateAccount)
	if err != nil {
		return nil, err
	}
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, IssuerName), err)
	}
	public, err := key.PublicKey()
	if err == nil && !nkeys.IsValidPublicAccountKey(public) {
		err = errors.New("it is the key of something else")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, IssuerName), err)
	}
	return &Issuer{key, public}, nil
}

// secret returns the seed of the key in a file of a folder. The first process that asks makes it.
func secret(ctx context.Context, dir, name string, create func() (nkeys.KeyPair, error)) (seed []byte, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := &lockfile.File{Path: filepath.Join(dir, name), Max: 1 << 10, Private: true}
	if seed, err = file.Read(); seed != nil || err != nil {
		return seed, err
	}
	err = file.Edit(ctx, func(old []byte) ([]byte, error) {
		if seed = old; seed != nil { // another process was first
			return seed, nil
		}
		made, err := create()
		if err == nil {
			seed, err = made.Seed()
		}
		return seed, err
	})
	return seed, err
}

// newUser returns a new key of a worker: its public half and its seed.
func newUser() (public string, seed []byte, err error) {
	key, err := nkeys.CreateUser()
	if err == nil {
		public, err = key.PublicKey()
	}
	if err == nil {
		seed, err = key.Seed()
	}
	return public, seed, err
}

// Secret derives a secret of 32 bytes for a purpose. It is the same for every copy of the Issuer.
func (i *Issuer) Secret(purpose string) ([]byte, error) {
	seed, err := i.key.Seed()
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, seed, nil, purpose, 32)
}

// Credential returns a credentials file of NATS for a worker: its key, its name and when it expires. The worker may do what Node.Admit
// describes. One credential cannot be revoked; another Issuer revokes all.
func (i *Issuer) Credential(worker string, until time.Time) ([]byte, error) {
	if err := checkName(worker); err != nil {
		return nil, err
	}
	if left := time.Until(until); left <= 0 || left > Longest {
		return nil, fmt.Errorf("a credential can be good for at most %d days, not until %s", int(Longest.Hours()/24), until.Format(time.DateOnly))
	}
	public, seed, err := newUser()
	if err != nil {
		return nil, err
	}
	claims := jwt.NewUserClaims(public)
	claims.Name, claims.Expires = worker, until.Unix()
	claims.Permissions = jwt.Permissions{} // its rights follow from its name
	token, err := claims.Encode(i.key)
	if err != nil {
		return nil, err
	}
	return jwt.FormatUserConfig(token, seed)
}

// WorkerOf returns the name of the worker that a credentials file of NATS is for; "" if it says none.
func WorkerOf(file []byte) string {
	token, err := jwt.ParseDecoratedJWT(file)
	if err != nil {
		return ""
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil || checkName(claims.Name) != nil {
		return ""
	}
	return claims.Name
}

// WithCredential returns the options by which a worker shows a credential to a node, or to a NATS server that knows it. A node reads it as
// a token, because the server in the node discards a JWT that it does not check itself.
func WithCredential(file []byte) ([]nats.Option, error) {
	token, err := jwt.ParseDecoratedJWT(file)
	if err != nil {
		return nil, err
	}
	key, err := jwt.ParseDecoratedUserNKey(file)
	if err != nil {
		return nil, err
	}
	seed, err := key.Seed()
	if err != nil {
		return nil, err
	}
	return []nats.Option{nats.UserJWTAndSeed(token, string(seed)), nats.Token(token)}, nil
}

// user returns the worker of a token. It returns an error unless the token is good and the nonce is signed with its key.
func (i *Issuer) user(token string, nonce []byte, signature string) (*server.User, error) {
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return nil, err
	}
	switch {
	case claims.Issuer != i.public:
		return nil, errors.New("another issuer signed it")
	case claims.Expires == 0 || !time.Now().Before(time.Unix(claims.Expires, 0)):
		return nil, errors.New("its time is over")
	}
	if err := checkName(claims.Name); err != nil {
		return nil, err
	}
	if err := signed(claims.Subject, nonce, signature); err != nil {
		return nil, err
	}
	return &server.User{Username: claims.Subject, Permissions: permissions(claims.Name), ConnectionDeadline: time.Unix(claims.Expires, 0)}, nil
}

// signed returns an error if a nonce is not signed with a key.
func signed(public string, nonce []byte, signature string) error {
	if len(nonce) == 0 {
		return errors.New("no nonce")
	}
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return err
	}
	key, err := nkeys.FromPublicKey(public)
	if err != nil {
		return err
	}
	return key.Verify(nonce, sig)
}

func checkName(worker string) error {
	if worker == "" || len(worker) > 64 || strings.ContainsFunc(worker, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return fmt.Errorf("%.100q is no name of a worker: use a-z, 0-9 and -, at most 64", worker)
	}
	return nil
}

// permissions returns what a worker of a name may do.
func permissions(worker string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"from." + worker + ".>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"to." + worker + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}
}
