package mcphost

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// CheckURL returns an error for what cannot be the address of a server: it must be https, or http on this machine.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("its address cannot be read: %w", err)
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("its address must be https://HOST/PATH, without a user or a fragment")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("its address must begin with https: http would show %s to everybody on the way", u.Hostname())
	}
	return fmt.Errorf("its address must begin with https, not %q", u.Scheme)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
