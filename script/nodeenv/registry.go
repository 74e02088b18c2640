package nodeenv

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// publicRegistry is the registry of those who set none.
const publicRegistry = "https://registry.npmjs.org/"

// registries are the operator's settings: where packages come from. Addresses end with a slash.
type registries struct {
	main    string
	scopes  map[string]string // by scope, with its "@"
	secrets map[string]string // value of Authorization by //host/path/
	lines   []string          // the settings as lines of an npmrc, sorted
	cafile  string            // with the authorities of the registries' certificates, in place of those of the machine; "" for none
}

// reference matches a variable in an npmrc.
var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\??\}`)

// settings reads the operator's npmrc and environment. Of all settings it takes only the registries, the credentials for them and
// the file of their authorities. Variables have precedence.
func settings(npmrc []byte, env []string) *registries {
	r := &registries{main: publicRegistry, scopes: map[string]string{}, secrets: map[string]string{}}
	variables := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		variables[name] = value
	}
	users, passwords := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(npmrc)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)
		if !ok || strings.HasPrefix(key, "#") || strings.HasPrefix(key, ";") {
			continue
		}
		value = reference().ReplaceAllStringFunc(value, func(v string) string { return variables[strings.Trim(v, "${?}")] })
		place, name, credential := cutLast(key, ":")
		switch {
		case key == "registry":
			r.main = value
		case key == "cafile":
			r.cafile = value
			continue
		case strings.HasPrefix(key, "@") && name == "registry":
			r.scopes[place] = value
		case !credential || !strings.HasPrefix(place, "//"):
			continue
		case name == "_authToken":
			r.secrets[place] = "Bearer " + value
		case name == "_auth":
			r.secrets[place] = "Basic " + value
		case name == "username":
			users[place] = value
		case name == "_password":
			passwords[place] = value
		default:
			continue
		}
		r.lines = append(r.lines, key+"="+value)
	}
	for place, user := range users {
		if password, err := base64.StdEncoding.DecodeString(passwords[place]); err == nil && passwords[place] != "" {
			r.secrets[place] = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+string(password)))
		}
	}
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if v := variables[name]; v != "" {
			r.main = v
			r.lines = slices.DeleteFunc(r.lines, func(l string) bool { return strings.HasPrefix(l, "registry=") })
			r.lines = append(r.lines, "registry="+v)
			break
		}
	}
	r.cafile = cmp.Or(variables["npm_config_cafile"], variables["NPM_CONFIG_CAFILE"], r.cafile)
	if below, ok := strings.CutPrefix(r.cafile, "~/"); ok && variables["HOME"] != "" {
		r.cafile = filepath.Join(variables["HOME"], below)
	}
	slices.Sort(r.lines)
	return r
}

const maxAuthorities = 4 << 20 // bytes

// authorities returns the certificates of the file of authorities, as PEM, nil if there is none.
func (r *registries) authorities() ([]byte, error) {
	if r.cafile == "" {
		return nil, nil
	}
	if !filepath.IsAbs(r.cafile) {
		return nil, refuse("the cafile %q of the npm settings is not an absolute path: correct it in .npmrc", clip(r.cafile))
	}
	b, err := readFile(os.DirFS(filepath.Dir(r.cafile)), filepath.Base(r.cafile), maxAuthorities)
	if err != nil {
		return nil, fmt.Errorf("the cafile %q of the npm settings cannot be read: %w", clip(r.cafile), err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return nil, refuse("the cafile %q of the npm settings has no certificate: correct it in .npmrc", clip(r.cafile))
	}
	return b, nil
}

// transport returns what fetches packages. It knows the authorities of the operator's file, if there is one, and no others.
func (r *registries) transport(base http.RoundTripper) (http.RoundTripper, error) {
	pem, err := r.authorities()
	t, ok := base.(*http.Transport)
	if err != nil || pem == nil || !ok {
		return base, err
	}
	t = t.Clone()
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	return t, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// of returns the address of the registry that has a package, with a slash at the end.
func (r *registries) of(name string) (string, error) {
	address := r.main
	if scope, _, ok := strings.Cut(name, "/"); ok && r.scopes[scope] != "" {
		address = r.scopes[scope]
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", refuse("the registry %q of the npm settings is not an address: correct it in .npmrc", clip(address))
	}
	return strings.TrimRight(address, "/") + "/", nil
}

// hosts returns the hosts of the registries.
func (r *registries) hosts() []string {
	var out []string
	for _, address := range append(slices.Collect(maps.Values(r.scopes)), r.main) {
		if u, err := url.Parse(address); err == nil && u.Host != "" && !slices.Contains(out, u.Host) {
			out = append(out, u.Host)
		}
	}
	slices.Sort(out)
	return out
}

// may reports whether a registry may send to a host, as HOST or HOST:PORT.
func (s *Store) may(host string) bool {
	if slices.Contains(s.o.Hosts, envstore.AllHosts) {
		return true
	}
	want, err := hostname.Parse(host)
	return err == nil && slices.ContainsFunc(append(s.from.hosts(), s.o.Hosts...), func(text string) bool {
		allowed, err := hostname.Parse(text)
		return err == nil && allowed.Matches(want.Host, cmp.Or(want.Port, 443))
	})
}

// address returns where an item's file is fetched: always from the operator's registry. The address in a lock counts if it
// is of that registry. Otherwise it must be one that a registry has, and the same file is taken from the operator's: the
// lock's checksum holds it to its content.
func (r *registries) address(it *item) (string, error) {
	base, err := r.of(it.Name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(it.Resolved, base) && !strings.Contains(it.Resolved, "..") {
		return it.Resolved, nil
	}
	file := tarball(it.Name, it.Version)
	if it.Resolved != "" {
		u, err := url.Parse(it.Resolved)
		if err != nil || path.Base(u.Path) != file || !strings.Contains(u.Path, "/"+path.Base(it.Name)+"/") {
			return "", refuse("%s@%s comes from %q, which is not a package of a registry: only those are installed: name a version that the registry has", it.Name, it.Version, clip(it.Resolved))
		}
	}
	return base + it.Name + "/-/" + file, nil
}

// authorise adds the credentials for an address to a request: those of the longest setting that it lies below.
func (r *registries) authorise(req *http.Request) {
	at := "//" + req.URL.Host + req.URL.Path
	best := ""
	for place := range r.secrets {
		folder := strings.TrimRight(place, "/") + "/"
		if strings.HasPrefix(at, folder) && len(place) > len(best) {
			best = place
		}
	}
	if best != "" {
		req.Header.Set("Authorization", r.secrets[best])
	}
}
