package stage

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The constants and structures of a stage are those of package unix, which it does not import.
func TestCallsAreThoseOfUnix(t *testing.T) {
	for _, c := range [][2]int{
		{sysOpenTree, unix.SYS_OPEN_TREE}, {sysMoveMount, unix.SYS_MOVE_MOUNT}, {sysPidfdOpen, unix.SYS_PIDFD_OPEN},
		{sysCloseRange, unix.SYS_CLOSE_RANGE}, {sysOpenat2, unix.SYS_OPENAT2}, {sysMountSetattr, unix.SYS_MOUNT_SETATTR},
		{sysCreateRuleset, unix.SYS_LANDLOCK_CREATE_RULESET}, {sysAddRule, unix.SYS_LANDLOCK_ADD_RULE},
		{sysRestrictSelf, unix.SYS_LANDLOCK_RESTRICT_SELF}, {atFdcwd, unix.AT_FDCWD}, {atEmptyPath, unix.AT_EMPTY_PATH},
		{atRecursive, unix.AT_RECURSIVE}, {oPath, unix.O_PATH}, {resolveNoMagic, unix.RESOLVE_NO_MAGICLINKS},
		{resolveNoLinks, unix.RESOLVE_NO_SYMLINKS}, {resolveInRoot, unix.RESOLVE_IN_ROOT}, {openTreeClone, unix.OPEN_TREE_CLONE}, {openTreeCloexec, unix.OPEN_TREE_CLOEXEC},
		{moveFromEmptyPath, unix.MOVE_MOUNT_F_EMPTY_PATH}, {moveToEmptyPath, unix.MOVE_MOUNT_T_EMPTY_PATH},
		{attrReadOnly, unix.MOUNT_ATTR_RDONLY}, {closeRangeCloexec, unix.CLOSE_RANGE_CLOEXEC}, {pollIn, unix.POLLIN}, {waitAll, unix.P_ALL},
		{setSubreaper, unix.PR_SET_CHILD_SUBREAPER}, {setNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS}, {setSeccomp, unix.PR_SET_SECCOMP},
		{seccompFilter, unix.SECCOMP_MODE_FILTER}, {seccompAllow, unix.SECCOMP_RET_ALLOW}, {seccompErrno, unix.SECCOMP_RET_ERRNO},
		{capAmbient, unix.PR_CAP_AMBIENT}, {capAmbientClear, unix.PR_CAP_AMBIENT_CLEAR_ALL}, {capVersion3, unix.LINUX_CAPABILITY_VERSION_3},
		{rulePathBeneath, unix.LANDLOCK_RULE_PATH_BENEATH}, {ruleNetPort, 2}, {accessExecute, unix.LANDLOCK_ACCESS_FS_EXECUTE},
		{accessWriteFile, unix.LANDLOCK_ACCESS_FS_WRITE_FILE}, {accessReadFile, unix.LANDLOCK_ACCESS_FS_READ_FILE},
		{accessTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {accessIoctlDev, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{int(unsafe.Sizeof(capHeader{})), int(unsafe.Sizeof(unix.CapUserHeader{}))},
		{int(unsafe.Sizeof(capabilities{})), int(unsafe.Sizeof([2]unix.CapUserData{}))},
		{int(unsafe.Sizeof(pollFd{})), int(unsafe.Sizeof(unix.PollFd{}))},
		{int(unsafe.Sizeof([3]uint64{})), int(unsafe.Sizeof(unix.OpenHow{}))},
		{int(unsafe.Sizeof([4]uint64{})), int(unsafe.Sizeof(unix.MountAttr{}))},
	} {
		if c[0] != c[1] {
			t.Errorf("got %#x, want %#x", c[0], c[1])
		}
	}
}
