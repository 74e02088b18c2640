package cli_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/rogpeppe/go-internal/testscript"
)

// natsServer starts a NATS server as an operator has one, names it as NATS, and writes the files serve.creds, which may do everything, and
// w1.creds, for the worker of that name.
func natsServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: natsserver")
	}
	users := credentials{"serve": {}, "w1": {may: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"from.w1.>"}}, Subscribe: &server.SubjectPermission{Allow: []string{"to.w1.>"}},
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}}}
	for name, u := range users {
		key, err := nkeys.CreateUser()
		ts.Check(err)
		seed, err := key.Seed()
		ts.Check(err)
		u.key = key
		users[name] = u
		text := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n", name, seed)
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), name+".creds"), []byte(text), 0o600))
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, JetStream: true, StoreDir: filepath.Join(ts.Getenv("WORK"), "nats"),
		MaxPayload: 5 << 20, CustomClientAuthentication: users, AlwaysEnableNonce: true})
	ts.Check(err)
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		ts.Fatalf("the NATS server does not start")
	}
	ts.Defer(func() { s.Shutdown(); s.WaitForShutdown() })
	ts.Setenv("NATS", s.ClientURL())
}

// credentials are the users of such a server, which knows them by their keys. That of an operator has signed their tokens.
type credentials map[string]struct {
	key nkeys.KeyPair
	may *server.Permissions // nil for everything
}

// Check lets in who has signed the nonce.
func (u credentials) Check(c server.ClientAuthentication) bool {
	sig, err := base64.RawURLEncoding.DecodeString(c.GetOpts().Sig)
	for name, who := range u {
		if err == nil && who.key.Verify(c.GetNonce(), sig) == nil {
			c.RegisterUser(&server.User{Username: name, Permissions: who.may})
			return true
		}
	}
	return false
}
