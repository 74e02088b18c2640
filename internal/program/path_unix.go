//go:build unix

package program

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"syscall"
)

// administrators are the groups whose members install programs for all users.
var administrators = []string{"root", "staff", "admin"}

// writableByOthers says that others than the user and administrators may write to a folder, "" if they may not.
func writableByOthers(info fs.FileInfo) string {
	mode := info.Mode().Perm()
	if mode&0o002 != 0 {
		return fmt.Sprintf("is writable by every user (mode %04o)", mode)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if mode&0o020 == 0 || !ok || st.Gid == 0 || int(st.Gid) == os.Getegid() {
		return ""
	}
	group := strconv.Itoa(int(st.Gid))
	if g, err := user.LookupGroupId(group); err == nil {
		if slices.Contains(administrators, g.Name) {
			return ""
		}
		group = g.Name
	}
	return fmt.Sprintf("is writable by the group %s (mode %04o)", group, mode)
}
