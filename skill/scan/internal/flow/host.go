package flow

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
)

// addressed returns the host of a text that is an address with a scheme, and nothing else.
func addressed(t string) (string, bool) {
	scheme, rest, ok := strings.Cut(t, "://")
	if !ok || strings.ContainsAny(t, " \t\n<") || !isScheme(scheme) {
		return "", false
	}
	host := authority(rest)
	return host, host != ""
}

func isScheme(s string) bool {
	switch strings.ToLower(s) {
	case "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "git", "git+https", "git+ssh", "tcp", "udp", "redis", "postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "amqp", "socks5", "socks5h":
		return true
	}
	return false
}

// hostOf returns the host of a text that is used as an address or as the name of a host, "" if it is not known.
func hostOf(t string) string {
	t = strings.Trim(strings.TrimSpace(t), `"'`)
	if scheme, rest, ok := strings.Cut(t, "://"); ok && !strings.ContainsAny(scheme, "/?. "+hole) {
		if scheme == "file" || scheme == "data" {
			return ""
		}
		return authority(rest)
	}
	t = strings.TrimPrefix(t, "//")
	if t == "" || t[0] == '/' || t[0] == '-' || t[0] == '.' && !strings.HasPrefix(t, "..") {
		return ""
	}
	host := authority(t)
	if !strings.Contains(t, "/") && slices.Contains(fileEnds, host[strings.LastIndexByte(host, '.')+1:]) {
		return ""
	}
	if !strings.ContainsAny(host, ".:") && host != "localhost" {
		return ""
	}
	return host
}

// fileEnds are the ends of names that files have and no host has.
var fileEnds = strings.Fields("txt json jsonl html htm csv xml png jpg jpeg pdf yaml yml log mp4 mp3 wav srt webm conf toml gz tgz exe whl")

// authority returns the host at the beginning of an address without its scheme. A part of it that is not known is "*".
func authority(rest string) string {
	if i := strings.IndexAny(rest, "/?#\\ \t\n\"'`<>()[]|,;"); i >= 0 && !strings.HasPrefix(rest, "[") {
		rest = rest[:i]
	} else if i := strings.IndexByte(rest, ']'); i > 0 && strings.HasPrefix(rest, "[") {
		rest = rest[:i+1]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") {
		host, err := hostname.Canonical(rest)
		if err != nil {
			return ""
		}
		return host
	}
	host, _, _ := strings.Cut(rest, ":")
	if strings.Trim(host, hole+".") == "" {
		return ""
	}
	host = strings.TrimRight(strings.ToLower(host), ".")
	plain := strings.ReplaceAll(host, hole, "x")
	canonical, err := hostname.Canonical(plain)
	if err != nil {
		return oddAddress(host)
	}
	if plain != host {
		return strings.ReplaceAll(host, hole, "*")
	}
	return canonical
}

// oddAddress returns the usual form of an address of IPv4 that is written as resolvers read it too: 0x7f.1, 2130706433.
func oddAddress(host string) string {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return ""
	}
	var n uint64
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || v >= 1<<bits {
			return ""
		}
		n = n<<bits | v
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// netFile returns the host of a file that is a connection in bash: /dev/tcp/HOST/PORT.
func netFile(name string) string {
	if rest, ok := strings.CutPrefix(name, "/inet/tcp/"); ok { // of awk
		_, rest, _ = strings.Cut(rest, "/")
		name = "/dev/tcp/" + rest
	}
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			host, _, _ := strings.Cut(rest, "/")
			return authority(host)
		}
	}
	return ""
}
