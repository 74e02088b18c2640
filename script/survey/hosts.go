package survey

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/want"
)

// maxHosts is the most hosts that Contacts has.
const maxHosts = 100

// Contacts is what the text of a script says about the network.
type Contacts struct {
	Network bool     // it uses the network, also without a host that its text names
	Hosts   want.Set // HOST, HOST:PORT or *.HOST
}

// ContactsOf looks for the hosts that a script contacts which no grammar reads: texts in it that begin like an address of the web. It
// does not read comments, and leaves out names that only identify something, such as that of an XML schema, and addresses of
// documentation. Hosts that are computed are missed. It knows nothing of shells.
//
// Hosts mean something only if the script uses the network: others name them in the files that they write.
func ContactsOf(lang Language, text []byte) Contacts {
	c := contacts{hosts: map[string]bool{}}
	tokens := lex(lang, text)
	for i, t := range tokens {
		switch {
		case t.kind == textToken:
			c.text(t.s)
			if lang != Python {
				c.packageName(lang, t.s)
			}
		case t.kind == wordToken && slices.Contains(callers, t.s):
			c.network = true
			if i+2 < len(tokens) && tokens[i+1].is(markToken, "(") && tokens[i+2].kind == textToken && strings.Contains(tokens[i+2].s, ".") {
				c.host(tokens[i+2].s)
			}
		case t.kind == wordToken && i > 0 && lang == Python:
			c.pythonWord(tokens, i)
		}
	}
	return c.result()
}

// contacts collects what Contacts has.
type contacts struct {
	network bool
	hosts   map[string]bool
}

// callers are words of programs that make a connection.
var callers = []string{"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "HTTPSConnection", "HTTPConnection", "LWP", "HTTParty", "Faraday"}

// networkPackages are packages and modules that make connections, in any language, without those of services.
const networkPackages = ` requests httpx urllib3 aiohttp urllib urllib.request http.client ftplib smtplib imaplib websocket websockets
paramiko pycurl cloudscraper curl_cffi playwright selenium scrapy feedparser gspread boto3 botocore tweepy praw web3
googleapiclient yt_dlp pytube newspaper trafilatura ddgs duckduckgo_search datasets akshare ccxt
http https node:http node:https axios got node-fetch undici ws puppeteer puppeteer-core superagent ky cross-fetch
net/http open-uri httparty faraday rest-client curl wget `

// packageName takes a text that may be the name of a package.
func (c *contacts) packageName(lang Language, name string) {
	if name == "" || strings.ContainsAny(name, " \n") {
		return
	}
	for {
		c.network = c.network || listed(networkPackages, name)
		at := strings.LastIndexByte(name, '.')
		if lang != Python || at < 0 {
			return
		}
		name = name[:at]
	}
}

// pythonWord takes a word that may be the first of what is imported.
func (c *contacts) pythonWord(tokens []token, i int) {
	before := tokens[i-1]
	if !before.is(wordToken, "import") && !before.is(wordToken, "from") && !before.is(markToken, ",") {
		return
	}
	name, next := dotted(tokens, i)
	c.packageName(Python, name)
	if before.is(wordToken, "from") && next+1 < len(tokens) && tokens[next].is(wordToken, "import") {
		c.packageName(Python, name+"."+tokens[next+1].s)
	}
}

// text takes a text that may be an address of the web: one that is nothing else. A sentence that begins with an address is
// not one.
func (c *contacts) text(s string) {
	for _, scheme := range []string{"https://", "http://", "wss://", "ws://"} {
		rest, ok := strings.CutPrefix(s, scheme)
		if !ok {
			continue
		}
		if strings.ContainsAny(rest, "\n") || strings.Contains(rest, " ") && !strings.ContainsAny(rest, "{$") {
			return
		}
		c.host(authority(rest))
		return
	}
}

// authority returns the host and port at the beginning of an address without its scheme. What is filled in for a first part
// becomes "*".
func authority(rest string) string {
	first := ""
	if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "${") || strings.HasPrefix(rest, "#{") {
		_, after, found := strings.Cut(rest, "}")
		if !found || !strings.HasPrefix(after, ".") {
			return ""
		}
		first, rest = "*", after
	}
	if end := strings.IndexAny(rest, "/?#\\\"'`{}$<>()[], \t"); end >= 0 {
		rest = rest[:end]
	}
	return first + rest[strings.LastIndexByte(rest, '@')+1:]
}

// host takes a host, unless it cannot be one, or is not there to be contacted.
func (c *contacts) host(text string) {
	p, err := hostname.Parse(text)
	if err != nil || len(c.hosts) >= maxHosts || hostname.Identifies(p.Host) {
		return
	}
	if p.Port == 443 || p.Port == 80 {
		p.Port = 0
	}
	c.hosts[p.String()] = true
}

func (c *contacts) result() Contacts {
	return Contacts{Network: c.network, Hosts: want.Each(want.Host, want.Seen, slices.Collect(maps.Keys(c.hosts))...)}
}

// ByRank returns the hosts of a set in the order in which people are told about them: those of services, others, those of this machine
// and its network.
func ByRank(hosts want.Set) []string {
	out := hosts.Named(want.Host)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(hostRank(a), hostRank(b)) })
	return out
}

// hostRank says how early a host is named: 0 first.
func hostRank(text string) int {
	p, err := hostname.Parse(text)
	switch {
	case err != nil || hostname.IsLocal(p.Host):
		return 2
	case strings.Contains(p.Host, "api") || strings.HasPrefix(p.Host, "raw.") || strings.HasPrefix(p.Host, "query"):
		return 0
	}
	return 1
}
