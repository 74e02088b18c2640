package stage

import (
	"slices"
	"syscall"
)

// publicProc are the files and folders of a proc, beside those of processes, that a command may read: what programs ask for to
// find out how much memory and how many processors there are, and the settings of the kernel. All others are covered, also those
// of kernels to come.
var publicProc = []string{"cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "vmstat", "filesystems", "sys"}

const procFlags = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC | syscall.MS_RDONLY

// mountProc mounts a proc at a folder of the new root, which has its devices. A machine whose own proc is covered, as in many
// containers, allows only one with nothing but processes.
func mountProc(path string) error {
	err := syscall.Mount("proc", base+path, "proc", procFlags, "")
	if err == syscall.EPERM {
		return syscall.Mount("proc", base+path, "proc", procFlags, "subset=pid")
	}
	if err != nil {
		return err
	}
	names, err := list(base + path)
	if err != nil {
		return err
	}
	empty := ""
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' || slices.Contains(publicProc, name) {
			continue
		}
		if err := cover(base+path+"/"+name, &empty); err != nil {
			return err
		}
	}
	return nil
}

// cover makes a file or a folder of a proc empty. The links of a proc lead to the process that follows them, so they stay. empty
// is the first folder that was covered: it covers the others, which takes less than a file system for each.
func cover(path string, empty *string) error {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return err
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		return nil
	case syscall.S_IFDIR:
		if *empty != "" {
			return syscall.Mount(*empty, path, "", syscall.MS_BIND, "")
		}
		*empty = path
		return syscall.Mount("none", path, "tmpfs", procFlags, "size=4k,nr_inodes=1,mode=555")
	}
	return syscall.Mount(base+"/dev/null", path, "", syscall.MS_BIND, "")
}

// list returns the names in a folder.
func list(path string) ([]string, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err != nil || n == 0 {
			return names, err
		}
		_, _, names = syscall.ParseDirent(buf[:n], -1, names)
	}
}
