package survey

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
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

// ContactsOf looks for the hosts that a script contacts: texts in it that begin like an address of the web, and the services
// behind well-known packages and commands. It does not read comments, and leaves out names that only identify something,
// such as that of an XML schema, and addresses of documentation. Hosts that are computed are missed.
//
// Hosts mean something only if a script of the skill uses the network: others name them in the files that they write.
func ContactsOf(lang Language, text []byte) Contacts {
	c := contacts{hosts: map[string]bool{}}
	tokens := lex(lang, text)
	if lang == Shell {
		c.shell(tokens)
		return c.result()
	}
	for i, t := range tokens {
		switch {
		case t.kind == textToken:
			c.text(t.s)
			c.line(tokens, i)
			c.list(tokens, i)
			if lang != Python || listed("curl wget gh", t.s) { // in a list of arguments
				c.packageName(lang, t.s)
			}
		case t.kind == wordToken && slices.Contains(callers, t.s):
			c.network = true
			if i+2 < len(tokens) && tokens[i+1].is(markToken, "(") && tokens[i+2].kind == textToken {
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

// services are the hosts behind packages of one service.
var services = map[string]string{
	"openai": "api.openai.com", "anthropic": "api.anthropic.com", "@anthropic-ai/sdk": "api.anthropic.com",
	"google.genai": "generativelanguage.googleapis.com", "google.generativeai": "generativelanguage.googleapis.com", "@google/genai": "generativelanguage.googleapis.com",
	"github": "api.github.com", "@octokit/rest": "api.github.com", "stripe": "api.stripe.com", "notion_client": "api.notion.com", "@notionhq/client": "api.notion.com",
	"slack_sdk": "slack.com", "@slack/web-api": "slack.com", "tavily": "api.tavily.com", "exa_py": "api.exa.ai", "replicate": "api.replicate.com",
	"yfinance": "query1.finance.yahoo.com query2.finance.yahoo.com fc.yahoo.com", "huggingface_hub": "huggingface.co", "transformers": "huggingface.co",
}

// commandHosts are the hosts behind commands of shells; "" for a command that contacts what its arguments name.
var commandHosts = map[string]string{"curl": "", "wget": "", "http": "", "https": "", "ssh": "", "scp": "", "rsync": "", "nc": "", "aws": "", "gcloud": "", "az": "",
	"gh": "api.github.com github.com"}

// packageName takes a text that may be the name of a package or, in a list of arguments, of a command.
func (c *contacts) packageName(lang Language, name string) {
	if name == "" || strings.ContainsAny(name, " \n") {
		return
	}
	for part := name; ; part = part[:strings.LastIndexByte(part, '.')] {
		if hosts, ok := services[part]; ok {
			c.service(hosts)
		} else if listed(networkPackages, part) {
			c.network = true
		}
		if lang != Python || !strings.Contains(part, ".") {
			break
		}
	}
	if name == "gh" {
		c.service(commandHosts[name])
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

func (c *contacts) service(hosts string) {
	c.network = true
	for host := range strings.FieldsSeq(hosts) {
		c.hosts[host] = true
	}
}

// startsCommand reports whether a word of a shell script is the name of a command.
func startsCommand(tokens []token, i int) bool {
	return i == 0 || tokens[i-1].kind == markToken || listed("do then else if while ! sudo exec time", tokens[i-1].s)
}

// shell takes what a shell script contacts.
func (c *contacts) shell(tokens []token) {
	for i, t := range tokens {
		for _, x := range t.expanded {
			c.shell(x.tokens)
		}
		if hosts, ok := commandHosts[path.Base(t.s)]; ok && t.kind == wordToken && startsCommand(tokens, i) {
			c.service(hosts)
		}
		if t.kind == wordToken && startsCommand(tokens, i) {
			c.started(tokens, i)
		}
		if first, _, more := strings.Cut(t.s, " "); (more || strings.Contains(first, "\n")) && !strings.Contains(first, "$(") {
			continue // a message
		}
		if at := strings.Index(t.s, "http"); at == 0 || at > 0 && strings.IndexByte(`=-"'`, t.s[at-1]) >= 0 {
			c.text(t.s[at:])
		}
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

// Add joins what another script says.
func (c *Contacts) Add(other Contacts) {
	c.Network = c.Network || other.Network
	hosts := c.Hosts.Add(other.Hosts...)
	c.Hosts = hosts[:min(len(hosts), maxHosts)]
}

// FileContacts returns the ContactsOf a file of a skill, by its extension or #! line. It returns none for a file that cannot
// be read.
func FileContacts(fsys fs.FS, file string) Contacts {
	text := Beginning(fsys, file)
	return ContactsOf(LanguageIn(file, text), text)
}
