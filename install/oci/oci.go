// Package oci stores skills in OCI registries, the servers that container images come from, and gets them from there.
//
// A skill is an artifact of type application/vnd.agentskills.skill.v1: a manifest, a small configuration, and one layer, a
// tar archive whose files lie in a folder with the name of the skill. Push writes this form, with the same bytes for the same
// skill. Fetch reads it, collections of such skills, the artifacts of ToolHive, and images that are made from scratch.
//
// What an artifact is, is named by the digest of its manifest: this pins every byte of it. All content is compared with its
// digest before it is read.
//
// The package runs no program and reads no file of the user but the one that DockerCredentials is given.
package oci

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/agent-base/agent-base/internal/unpack"
)

// Sentinels for what a caller may want to explain.
var (
	ErrNotFound       = errors.New("there is no such artifact")
	errAuthentication = errors.New("the registry requires authentication")
	errDenied         = errors.New("the registry denies access")
	ErrNetwork        = errors.New("the registry was not reached or did not answer")
	errNotSkill       = errors.New("the artifact is not a skill")
	ErrDigest         = errors.New("the content is not what its digest says")
)

// Limits of what a registry may answer.
const (
	maxManifest = 4 << 20   // bytes of a manifest
	maxLayers   = 32        // of one artifact
	maxSkills   = 500       // of a collection
	maxDownload = 256 << 20 // bytes of all layers together, as they are stored
)

// What an option is when it is 0.
const (
	defaultTimeout = 10 * time.Minute
	defaultIdle    = 30 * time.Second
)

// Options are the options of New.
type Options struct {
	// Transport makes the connections. It decides which addresses can be reached and which certificates are good: that of
	// fetch.Client refuses private addresses, except for hosts that it is told. It must be set.
	Transport http.RoundTripper

	// Credential returns what a registry ("host" or "host:port") wants to see. The zero Credential is for a registry that
	// wants nothing. It may be nil.
	Credential func(ctx context.Context, registry string) (Credential, error)

	// Passed is called once for each other host to which a Fetch or Push sends the credential of a registry: the registry names it as
	// the one that gives its tokens. As with Docker it can be any host, by https unless both are on this machine. It may be nil.
	Passed func(registry, host string)

	// PlainHTTP allows http for registries at a loopback address of this machine. They are then asked by http, and not by
	// Transport.
	PlainHTTP bool

	timeout   time.Duration // of a whole Fetch or Push; 0 means 10 minutes
	idle      time.Duration // after which a download is ended of which nothing comes; 0 means 30 s
	UserAgent string        // sent with each request
}

// Credential is what a registry wants to see: a name and a password, or a token.
type Credential struct {
	User     string
	Password string
	Identity string // token that is exchanged for others
	Token    string // token that is sent as it is
}

// Client gets artifacts from registries and stores them there. It is an install.Fetcher. It is safe for concurrent use.
type Client struct {
	o      Options
	limits unpack.Options // but for tests, the usual ones
}

// New returns a client. It fails if Options.Transport is not set.
func New(o *Options) (*Client, error) {
	if o == nil || o.Transport == nil {
		return nil, errors.New("oci: no transport")
	}
	c := &Client{o: *o}
	c.o.timeout = cmp.Or(c.o.timeout, defaultTimeout)
	c.o.idle = cmp.Or(c.o.idle, defaultIdle)
	c.limits.Volatile = true // a snapshot does not outlive the process
	return c, nil
}

// connection is to one repository, for one Fetch or Push. What it knows about the user ends with it.
type connection struct {
	*remote.Repository
	http   *http.Client
	helper *helperError // the credential is there, but not for this package
}

// close ends what is left of the connections.
func (conn *connection) close() { conn.http.CloseIdleConnections() }

// connect returns a connection to "registry/repository". It sends nothing.
func (c *Client) connect(name string) (*connection, error) {
	repo, err := remote.NewRepository(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not a repository of a registry: %w", name, err)
	}
	repo.PlainHTTP = c.o.PlainHTTP && loopback(repo.Reference.Registry)
	conn := &connection{Repository: repo, http: &http.Client{CheckRedirect: checkRedirect, Transport: c.transport(repo.Reference.Host(), repo.PlainHTTP)}}
	client := &auth.Client{
		Client: conn.http,
		// A layer must arrive as it is stored: its digest is that of the stored bytes.
		Header: http.Header{"Accept-Encoding": {"identity"}},
		Cache:  auth.NewCache(),
	}
	if c.o.UserAgent != "" {
		client.SetUserAgent(c.o.UserAgent)
	}
	if repo.PlainHTTP {
		client.BlockedRealmPrefixes = []netip.Prefix{} // the server that gives its tokens is on this machine, too
	}
	if ask := c.o.Credential; ask != nil {
		client.Credential = func(ctx context.Context, _ string) (auth.Credential, error) {
			is, err := ask(ctx, repo.Reference.Registry)
			if errors.As(err, &conn.helper) { // a public artifact needs none
				return auth.EmptyCredential, nil
			}
			return auth.Credential{Username: is.User, Password: is.Password, RefreshToken: is.Identity, AccessToken: is.Token}, err
		}
	}
	repo.Client = client
	repo.MaxMetadataBytes = maxManifest
	repo.TagListMaxPages = 1
	repo.ManifestMediaTypes = manifestTypes()
	return conn, nil
}

// explain makes an error of a registry one for people.
func (conn *connection) explain(err error) error {
	err = explain(err)
	if conn.helper != nil && (errors.Is(err, errAuthentication) || errors.Is(err, errDenied)) {
		return fmt.Errorf("%w: %w", err, conn.helper)
	}
	return err
}

// explain makes an error of a registry one for people. The answers of a registry are cut, and the addresses that it redirects
// to, which may have secrets, are left out.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if answer, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		text := fmt.Sprintf("it answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
		if len(answer.Errors) > 0 {
			text += ": " + clip(answer.Errors[0].Message)
		}
		switch answer.StatusCode {
		case http.StatusUnauthorized:
			return fmt.Errorf("%w: %s", errAuthentication, text)
		case http.StatusForbidden:
			return fmt.Errorf("%w: %s", errDenied, text)
		case http.StatusNotFound:
			return fmt.Errorf("%w: %s", ErrNotFound, text)
		}
		return fmt.Errorf("the registry does not do what was asked: %s", text)
	}
	switch {
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("%w, and there is no password for it", errAuthentication)
	case errors.Is(err, errdef.ErrNotFound):
		return ErrNotFound
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		cause := request.Err
		if certificate := new(*tls.CertificateVerificationError); !errors.As(cause, certificate) && !errors.Is(cause, context.Canceled) {
			cause = fmt.Errorf("%w: %w", ErrNetwork, cause)
		}
		if u, err := url.Parse(request.URL); err == nil {
			return fmt.Errorf("%s: %w", u.Host, cause)
		}
		return cause
	}
	return err
}

// clip shortens a text of a registry for a message.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
