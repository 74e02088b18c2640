package address

import (
	"net/netip"
	"testing"
)

// R176
func TestPublic(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("8.8.4.4")}
	for text, want := range map[string]bool{
		"93.184.216.34": true, "8.8.8.8": true, "2606:2800:220:1::1": true, "64:ff9b::808:808": true, "2002:808:808::1": true,
		"8.8.4.4": false, "127.0.0.1": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "100.64.0.1": false,
		"100.100.100.200": false, "169.254.169.254": false, "168.63.129.16": false, "192.0.0.192": false, "0.0.0.0": false, "255.255.255.255": false,
		"224.0.0.1": false, "198.18.0.1": false, "240.0.0.1": false, "::1": false, "::": false, "fe80::1": false, "fd00:ec2::254": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::1": false, "64:ff9b:1::1": false, "ff02::1": false,
	} {
		if got := Public(netip.MustParseAddr(text), own); got != want {
			t.Errorf("Public(%s) = %v, want %v", text, got, want)
		}
	}
}
