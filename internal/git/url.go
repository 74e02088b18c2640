package git

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

const mostURL = 2048 // bytes

// A host and a user have no character that ssh, a shell or git could take for anything else.
var (
	hostText = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?$`)
	userText = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$`)
	scpText  = lazyregexp.New(`^([^/:@]+)@([^/:@]+):([^:/-].*|/[^/-].*)$`) // user@host:path, whose path begins in the user's home
)

// CheckURL returns an error for a URL that is not given to git: of another protocol than https, ssh and, if allowed, file, with a
// password, or with a host or user that could be taken for an option. USER@HOST:PATH is ssh.
func CheckURL(text string, allowFile bool) error {
	_, err := parseURL(text, allowFile)
	return err
}

func parseURL(text string, allowFile bool) (*url.URL, error) {
	u, err := readURL(text)
	if err == nil {
		err = checkParts(u, allowFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrURL, shown(text), err)
	}
	return u, nil
}

func readURL(text string) (*url.URL, error) {
	if len(text) > mostURL {
		return nil, fmt.Errorf("has %d bytes, at most %d are allowed", len(text), mostURL)
	}
	for _, r := range text {
		if r <= ' ' || r == 0x7f || r == '\\' || r == 0xfffd {
			return nil, errors.New("has a space, a backslash or a control character")
		}
	}
	if m := scpText().FindStringSubmatch(text); m != nil {
		return &url.URL{Scheme: "ssh", User: url.User(m[1]), Host: m[2], Path: "/" + strings.TrimPrefix(m[3], "/")}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("cannot be read as a URL")
	}
	return u, nil
}

func checkParts(u *url.URL, allowFile bool) error {
	switch u.Scheme {
	case "https", "ssh":
		if err := checkHost(u); err != nil {
			return err
		}
	case "file":
		if !allowFile {
			return errors.New("only a person may name a repository on this machine")
		}
		if u.Host != "" || u.User != nil {
			return errors.New("a file URL has no host: write file:///path")
		}
	default:
		return errors.New("only https and ssh are used: write https://HOST/PATH or USER@HOST:PATH")
	}
	return checkPath(u)
}

func checkPath(u *url.URL) error {
	switch {
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("has a part after ? or #")
	case len(u.Path) < 2 || u.Path[0] != '/':
		return errors.New("names no repository: the path is missing")
	case strings.HasPrefix(u.Path, "/-"):
		return errors.New("has a path that begins with -")
	}
	for _, r := range u.Path {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return errors.New("has a control character in its path")
		}
	}
	return nil
}

func checkHost(u *url.URL) error {
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); !hostText().MatchString(host) && (err != nil || addr.Zone() != "") {
		return errors.New("has no host that git may be given")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("has a port that is not a number from 1 to 65535")
		}
	}
	if u.User == nil {
		return nil
	}
	if _, has := u.User.Password(); has {
		return errors.New("has a password: leave it out and let a credential helper of git supply it")
	}
	if !userText().MatchString(u.User.Username()) {
		return errors.New("has a user name that git may not be given")
	}
	return nil
}

// shown returns a URL that was refused without its password, for an error.
func shown(text string) string {
	if u, err := url.Parse(text); err == nil {
		text = u.Redacted()
	} else if at := strings.LastIndex(text, "@"); at >= 0 {
		text = "…" + text[at:]
	}
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}
