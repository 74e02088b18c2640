// Package hostname reads the names of hosts, and the patterns that say which hosts may be reached. One reader serves the
// manifest, the user's grants and the proxy, so that what was shown is what is compared.
//
// A name has ASCII letters, digits, "-", "_" and ".". A name in another script has an ASCII form, which begins with xn--.
// Nothing here resolves a name.
package hostname

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Pattern names hosts, and a port of them.
type Pattern struct {
	Host  string // canonical, see Canonical
	Below bool   // the hosts below Host, but not Host itself: *.example.com
	Port  uint16 // 0 means 443 and 80
}

// Limits of a name.
const (
	maxName  = 253 // bytes
	maxLabel = 63  // bytes between two dots
)

// Parse reads HOST, HOST:PORT or *.HOST, also with a port. The error says what is wrong with the text.
func Parse(text string) (Pattern, error) {
	var p Pattern
	switch {
	case text == "":
		return p, errors.New("it is empty")
	case strings.Contains(text, "://"):
		return p, errors.New("it is an address of a page: write the host alone")
	case strings.Contains(text, "@"):
		return p, errors.New("it names a user: write the host alone")
	case strings.Contains(text, "/"):
		return p, errors.New("it has a path or is a range of addresses: write the host alone")
	case text == "*":
		return p, errors.New("it means every host: name each one")
	}
	host, port, err := split(text)
	if err != nil {
		return p, err
	}
	below, wild := strings.CutPrefix(host, "*.")
	if p.Host, err = Canonical(below); err != nil {
		return Pattern{}, err
	}
	p.Below, p.Port = wild, port
	if wild && (!strings.Contains(p.Host, ".") || IsAddress(p.Host)) {
		return Pattern{}, errors.New("it means too many hosts: *. needs a name of two parts or more")
	}
	return p, nil
}

// split cuts the port off; without one it is 0.
func split(text string) (host string, port uint16, err error) {
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		if strings.HasSuffix(text, "]") {
			return text, 0, nil
		}
		return Split(text)
	}
	return text, 0, nil
}

// Split reads HOST:PORT. The host is not changed, except that an address in brackets stays in them.
func Split(text string) (host string, port uint16, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return "", 0, errors.New("it has no port")
	}
	digits := text[at+1:]
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] == '0' || digits[0] == '+' {
		return "", 0, errors.New("its port is not a number from 1 to 65535")
	}
	return text[:at], uint16(n), nil
}

// Canonical returns the one form in which hosts are compared: a name in lower case without a final dot, or an address as
// netip writes it, without brackets. It refuses other spellings of addresses, such as 127.1 or 2130706433.
func Canonical(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		if err != nil || !closed || a.Zone() != "" {
			return "", errors.New("it is not an address in brackets")
		}
		return a.Unmap().String(), nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		return a.Unmap().String(), nil
	}
	if err := checkName(host); err != nil {
		return "", err
	}
	return host, nil
}

func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a host has 1 to %d characters", maxName)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		case c >= 0x80:
			return errors.New("it has a character that is not ASCII: write the form that begins with xn--")
		case c == '*':
			return errors.New("a * can only stand for the first part: *.example.com")
		default:
			return fmt.Errorf("a host cannot have %q in it", rune(c))
		}
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return fmt.Errorf("a part between its dots is empty, has more than %d characters, or begins or ends with -", maxLabel)
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		return errors.New("it ends like an address, but is not one in the usual form")
	}
	return nil
}

// isNumber reports whether resolvers may take the last part of a name for a part of an address.
func isNumber(label string) bool {
	if strings.HasPrefix(label, "0x") {
		return true
	}
	return strings.IndexFunc(label, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// IsAddress reports whether a canonical host is an address.
func IsAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// IsForeign reports whether a canonical name stands for one in another script, in which it may look like a known name.
func IsForeign(host string) bool {
	return strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--")
}

// Matches reports whether a canonical host and a port are among those that the pattern names.
func (p Pattern) Matches(host string, port uint16) bool {
	if p.Port != port && (p.Port != 0 || port != 443 && port != 80) {
		return false
	}
	if p.Below {
		return strings.HasSuffix(host, "."+p.Host) && !IsAddress(host)
	}
	return host == p.Host
}

// String returns the pattern as Parse reads it.
func (p Pattern) String() string {
	host := p.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p.Below {
		host = "*." + host
	}
	if p.Port != 0 {
		host += ":" + strconv.Itoa(int(p.Port))
	}
	return host
}

// IsLocal reports whether a canonical host shows by itself that it is on this machine or in its network: an address that is
// private, a name without a dot, or one with an ending that no public name has.
func IsLocal(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsUnspecified() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == host || strings.Contains(" local localhost internal lan home corp intranet arpa test ", " "+last+" ")
}

// IsLinkLocal reports whether a canonical host is an address that only the machine's next neighbours have, as the metadata
// services of clouds do.
func IsLinkLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLinkLocalUnicast()
}

// identifying are hosts whose addresses are the names of schemas, licences and vocabularies.
var identifying = strings.Fields(`www.w3.org w3.org purl.org json-schema.org schema.org ns.adobe.com xmlns.com schemas.openxmlformats.org schemas.microsoft.com
	schemas.xmlsoap.org schemas.android.com www.opengis.net relaxng.org docbook.org ogp.me www.sitemaps.org creativecommons.org
	opensource.org spdx.org choosealicense.com keepachangelog.com semver.org`)

// Identifies reports whether a canonical host stands in texts to identify something, as an example, or for people to read.
func Identifies(host string) bool {
	if slices.Contains(identifying, host) {
		return true
	}
	labels := strings.Split(host, ".")
	if slices.Contains(strings.Fields("docs doc developer developers help support learn wiki blog console status schemas schema"), labels[0]) {
		return true
	}
	last := labels[len(labels)-1]
	return slices.Contains([]string{"example", "invalid", "test"}, last) ||
		len(labels) > 1 && slices.Contains(strings.Fields("example yourdomain your-domain mydomain yoursite your-site domain"), labels[len(labels)-2])
}
