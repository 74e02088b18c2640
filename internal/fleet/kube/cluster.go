package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Cluster makes the Jobs of runs in a namespace. It is safe for several goroutines.
type Cluster struct {
	Spec

	api       string
	namespace string
	token     func() (string, error)
	client    *http.Client
}

// Options are those of New.
type Options struct {
	API       string                 // the server, such as https://10.0.0.1:443
	Namespace string                 // where the Jobs are made; nothing else should be there
	Token     func() (string, error) // asked at each call, for it is renewed
	CA        []byte                 // certificates of the server, in PEM; nil for those of the system
}

// Account is the folder of the service account in a pod.
const Account = "/var/run/secrets/kubernetes.io/serviceaccount"

const (
	callTime  = 30 * time.Second // of a call
	maxAnswer = 4 << 20          // bytes
)

// New returns a Cluster whose pods are as a Spec says.
func New(o *Options, s *Spec) (*Cluster, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.API)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("API server %q: write it as https://HOST:PORT", o.API)
	case u.Scheme != "https":
		return nil, fmt.Errorf("API server %q: it gets a token, so it must be reached by https", o.API)
	case o.Namespace == "" || strings.ContainsAny(o.Namespace, "/?#%. "):
		return nil, fmt.Errorf("%q is no namespace", o.Namespace)
	case o.Token == nil:
		return nil, errors.New("kube.Options: no Token")
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != nil {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("the certificates of the API server are no PEM")
		}
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: settings, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: callTime},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Cluster{Spec: *s, api: strings.TrimSuffix(o.API, "/"), namespace: o.Namespace, token: o.Token, client: client}, nil
}

// InCluster returns the Options of a process that is in a pod itself, from its variables and the folder of its service account. Its
// namespace is left out: runs have another one.
func InCluster(getenv func(string) string, folder string) (*Options, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("this process is not in a pod of Kubernetes: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	read := func(name string) ([]byte, error) {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("the service account of this pod: %w", err)
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxFiles))
	}
	ca, err := read("ca.crt")
	if err != nil {
		return nil, err
	}
	token := func() (string, error) {
		b, err := read("token")
		return strings.TrimSpace(string(b)), err
	}
	return &Options{API: "https://" + net.JoinHostPort(host, port), Token: token, CA: ca}, nil
}

// refusal is an answer of the server that is an error.
type refusal struct {
	status  int
	reason  string
	message string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("Kubernetes answers %d %s: %.1000s", r.status, r.reason, r.message)
}

func refused(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// call sends a request and reads its answer into out, if that is not nil.
func (c *Cluster) call(ctx context.Context, method, path string, q url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.api+path+"?"+q.Encode(), body)
	if err != nil {
		return err
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer := json.NewDecoder(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		var s struct{ Reason, Message string }
		_ = answer.Decode(&s) // a proxy in between may answer anything
		return &refusal{res.StatusCode, s.Reason, s.Message}
	}
	if out == nil {
		return nil
	}
	return answer.Decode(out)
}

// path returns the path of the objects of a kind, or of one of them.
func (c *Cluster) path(kind string, name ...string) string {
	group := "/api/v1"
	if kind == "jobs" {
		group = "/apis/batch/v1"
	}
	return strings.Join(append([]string{group + "/namespaces/" + c.namespace + "/" + kind}, name...), "/")
}

// create makes an object. A field that the server does not know is an error.
func (c *Cluster) create(ctx context.Context, kind string, in any, out any, dry bool) error {
	q := url.Values{"fieldValidation": {"Strict"}}
	if dry {
		q.Set("dryRun", "All")
	}
	return c.call(ctx, http.MethodPost, c.path(kind), q, in, out)
}
