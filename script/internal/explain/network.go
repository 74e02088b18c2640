package explain

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// refusedHosts is the cause of an Error with the reason ReasonNetwork: a script failed because the sandbox kept it from the
// network.
type refusedHosts struct {
	Hosts   []string // HOST or HOST:PORT that it was kept from; empty if that is not known
	Private bool     // they are allowed, but their addresses are on this machine or in its own network
	Direct  bool     // it may reach hosts, but does not use the proxy that leads to them

	recorded bool // the proxy refused them; else only the output and the text of the script name them
}

// wants returns the hosts: all of the network if none is known, or if the script reaches none through the proxy.
func (u *refusedHosts) wants() want.Set {
	from := want.Seen
	if u.recorded {
		from = want.Refused
	}
	if u.Direct || len(u.Hosts) == 0 {
		return want.Each(want.Host, from, want.Any)
	}
	return want.Each(want.Host, from, u.Hosts...)
}

// Error says what the script may not reach.
func (u *refusedHosts) Error() string {
	hosts := strings.Join(u.Hosts, ", ")
	switch {
	case u.Private:
		return "it may reach " + hosts + " only at a public address, and it has a private one"
	case u.Direct:
		return "it connects without the proxy of its environment, by which alone it may reach hosts"
	case hosts == "":
		return "it may not use the network"
	}
	if u.recorded {
		return "it may not reach " + hosts
	}
	return saysThat + "it may not reach " + hosts
}

// mostUnreached is how many hosts a message names.
const mostUnreached = 5

// A failure to connect, as Python, Node.js, curl and the system report it, and the host in it.
var (
	connectFailed = lazyregexp.New(`(?i)(name resolution|(?:name or|nodename nor) serv(?:ice|name)|could ?n[o']t resolve|no such host|getaddrinfo|\bENOTFOUND|\bEAI_AGAIN|` +
		`network is unreachable|ENETUNREACH|max retries exceeded|fetch failed|failed to fetch|error sending request for url|connect E(?:ACCES|PERM)|` +
		`net::ERR_(?:INTERNET|NAME)_|socket: operation not permitted|in create_connection|(?:urlopen error|ConnectError)[^\n]{0,40}\[Errno (?:1|13)\])`)
	hostInFailure = lazyregexp.New(`(?i)(?:host=['"]|resolve host:? ['"]?|ENOTFOUND |EAI_AGAIN |resolve: |lookup |https?://)([a-z0-9.-]+\.[a-z0-9-]+)(?:(?::|['"]?,? port=)([0-9]{1,5}))?`)
	localRefused  = lazyregexp.New(`(?i)(?:connection refused|ECONNREFUSED|failed to connect to|Couldn't connect to server)`)
)

// unreached recognises a failure because the sandbox confines the network. It returns nil for another one.
func (r *Run) unreached() *refusedHosts {
	cmd, out := r.Cmd, r.Out
	if !out.Sandbox.ConfinesNetwork() || cmd.Network.All {
		return nil
	}
	if u := refused(out.Refused); u != nil {
		return u
	}
	said := output.Both(out)
	if u := r.unreachedHere(said); u != nil || !connectFailed().Match(said) {
		return u
	}
	u := &refusedHosts{Hosts: notIn(hostsSaid(said), cmd.Network.Hosts)}
	if len(u.Hosts) == 0 {
		u.Hosts = notIn(r.hostsNamed(), cmd.Network.Hosts)
		if far := slices.DeleteFunc(slices.Clone(u.Hosts), local); len(far) > 0 {
			u.Hosts = far
		}
	}
	u.Direct = len(u.Hosts) == 0 && len(cmd.Network.Hosts) > 0
	if u.Direct && usedProxy(out) {
		return nil // it uses the proxy: what failed is the network itself
	}
	return u
}

// usedProxy reports whether a command asked the proxy for a host that it may reach.
func usedProxy(out *runner.Output) bool { return len(out.Reached)+len(out.Failed) > 0 }

// unreachedHere recognises a failed connection to a service of this machine: in the sandbox this machine is another one. It
// returns nil if no such service is known, for the script may have one of its own.
func (r *Run) unreachedHere(said []byte) *refusedHosts {
	if !localRefused().Match(said) {
		return nil
	}
	var hosts []string
	for _, text := range append(slices.Clone(r.Args), string(said)) {
		hosts = append(hosts, addressesIn(text)...)
	}
	hosts = append(hosts, r.hostsNamed()...)
	hosts = slices.DeleteFunc(notIn(paths.Unique(hosts), r.Cmd.Network.Hosts), func(host string) bool { return !local(host) })
	if len(hosts) == 0 {
		return nil
	}
	return &refusedHosts{Hosts: hosts[:1]}
}

// local reports whether a host shows by itself that it is on this machine or in its network.
func local(host string) bool {
	p, err := hostname.Parse(host)
	return err == nil && hostname.IsLocal(p.Host)
}

var addressIn = lazyregexp.New(`(?i)(?:https?://|ECONNREFUSED |connect to |\()((?:localhost|127\.0\.0\.1|\[::1\]|[0-9.]{7,15})(?::[0-9]{1,5}))`)

// addressesIn returns the HOST:PORT of services of this machine in a text.
func addressesIn(text string) []string {
	var out []string
	for _, m := range addressIn().FindAllStringSubmatch(text, mostUnreached) {
		if p, err := hostname.Parse(m[1]); err == nil {
			out = append(out, p.String())
		}
	}
	return out
}

// refused returns what the proxy refused, nil if that is nothing.
func refused(list []runner.Refusal) *refusedHosts {
	u := &refusedHosts{recorded: true}
	for _, r := range list {
		if !r.Private {
			u.Hosts = append(u.Hosts, strings.TrimSuffix(r.Host, ":443"))
		}
	}
	if len(u.Hosts) == 0 {
		u.Private = true
		for _, r := range list {
			u.Hosts = append(u.Hosts, strings.TrimSuffix(r.Host, ":443"))
		}
	}
	if len(u.Hosts) == 0 {
		return nil
	}
	u.Hosts = u.Hosts[:min(len(u.Hosts), mostUnreached)]
	return u
}

// hostsSaid returns the hosts in reports of failed connections.
func hostsSaid(said []byte) []string {
	var out []string
	for line := range bytes.SplitSeq(said, []byte("\n")) {
		if !connectFailed().Match(line) {
			continue
		}
		for _, m := range hostInFailure().FindAllSubmatch(line, mostUnreached) {
			host, port := string(m[1]), string(m[2])
			if port != "" && port != "443" && port != "80" {
				host += ":" + port
			}
			if p, err := hostname.Parse(host); err == nil && !slices.Contains(out, p.String()) {
				out = append(out, p.String())
				if files := pyenv.FilesOf(p.String()); files != "" { // where it leads to
					out = append(out, files)
				}
			}
		}
	}
	return out[:min(len(out), mostUnreached)]
}

// hostsNamed returns the hosts of addresses in the arguments, or else those that the text of the script names, or else those that the
// others of its skill do.
func (r *Run) hostsNamed() []string {
	hosts := hostsAsked(r.Args)
	if len(hosts) == 0 {
		seen := r.Seen()
		if hosts = seen.Files[r.Script.File].Hosts(); len(hosts) == 0 {
			hosts = seen.Wants().Hosts()
		}
	}
	return hosts[:min(len(hosts), mostUnreached)]
}

var address = lazyregexp.New(`(?i)\bhttps?://([a-z0-9.-]+\.[a-z0-9-]+(?::[0-9]{1,5})?)`)

// hostsAsked returns the hosts of addresses in arguments.
func hostsAsked(args []string) []string {
	var out []string
	for _, arg := range args {
		for _, m := range address().FindAllStringSubmatch(arg[:min(len(arg), mostReported)], mostUnreached) {
			if p, err := hostname.Parse(m[1]); err == nil && !hostname.IsLocal(p.Host) && !slices.Contains(out, p.String()) {
				out = append(out, p.String())
			}
		}
	}
	return out
}

// notIn returns the hosts that no pattern of a list allows.
func notIn(hosts, list []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		p, err := hostname.Parse(host)
		return err == nil && slices.ContainsFunc(list, func(text string) bool {
			allowed, err := hostname.Parse(text)
			return err == nil && (allowed == p || !p.Below && allowed.Matches(p.Host, portOr443(p.Port)))
		})
	})
}

func portOr443(port uint16) uint16 {
	if port == 0 {
		return 443
	}
	return port
}

// reported is a failure to connect in the words of a runtime or a program, with a number, an address or a place that a text about
// networks does not have. A connection to this machine is not among them: a script may wait for a server of its own.
var reported = lazyregexp.New(`\[Errno (?:-2|-3|-5|8|101)\]|<urlopen error \[Errno (?:-\d|1|8|13|101)\]|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) [a-z0-9.-]+|` +
	`connect E(?:NETUNREACH|ACCES|PERM) [0-9\[]|curl: \((?:5|6|7|56|97)\) |wget: unable to resolve host address|Max retries exceeded with url: |` +
	`dial tcp(?:4|6)?(?: [a-z0-9.:-]+)?: (?:lookup |connect: network is unreachable)|` +
	`TypeError: fetch failed|httpx\.Connect(?:Error|Timeout): |Connect(?:Error|ion error): \[Errno`)

// mostReported is how many bytes of the end of each stream are read for such failures, and mostLine of one line.
const (
	mostReported = 16 << 10
	mostLine     = 2000
)

// missedNetwork recognises that a script which did not fail was kept from the network. Its output may have other words about networks, so
// only what a runtime reports counts.
func (r *Run) missedNetwork() *refusedHosts {
	cmd, out := r.Cmd, r.Out
	if u := refused(out.Refused); u != nil {
		return u
	}
	if !out.Sandbox.ConfinesNetwork() || cmd.Network.All || usedProxy(out) {
		return nil
	}
	for _, stream := range [][]byte{out.Stderr, out.Stdout} {
		for line := range bytes.SplitSeq(stream[max(0, len(stream)-mostReported):], []byte("\n")) {
			at := reported().FindIndex(line)
			if at == nil {
				continue
			}
			line = line[max(0, at[0]-mostLine/2):min(len(line), at[1]+mostLine/2)]
			u := &refusedHosts{Hosts: notIn(hostsSaid(line), cmd.Network.Hosts), Direct: len(cmd.Network.Hosts) > 0}
			if len(u.Hosts) == 0 && !u.Direct {
				u.Hosts = slices.DeleteFunc(r.hostsNamed(), local)
			}
			u.Direct = u.Direct && len(u.Hosts) == 0
			return u
		}
	}
	return nil
}
