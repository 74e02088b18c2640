package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// Limits of the keys of an authorization server.
const (
	fetchTime = 10 * time.Second
	maxKeys   = 1 << 20 // bytes of an answer
	mostKeys  = 100
	freshKeys = 15 * time.Minute // then they are asked for again
	staleKeys = 1 * time.Hour    // so long they hold while the server does not answer
	perFetch  = 30 * time.Second // least time between two questions: tokens with unknown keys cost nothing
)

// keys are the keys of an authorization server. They are fetched when a token comes that needs them.
type keys struct {
	issuer, at string // at is "" if the metadata of the issuer say it
	client     *http.Client
	now        func() time.Time

	mu    sync.Mutex // held while they are fetched
	known []jose.JSONWebKey
	got   time.Time // when known was fetched
	tried time.Time // when that was last tried
}

// find returns the keys with an id, or all for a token that names none. It asks the server again if there is none, or what it knows is old.
func (k *keys) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	now := k.now()
	if (now.Sub(k.got) > freshKeys || len(k.named(id)) == 0) && now.Sub(k.tried) > perFetch {
		k.tried = now
		var fetched []jose.JSONWebKey
		if fetched, err = k.fetch(context.WithoutCancel(ctx)); err == nil { // others need them too; the client has a time-out
			k.known, k.got = fetched, now
		}
	}
	if now.Sub(k.got) > staleKeys {
		return nil, errors.Join(errors.New("the issuer's keys are not known"), err)
	}
	return k.named(id), nil
}

func (k *keys) named(id string) []jose.JSONWebKey {
	if id == "" {
		return k.known
	}
	return (&jose.JSONWebKeySet{Keys: k.known}).Key(id)
}

// fetch asks the server for its keys.
func (k *keys) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	at := k.at
	if at == "" {
		var err error
		if at, err = k.discover(ctx); err != nil {
			return nil, err
		}
	}
	var set struct{ Keys []json.RawMessage }
	if err := k.get(ctx, at, &set); err != nil {
		return nil, err
	}
	var out []jose.JSONWebKey
	for _, raw := range set.Keys[:min(len(set.Keys), mostKeys)] {
		var one jose.JSONWebKey // one of a form that is not known is none
		if json.Unmarshal(raw, &one) == nil && one.IsPublic() && one.Valid() && (one.Use == "" || one.Use == "sig") {
			out = append(out, one)
		}
	}
	return out, nil
}

// discover returns where the keys are, as the metadata of the issuer say.
func (k *keys) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(k.issuer)
	if err != nil {
		return "", err
	}
	path, origin := strings.TrimSuffix(u.Path, "/"), u.Scheme+"://"+u.Host
	var all []error
	for _, at := range []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path, origin + path + "/.well-known/openid-configuration"} {
		var m struct {
			Issuer string
			Keys   string `json:"jwks_uri"`
		}
		switch err := k.get(ctx, at, &m); {
		case err != nil:
			all = append(all, err)
		case m.Issuer != k.issuer:
			return "", fmt.Errorf("%s is about another issuer, %q", at, m.Issuer)
		default:
			return m.Keys, safe(m.Keys)
		}
	}
	return "", errors.Join(all...)
}

// get reads a document of JSON.
func (k *keys) get(ctx context.Context, at string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	res, err := k.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", at, res.Status)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxKeys+1))
	if err == nil && len(b) > maxKeys {
		err = fmt.Errorf("%s: the answer is longer than %d bytes", at, maxKeys)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
