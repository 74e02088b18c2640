package git

import (
	"context"
	"net/url"
	"slices"
	"strings"
)

// Of the operator's configuration these keys are read. They say how to prove who the operator is, by which way the server is
// reached and how long it may be silent; the credential helpers among them are programs that the operator chose.
const (
	ownKeys   = `^(credential\..*|http\.(.*\.)?(proxy|proxyauthmethod|proxysslcert|proxysslkey|proxysslcainfo|sslcainfo|sslcapath|sslcert|sslkey|sslbackend|schannelusesslcainfo|emptyauth|delegation)|http\.https://.*\.extraheader|http\.lowspeedtime)$`
	insteadOf = `^url\..*\.insteadof$`
)

// mostConfiguration is the most bytes of the operator's configuration that are read.
const mostConfiguration = 1 << 20

// readOwn reads the operator's settings once. Without any, or where they cannot be read, there are none.
func (c *Client) readOwn(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read {
		return nil
	}
	var own []setting
	for _, p := range []string{ownKeys, insteadOf} {
		said, _, err := c.run(ctx, &call{args: []string{"config", "--includes", "-z", "--get-regexp", p}, most: mostConfiguration, operator: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			own = append(own, parseSettings(string(said))...)
		}
	}
	c.own, c.read = slices.DeleteFunc(own, leadsElsewhere), true
	return nil
}

// leadsElsewhere reports whether a setting makes another repository out of a URL: url.*.insteadOf, unless it only adds the name and the
// password of a user to the URL of a server. Those of continuous integration do that.
func leadsElsewhere(s setting) bool {
	base, ok := strings.CutPrefix(s.key, "url.")
	if !ok {
		return false
	}
	base, ok = strings.CutSuffix(base, ".insteadof")
	to, err := url.Parse(base)
	from, err2 := url.Parse(s.value)
	if !ok || err != nil || err2 != nil || to.Scheme != "https" || from.User != nil {
		return true
	}
	to.User = nil
	return to.String() != from.String()
}

// parseSettings reads the output of git config -z: a key, a line break, a value and a NUL.
func parseSettings(said string) []setting {
	var out []setting
	for line := range strings.SplitSeq(said, "\x00") {
		if key, value, ok := strings.Cut(line, "\n"); ok && key != "" {
			out = append(out, setting{key, value})
		}
	}
	return out
}
