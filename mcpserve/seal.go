package mcpserve

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/agent-base/agent-base/session"
)

// holds is how long a handle can be used.
const holds = 24 * time.Hour

// maxHandle is the most characters of a handle that is looked at.
const maxHandle = 64 << 10

// sealed is what a handle says.
type sealed struct {
	Of    string        `json:"of,omitempty"` // the caller that it is for
	State session.State `json:"state"`
	Until time.Time     `json:"until"`
}

var (
	errForeign = errors.New("`session` is no handle of this server: leave it out, and activate the skill again")
	errOthers  = errors.New("`session` was given to another caller: leave it out, and activate the skill again")
	errOver    = errors.New("`session` is more than 24 hours old: leave it out, and activate the skill again")
)

// seal returns a handle: what it says, a dot, and the proof that a server with this key made it.
func (s *Server) seal(of string, st *session.State) string {
	b, err := json.Marshal(&sealed{of, *st, s.o.now().Add(holds)})
	if err != nil { // strings and times only
		panic(err)
	}
	return s.signed("session", b)
}

// signed returns bytes with the proof that a server with this key wrote them for a purpose.
func (s *Server) signed(purpose string, b []byte) string {
	return encode(b) + "." + encode(s.proof(purpose, b))
}

// open returns what a handle of a caller says.
func (s *Server) open(of, handle string) (*session.State, error) {
	b, ok := s.proven("session", handle)
	var out sealed
	if !ok || json.Unmarshal(b, &out) != nil {
		return nil, errForeign
	}
	if out.Of != of {
		return nil, errOthers
	}
	if s.o.now().After(out.Until) {
		return nil, errOver
	}
	return &out.State, nil
}

// proven returns what signed was given.
func (s *Server) proven(purpose, text string) ([]byte, bool) {
	said, proof, ok := strings.Cut(text, ".")
	if !ok || len(text) > maxHandle {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(said)
	if err != nil {
		return nil, false
	}
	sum, err := base64.RawURLEncoding.DecodeString(proof)
	return b, err == nil && hmac.Equal(sum, s.proof(purpose, b))
}

func (s *Server) proof(purpose string, b []byte) []byte {
	h := hmac.New(sha256.New, s.o.Key)
	h.Write([]byte(purpose + "\x00" + s.o.Tenant + "\x00"))
	h.Write(b)
	return h.Sum(nil)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
