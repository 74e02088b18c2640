package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// world is an MCP server, its authorization server, and a person who logs in at once.
type world struct {
	t        *testing.T
	resource *httptest.Server // the MCP server; its metadata name issuer
	issuer   *httptest.Server

	mu        sync.Mutex
	meta      map[string]any // of the authorization server; nil means none
	answer    url.Values     // what the person's browser brings back besides code and state
	challenge string         // WWW-Authenticate of the MCP server
	metaURL   string         // resource_metadata in it; "" for none
	form      url.Values     // of the last request for a token
	basic     string         // the user of its Authorization
	register  map[string]any
	verifier  string // the challenge that the code was given for
	revoked   []string
	seen      []string // method and path of all requests to the issuer
	refuses   bool     // no token is given
	open      bool     // the MCP server asks for no login
	turn      int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, challenge: "Bearer", answer: url.Values{}}
	w.issuer = httptest.NewServer(http.HandlerFunc(w.authorize))
	w.resource = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.issuer.Close)
	t.Cleanup(w.resource.Close)
	is := w.issuer.URL
	w.meta = map[string]any{"issuer": is, "authorization_endpoint": is + "/authorize", "token_endpoint": is + "/token", "registration_endpoint": is + "/register",
		"revocation_endpoint": is + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"read", "offline_access"},
		"response_types_supported": []string{"code"}, "authorization_response_iss_parameter_supported": true}
	w.answer.Set("iss", is)
	return w
}

func (w *world) url() string { return w.resource.URL + "/mcp" }

func send(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.URL.Path == "/.well-known/oauth-protected-resource/mcp":
		send(rw, 200, map[string]any{"resource": w.url(), "authorization_servers": []string{w.issuer.URL}, "scopes_supported": []string{"all"}})
	case r.URL.Path == "/mcp" && w.open:
		send(rw, 200, map[string]any{})
	case r.URL.Path == "/mcp":
		text := w.challenge
		if w.metaURL != "" {
			text += ` resource_metadata="` + w.metaURL + `"`
		}
		rw.Header().Set("WWW-Authenticate", text)
		rw.WriteHeader(401)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) authorize(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r.Method+" "+r.URL.Path)
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		if w.meta == nil {
			http.NotFound(rw, r)
			return
		}
		send(rw, 200, w.meta)
	case "/register":
		_ = json.NewDecoder(r.Body).Decode(&w.register)
		send(rw, 201, map[string]any{"client_id": "fresh", "token_endpoint_auth_method": "none", "redirect_uris": w.register["redirect_uris"]})
	case "/token":
		w.token(rw, r)
	case "/revoke":
		_ = r.ParseForm()
		w.revoked = append(w.revoked, r.PostForm.Get("token_type_hint")+" "+r.PostForm.Get("token"))
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) token(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.form = r.PostForm
	w.basic, _, _ = r.BasicAuth()
	sum := sha256.Sum256([]byte(w.form.Get("code_verifier")))
	if w.refuses || w.form.Get("grant_type") == "authorization_code" && base64.RawURLEncoding.EncodeToString(sum[:]) != w.verifier {
		send(rw, 400, map[string]any{"error": "invalid_grant", "error_description": "no", "secret": "hush"})
		return
	}
	w.turn++
	send(rw, 200, map[string]any{"access_token": fmt.Sprintf("access-%d", w.turn), "refresh_token": fmt.Sprintf("refresh-%d", w.turn), "token_type": "bearer", "expires_in": 3600})
}

// browser is the person: it goes to the address, and brings the code back.
func (w *world) browser(_ context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	q := u.Query()
	w.mu.Lock()
	w.verifier = q.Get("code_challenge")
	back := url.Values{"code": {"the-code"}, "state": {q.Get("state")}}
	for k, v := range w.answer {
		back[k] = v
	}
	w.mu.Unlock()
	for _, guess := range []string{"?code=evil&state=guess", "?code=evil", "/../x?state=" + q.Get("state")} { // of a page that the person has open
		if res, err := http.Get(q.Get("redirect_uri") + guess); err == nil {
			res.Body.Close()
		}
	}
	res, err := http.Get(q.Get("redirect_uri") + "?" + back.Encode())
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode == 200 && !strings.Contains(string(body), "close this page") {
		w.t.Errorf("the page says %q", body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer.Set("asked", address)
	return nil
}

func (w *world) login(change func(*Options)) (*Token, error) {
	o := &Options{URL: w.url(), Base: http.DefaultTransport, Show: w.browser}
	if change != nil {
		change(o)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return Login(ctx, o)
}

// A login has PKCE with S256, the resource in both requests, and a state; it registers the program where nothing else is known.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	w.challenge = `Bearer scope="read write",`
	w.metaURL = w.resource.URL + "/.well-known/oauth-protected-resource/mcp"
	got, err := w.login(func(o *Options) { o.Scopes = []string{"more"} })
	if err != nil {
		t.Fatal(err)
	}
	if got.Server != w.url() || got.Issuer != w.issuer.URL || got.Resource != w.url() || got.Access != "access-1" || got.Refresh != "refresh-1" || got.ClientID != "fresh" || got.RevokeURL != w.issuer.URL+"/revoke" ||
		time.Until(got.Expiry) > time.Hour || time.Until(got.Expiry) < 50*time.Minute || strings.Join(got.Scopes, " ") != "more offline_access read write" {
		t.Errorf("got %+v", got)
	}
	asked, _ := url.Parse(w.answer.Get("asked"))
	q := asked.Query()
	redirect := q.Get("redirect_uri")
	if q.Get("resource") != w.url() || w.form.Get("resource") != w.url() || q.Get("code_challenge_method") != "S256" || len(q.Get("state")) < 20 || q.Get("scope") != "more offline_access read write" ||
		!strings.HasPrefix(redirect, "http://127.0.0.1:") || w.form.Get("redirect_uri") != redirect || w.form.Get("code") != "the-code" {
		t.Errorf("the person went to %s, and the token was asked for with %v", asked, w.form)
	}
	if w.register["token_endpoint_auth_method"] != "none" || w.register["application_type"] != "native" || fmt.Sprint(w.register["redirect_uris"]) != "["+redirect+"]" {
		t.Errorf("registered as %v", w.register)
	}
}

// A client that the user registered comes first, then the document, then a new registration.
func TestRegistration(t *testing.T) {
	for _, test := range []struct {
		name     string
		change   func(*Options)
		document bool
		id       string
		basic    string
		fresh    bool
	}{
		{"the user's", func(o *Options) { o.ClientID, o.Document = "mine", "https://a.example/client" }, true, "mine", "", false},
		{"the user's, with a secret", func(o *Options) { o.ClientID, o.ClientSecret = "mine", "hush" }, true, "", "mine", false},
		{"a document", func(o *Options) { o.Document = "https://a.example/client" }, true, "https://a.example/client", "", false},
		{"a document that nobody knows", func(o *Options) { o.Document = "https://a.example/client" }, false, "fresh", "", true},
	} {
		w := newWorld(t)
		w.meta["client_id_metadata_document_supported"] = test.document
		if _, err := w.login(test.change); err != nil || w.form.Get("client_id") != test.id || w.basic != test.basic || (w.register != nil) != test.fresh {
			t.Errorf("%s: %v, client %q %q, registered %v", test.name, err, w.form.Get("client_id"), w.basic, w.register)
		}
	}
}

// What is not safe is refused, before or after the person has logged in, and no code is sent then.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*world)
		want   string
	}{
		{"no PKCE", func(w *world) { delete(w.meta, "code_challenge_methods_supported") }, "PKCE"},
		{"plain PKCE", func(w *world) { w.meta["code_challenge_methods_supported"] = []string{"plain"} }, "PKCE with S256"},
		{"no metadata", func(w *world) { w.meta = nil }, "has no metadata"},
		{"metadata of another issuer", func(w *world) { w.meta["issuer"] = "https://evil.example" }, "does not match"},
		{"an endpoint without TLS", func(w *world) { w.meta["token_endpoint"] = "http://evil.example/token" }, "token_endpoint"},
		{"no token endpoint", func(w *world) { w.meta["token_endpoint"] = "" }, "where it gives tokens"},
		{"no registration", func(w *world) { delete(w.meta, "registration_endpoint") }, "oauth.clientId"},
		{"the iss of another issuer", func(w *world) { w.answer.Set("iss", "https://evil.example") }, "that of another issuer"},
		{"the iss with a slash", func(w *world) { w.answer.Set("iss", w.issuer.URL+"/") }, "that of another issuer"},
		{"no iss", func(w *world) { w.answer.Del("iss") }, "does not say that it is from"},
		{"an iss that was not promised", func(w *world) {
			delete(w.meta, "authorization_response_iss_parameter_supported")
			w.answer.Set("iss", "https://evil.example")
		}, "that of another issuer"},
		{"no", func(w *world) { w.answer.Set("error", "access_denied") }, "the login was refused: access_denied"},
		{"no code", func(w *world) { w.answer.Set("code", "") }, "has no code"},
		{"no token", func(w *world) { w.refuses = true }, "gives no token: invalid_grant no"},
		{"metadata of another resource", func(w *world) {
			w.metaURL = w.resource.URL + "/.well-known/oauth-protected-resource/mcp?x"
			w.challenge = "Basic"
		}, ""},
	} {
		w := newWorld(t)
		test.change(w)
		_, err := w.login(nil)
		if test.want == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if sent := slices.Contains(w.seen, "POST /token"); sent != (test.name == "no token") {
			t.Errorf("%s: the code was sent: %v", test.name, sent)
		}
	}
	w := newWorld(t)
	w.open = true
	w.resource.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			send(rw, 200, map[string]any{})
			return
		}
		http.NotFound(rw, r)
	})
	if _, err := w.login(nil); !errors.Is(err, ErrNoLogin) {
		t.Errorf("a server without a login: %v", err)
	}
}

// A login ends when its context does, and its port is free again.
func TestLoginEnds(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	var at string
	_, err := Login(ctx, &Options{URL: w.url(), Base: http.DefaultTransport, Show: func(_ context.Context, address string) error {
		u, _ := url.Parse(address)
		at = u.Query().Get("redirect_uri")
		cancel()
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if res, err := http.Get(at); err == nil {
		res.Body.Close()
		t.Error("it still listens")
	}
}

func newStore(t *testing.T, now *time.Time) *Store {
	return &Store{Base: http.DefaultTransport, Path: filepath.Join(t.TempDir(), "mcp", "tokens.json"), Now: func() time.Time { return *now }}
}

// A token is kept for the user alone, renewed in time with its resource, and once by several that want it.
func TestStore(t *testing.T) {
	w, now := newWorld(t), time.Now()
	s := newStore(t, &now)
	if got, err := s.Fresh(t.Context(), w.url(), ""); got != nil || err != nil {
		t.Errorf("at first %v, %v", got, err)
	}
	token, err := w.login(nil)
	if err := errors.Join(err, s.Put(t.Context(), token)); err != nil {
		t.Fatal(err)
	}
	other := *token
	other.Server, other.Resource = "https://other.example/mcp", "https://other.example/mcp"
	if err := errors.Join(s.Put(t.Context(), &other), s.Put(t.Context(), token)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info, err)
	}
	if got, err := s.Fresh(t.Context(), w.url(), ""); err != nil || got.Access != "access-1" {
		t.Errorf("while it is good: %+v, %v", got, err)
	}
	now = now.Add(time.Hour)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := (&Store{Base: s.Base, Path: s.Path, Now: s.Now}).Fresh(t.Context(), w.url(), "")
			if err != nil {
				t.Error(err)
			} else if got.Access != "access-1" && !strings.HasPrefix(got.Access, "access-") {
				t.Errorf("got %+v", got)
			}
		})
	}
	wg.Wait()
	if w.form.Get("resource") != w.url() || w.form.Get("grant_type") != "refresh_token" || w.form.Get("client_id") != "fresh" {
		t.Errorf("renewed with %v", w.form)
	}
	if got, err := s.Of("https://other.example/mcp"); err != nil || got == nil || got.Access != "access-1" {
		t.Errorf("another server's: %+v %v", got, err)
	}
	w.refuses = true
	if _, err := s.Fresh(t.Context(), w.url(), "access-2"); err != nil && !errors.As(err, new(*ExpiredError)) {
		t.Errorf("%v", err)
	}
	if err := s.Remove(t.Context(), w.url()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Of(w.url()); got != nil || err != nil {
		t.Errorf("after removal: %v, %v", got, err)
	}
}

// One renewal serves all who wait for it.
func TestOneRenewal(t *testing.T) {
	w, now := newWorld(t), time.Now()
	s := newStore(t, &now)
	token, err := w.login(nil)
	if err := errors.Join(err, s.Put(t.Context(), token)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := (&Store{Base: s.Base, Path: s.Path, Now: s.Now}).Fresh(t.Context(), w.url(), "access-1")
			if err != nil || got.Access != "access-2" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	if w.turn != 2 {
		t.Errorf("%d tokens were given, want 2", w.turn)
	}
	w.refuses = true
	var expired *ExpiredError
	if _, err := s.Fresh(t.Context(), w.url(), "access-2"); !errors.As(err, &expired) || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("refused: %v", err)
	}
	token.Refresh = ""
	if err := s.Put(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fresh(t.Context(), w.url(), "access-1"); !errors.As(err, &expired) || expired.Unwrap() != nil {
		t.Errorf("without a refresh token: %v", err)
	}
}

func TestDamagedStore(t *testing.T) {
	now := time.Now()
	s := newStore(t, &now)
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", `{"version": 2}`} {
		if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Fresh(t.Context(), "https://a.example", ""); err == nil || !strings.Contains(err.Error(), "log in again") {
			t.Errorf("%s: %v", text, err)
		}
		if err := s.Put(t.Context(), &Token{}); err == nil {
			t.Errorf("%s was replaced", text)
		}
	}
}

func TestRevoke(t *testing.T) {
	w, now := newWorld(t), time.Now()
	s := newStore(t, &now)
	for _, test := range []struct {
		token   Token
		offered bool
		want    string
	}{
		{Token{Access: "a", Refresh: "r", RevokeURL: w.issuer.URL + "/revoke", Style: oauth2.AuthStyleInParams, ClientSecret: "x"}, true, "refresh_token r"},
		{Token{Access: "a", RevokeURL: w.issuer.URL + "/revoke", Style: oauth2.AuthStyleInHeader}, true, "access_token a"},
		{Token{Access: "a"}, false, ""},
	} {
		w.revoked = nil
		if offered, err := s.Revoke(t.Context(), &test.token); err != nil || offered != test.offered || strings.Join(w.revoked, ",") != test.want {
			t.Errorf("%+v: %v %v %q", test.token, offered, err, w.revoked)
		}
	}
	if _, err := s.Revoke(t.Context(), &Token{RevokeURL: w.issuer.URL + "/nowhere"}); err == nil {
		t.Error("a refusal is no error")
	}
	moved := httptest.NewServer(http.RedirectHandler("https://evil.example/", http.StatusTemporaryRedirect))
	defer moved.Close()
	if _, err := s.Revoke(t.Context(), &Token{Access: "a", RevokeURL: moved.URL}); !errors.Is(err, errRedirect) {
		t.Errorf("a redirect: %v", err)
	}
}

// A token that is no bearer token, or that no header can have, is refused.
func TestBadTokens(t *testing.T) {
	for _, got := range []*oauth2.Token{{AccessToken: "a", TokenType: "mac"}, {AccessToken: "a\r\nb"}, {AccessToken: "ä"}} {
		if err := new(Token).take(got); err == nil {
			t.Errorf("%+v is taken", got)
		}
	}
}
