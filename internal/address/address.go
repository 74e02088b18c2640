// Package address knows which addresses of hosts are public. It is not a part of package hostname, because it needs package
// net, and a program that only reads manifests should not be linked with a resolver.
package address

import (
	"net"
	"net/netip"
	"slices"
)

// withheld are the ranges that netip does not name and that lead to this machine, its network, or nowhere.
var withheld = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // the metadata service of Azure
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("::/96"),
}

// embedding are the ranges of IPv6 that hold an address of IPv4, with the byte at which it begins.
var embedding = []struct {
	netip.Prefix
	at int
}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2}}

// Public reports whether an address lies outside this machine and its network. own are the machine's addresses, see Own.
func Public(a netip.Addr, own []netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, e := range embedding {
		if e.Contains(a) {
			b := a.As16()
			return Public(netip.AddrFrom4([4]byte(b[e.at:e.at+4])), own)
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.Contains(own, a) &&
		!slices.ContainsFunc(withheld, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Own returns the addresses of this machine's interfaces.
func Own() []netip.Addr {
	all, _ := net.InterfaceAddrs() // without them the ranges still hold
	var out []netip.Addr
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, a.Unmap())
			}
		}
	}
	return out
}
