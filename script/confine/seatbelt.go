package confine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/runner"
)

// macSystem lists what programs need of macOS.
var macSystem = []string{"/System", "/usr", "/bin", "/sbin", "/Library/Apple", "/Library/Developer/CommandLineTools", "/Library/Frameworks",
	"/Library/Fonts", "/Library/Preferences/Logging", "/opt/homebrew", "/opt/local", "/private/etc/ssl", "/private/etc/hosts", "/private/etc/localtime",
	"/private/etc/services", "/private/etc/protocols", "/private/etc/passwd", "/private/var/db/timezone", "/private/var/db/dyld",
	"/Applications/Xcode.app/Contents/Developer", "/dev/random", "/dev/urandom", "/dev/zero"}

// macServices lists the system's services that programs ask for users, names, time zones and certificates.
var macServices = []string{"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership", "com.apple.system.notification_center",
	"com.apple.system.logger", "com.apple.bsd.dirhelper", "com.apple.trustd.agent", "com.apple.SecurityServer"}

// profile returns the profile of sandbox-exec for a command. The paths in it are real ones. port is that of the proxy, 0 for none.
func profile(c *runner.Command, read []string, port uint16) string {
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n(allow process-exec process-fork sysctl-read file-read-metadata)\n(allow signal (target same-sandbox))\n" +
		"(allow file-read* (literal \"/\"))\n(allow file-write-data file-read-data file-ioctl (literal \"/dev/null\") (literal \"/dev/dtracehelper\"))\n")
	for _, service := range macServices {
		fmt.Fprintf(&b, "(allow mach-lookup (global-name %s))\n", quoted(service))
	}
	for _, list := range [][]string{macSystem, read, c.Read} {
		for _, path := range list {
			fmt.Fprintf(&b, "(allow file-read* file-map-executable (subpath %s))\n", quoted(paths.Real(path)))
		}
	}
	for _, path := range c.Write {
		fmt.Fprintf(&b, "(allow file-read* file-map-executable file-write* (subpath %s))\n", quoted(paths.Real(path)))
	}
	for _, path := range slices.Concat(c.Keep, c.Absent) { // later rules win
		fmt.Fprintf(&b, "(deny file-write* (subpath %s))\n", quoted(paths.Real(path)))
	}
	for _, path := range c.Hide {
		fmt.Fprintf(&b, "(deny file-read* file-write* (subpath %s))\n", quoted(paths.Real(path)))
	}
	switch {
	case c.Network.All:
		b.WriteString("(allow network*)\n(allow mach-lookup (global-name \"com.apple.dnssd.service\") (global-name \"com.apple.SystemConfiguration.configd\"))\n")
	case port != 0:
		fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", port)
	}
	return b.String()
}

// quoted returns a text as a profile writes it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
