package git

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

// Token proves to one host who the operator is. It is sent by https to this host and port alone, and never where a server sends to.
type Token struct{ Host, User, Secret string }

// token returns the token for a URL, nil if there is none. The operator's own header for the host goes before it: a server refuses two.
func (c *Client) token(u *url.URL) *Token {
	if u.Scheme != "https" {
		return nil
	}
	for i := range c.o.Tokens {
		t := &c.o.Tokens[i]
		if t.Host != u.Host || t.Secret == "" {
			continue
		}
		for _, s := range c.own {
			if strings.HasPrefix(s.key, "http.https://"+t.Host) && strings.HasSuffix(strings.ToLower(s.key), ".extraheader") {
				return nil
			}
		}
		return t
	}
	return nil
}

// setting returns what makes git send a token. It is passed in a variable, which other users do not see.
func (t *Token) setting() setting {
	secret := base64.StdEncoding.EncodeToString([]byte(t.User + ":" + t.Secret))
	return setting{"http.https://" + t.Host + "/.extraHeader", "Authorization: Basic " + secret}
}

// remote runs git where it reaches a server, up to three times if the network fails. If it is refused, it tries again with the token
// of the host, and remembers that for later runs with this address. Errors are those of this package.
func (c *Client) remote(ctx context.Context, address string, k *call) (stdout []byte, stderr string, err error) {
	c.mu.Lock()
	known := k.token != nil && c.refused[address]
	c.mu.Unlock()
	k.send = known
	stdout, stderr, err = c.tries(ctx, address, k)
	if known || k.token == nil || !errors.Is(err, ErrAuth) && !errors.Is(err, ErrNotFound) {
		return stdout, stderr, err
	}
	c.mu.Lock()
	if c.refused == nil {
		c.refused = map[string]bool{}
	}
	c.refused[address] = true
	c.mu.Unlock()
	k.send = true
	return c.tries(ctx, address, k)
}

// NeededToken reports whether a repository was refused without a token, and so got one.
func (c *Client) NeededToken(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[address]
}
