package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/mcpserve"
)

// minToken is the least number of characters of a token.
const minToken = 16

// tokens are those who may call, by the hash of their token: comparing hashes takes the same time for each token.
type tokens map[[sha256.Size]byte]string

// readTokens reads a file of names and tokens; nil for "".
func readTokens(path, credentials string) (tokens, error) {
	b, err := setup.Secret(path, credentials)
	if b == nil || err != nil {
		return nil, err
	}
	out := tokens{}
	for n, line := range strings.Split(string(b), "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case strings.HasPrefix(fields[0], oauthName) || strings.HasPrefix(fields[0], claimName):
			return nil, fmt.Errorf("%s:%d: a name does not begin with %s or %s", path, n+1, oauthName, claimName)
		case len(fields) != 2 || len(fields[1]) < minToken:
			return nil, fmt.Errorf("%s:%d: write a name, a space and a token of at least %d characters", path, n+1, minToken)
		}
		sum := sha256.Sum256([]byte(fields[1]))
		if was, ok := out[sum]; ok && was != fields[0] {
			return nil, fmt.Errorf("%s:%d: %s and %s have the same token", path, n+1, was, fields[0])
		}
		out[sum] = fields[0]
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no token", path)
	}
	return out, nil
}

var errUnknown = errors.New("unknown token")

// verify returns who has a token.
func (t tokens) verify(_ context.Context, token string) (*mcpserve.Caller, error) {
	name, ok := t[sha256.Sum256([]byte(token))]
	if !ok {
		return nil, errUnknown
	}
	return &mcpserve.Caller{Subject: name}, nil
}
