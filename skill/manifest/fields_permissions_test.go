package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/want"
)

// R176
func TestPermissions(t *testing.T) {
	for _, row := range []struct{ name, line, want, problems string }{
		{"hosts", "permissions: {network: [API.example.com., '*.example.org', 'a.com:8443', a.com, A.com]}", "net [*.example.org a.com a.com:8443 api.example.com]", ""},
		{"hosts in one text", "permissions: {network: 'a.com, b.com c.com'}", "net [a.com b.com c.com]", ""},
		{"every host", "permissions: {network: true}", "", "permissions-network 4:24"},
		{"every host by a star", "permissions: {network: ['*', '*.com', '**']}", "", "permissions-network 4:25, permissions-network 4:30, permissions-network 4:39"},
		{"an address of a page", "permissions: {network: ['https://a.com/x', b.com]}", "net [b.com]", "permissions-network 4:25"},
		{"a user", "permissions: {network: [a@b.com]}", "", "permissions-network 4:25"},
		{"a range", "permissions: {network: [10.0.0.0/8]}", "", "permissions-network 4:25"},
		{"a number as an address", "permissions: {network: [2130706433]}", "", "permissions-network 4:25"},
		{"a twin in another script", "permissions: {network: [аpple.com, xn--pple-43d.com]}", "", "permissions-network 4:25, permissions-network 4:36"},
		{"hosts as a map", "permissions: {network: {a.com: 1}, env: [A]}", "env [A]", "field-type 4:24"},
		{"folders", "permissions: {read: [~/notes/, /data/x, .], write: [./]}", "read [. /data/x ~/notes] write [.]", ""},
		{"a folder with a space", "permissions: {read: ~/My Notes}", "read [~/My Notes]", ""},
		{"too much", "permissions: {read: [/, '~', /home/]}", "", "permissions-folder 4:22, permissions-folder 4:25, permissions-folder 4:30"},
		{"upwards", "permissions: {write: [../x, ~/../x, /a/../b]}", "", "permissions-folder 4:23, permissions-folder 4:29, permissions-folder 4:37"},
		{"patterns of folders", "permissions: {read: ['/data/*', $HOME/x, notes]}", "", "permissions-folder 4:22, permissions-folder 4:33, permissions-folder 4:42"},
		{"commands", "permissions: {commands: [git, g++, '-x', /bin/sh, 'a b']}", "commands [g++ git]", "permissions-command 4:36, permissions-command 4:42, permissions-command 4:51"},
		{"limits", "permissions: {limits: {timeout: 5m, memory: 2GiB, output: 4MB, processes: 64}}", "limits {5m0s 2147483648 4000000 64}", ""},
		{"seconds", "permissions: {limits: {timeout: 90}}", "limits {1m30s 0 0 0}", ""},
		{"limits over the most", "permissions: {limits: {timeout: 11m, memory: 9GiB, output: 17MiB, processes: 1025}}", "", "permissions-limit 4:33, permissions-limit 4:46, permissions-limit 4:60, permissions-limit 4:78"},
		{"limits that cannot be read", "permissions: {limits: {timeout: soon, memory: -1, output: 1e9, processes: [1], disk: 1}}", "", "permissions-limit 4:33, permissions-limit 4:47, permissions-limit 4:59, permissions-limit 4:75, permissions-unknown 4:80"},
		{"a limit twice", "permissions: {limits: {timeout: 1m, timeout: 9m}, network: [a.com]}", "net [a.com]", "field-duplicate 4:37"},
		{"limits as a text", "permissions: {limits: high}", "", "field-type 4:23"},
		{"a list twice", "permissions: {network: [a.com], network: [b.com]}", "", "tools-closed 4:1, field-duplicate 4:33"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, problems := Parse([]byte(added(row.line)), &Options{Dir: "my-skill"})
			if got := permissionText(&m.Permissions); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			var at []string
			for _, p := range problems {
				at = append(at, fmt.Sprintf("%s %d:%d", p.Code, p.Line, p.Col))
			}
			if got := strings.Join(at, ", "); got != row.problems {
				t.Errorf("problems %s, want %s: %q", got, row.problems, problemLines(problems))
			}
		})
	}
}

func permissionText(p *Permissions) string {
	var out []string
	for _, one := range []struct {
		name string
		kind want.Kind
	}{{"env", want.Variable}, {"net", want.Host}, {"read", want.Read}, {"write", want.Write}, {"commands", want.Command}} {
		if list := p.Asked.Named(one.kind); len(list) > 0 {
			out = append(out, fmt.Sprint(one.name, " ", list))
		}
	}
	if p.Limits != (Limits{}) {
		out = append(out, fmt.Sprint("limits ", p.Limits))
	}
	return strings.Join(out, " ")
}

// A value that was dropped is not shown as enforced. R176
func TestPermissionStanding(t *testing.T) {
	m, _ := Parse([]byte(added("permissions: {network: {a: 1}, limits: {timeout: 1h, memory: 1GiB}}")), &Options{Dir: "my-skill"})
	var got []string
	for _, f := range m.Fields {
		if strings.HasPrefix(f.Key, "permissions.") {
			got = append(got, f.Key+" "+f.Standing.String())
		}
	}
	want := []string{"permissions.network rejected", "permissions.limits enforced", "permissions.limits.timeout rejected", "permissions.limits.memory enforced"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
