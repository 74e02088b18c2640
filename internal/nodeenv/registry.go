package nodeenv

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// publicRegistry is the registry of those who set none.
const publicRegistry = "https://registry.npmjs.org/"

// registries are the operator's settings: where packages come from. Addresses end with a slash.
type registries struct {
	main   string
	scopes map[string]string // by scope, with its "@"
	lines  []string          // the settings as lines of an npmrc, sorted
	cafile string            // with the authorities of the registries' certificates, in place of those of the machine; "" for none
}

// reference matches a variable in an npmrc.
var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\??\}`)

// settings reads the operator's npmrc and environment. Of all settings it takes only the registries, the credentials for them and
// the file of their authorities. Variables have precedence.
func settings(npmrc []byte, env []string) *registries {
	r := &registries{main: publicRegistry, scopes: map[string]string{}}
	variables := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		variables[name] = value
	}
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
		case !credential || !strings.HasPrefix(place, "//") || !slices.Contains([]string{"_authToken", "_auth", "username", "_password"}, name):
			continue
		}
		r.lines = append(r.lines, key+"="+value)
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

// address returns where a package is fetched: always from the operator's registry. The address in a lock counts if it
// is of that registry. Otherwise it must be one that a registry has, and the same file is taken from the operator's: the
// lock's checksum holds it to its content.
func (r *registries) address(e entry) (string, error) {
	base, err := r.of(e.name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(e.resolved, base) && !strings.Contains(e.resolved, "..") {
		return e.resolved, nil
	}
	file := path.Base(e.name) + "-" + e.version + ".tgz"
	if e.resolved != "" {
		u, err := url.Parse(e.resolved)
		if err != nil || path.Base(u.Path) != file || !strings.Contains(u.Path, "/"+path.Base(e.name)+"/") {
			return "", refuse("%s@%s comes from %q, which is not a package of a registry: only those are installed: name a version that the registry has", e.name, e.version, clip(e.resolved))
		}
	}
	return base + e.name + "/-/" + file, nil
}
