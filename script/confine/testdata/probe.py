"""Tries what a sandbox must refuse and prints what happened as one JSON object: "ALLOWED", or the name of an error."""
import ctypes
import errno
import fcntl
import glob
import json
import mmap
import os
import resource
import socket
import stat
import struct
import subprocess
import sys

given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
out = {"descriptors": " ".join(sorted(os.listdir("/proc/self/fd")))}
here = os.getcwd()
engine, victim = given["engine"], given["victim"]
x86 = os.uname().machine == "x86_64"


def syscall(nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r == -1:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r


def probe(name, f):
    try:
        out[name] = "no" if f() is False else "ALLOWED"
    except OSError as e:
        out[name] = errno.errorcode.get(e.errno, str(e.errno)) if e.errno else type(e).__name__
    except Exception as e:
        out[name] = type(e).__name__


def child(f):
    """Runs f in a child; raises its OSError here."""
    pid = os.fork()
    if pid == 0:
        try:
            f()
            os._exit(0)
        except OSError as e:
            os._exit(e.errno)
        except BaseException:
            os._exit(255)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        raise ValueError("signal")
    if status:
        raise OSError(os.WEXITSTATUS(status), "")


def read(path):
    with open(path, "rb") as f:
        return f.read(64)


def append(path):
    new = not os.path.exists(path)
    with open(path, "ab"):
        pass
    if new:
        os.unlink(path)


def by_link(path):
    link = os.path.join(here, "link")
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(path, link)
    return read(link)


def by_loader(path):
    loader = (glob.glob("/lib64/ld-linux-*.so.*") + glob.glob("/lib/ld-linux-*.so.*"))[0]
    if subprocess.run([loader, path], stderr=subprocess.DEVNULL).returncode:
        raise OSError(errno.EACCES, path)


secret, skill = given["secret"], given["skill"]
probe("start a program through the loader", lambda: by_loader(given["program"]))
probe("read a secret", lambda: read(secret))
probe("list the folder of a secret", lambda: os.listdir(os.path.dirname(secret)))
probe("write beside a secret", lambda: append(os.path.dirname(secret) + "/new"))
probe("stat a secret", lambda: os.stat(secret))
probe("read a secret through a link", lambda: by_link(secret))
probe("read a secret below /proc/self/root", lambda: read("/proc/self/root" + secret))
probe("read a secret below /proc/1/root", lambda: read("/proc/1/root" + secret))
probe("read /etc/shadow", lambda: read("/etc/shadow"))
probe("write the skill", lambda: append(skill))
probe("new file in the skill", lambda: append(os.path.dirname(skill) + "/new"))
probe("chmod the skill", lambda: os.chmod(skill, stat.S_IMODE(os.stat(skill).st_mode)))
probe("utime the skill", lambda: os.utime(skill))
probe("xattr on the skill", lambda: os.setxattr(skill, "user.x", b"1"))
probe("truncate the skill", lambda: os.truncate(skill, os.stat(skill).st_size))
probe("write to the system", lambda: append("/usr/lib/zz"))
probe("write to /var/tmp", lambda: append("/var/tmp/zz"))
probe("open a disk", lambda: os.open(given["disk"], os.O_RDONLY))
probe("open /dev/mem", lambda: os.open("/dev/mem", os.O_RDONLY))
probe("make a device", lambda: os.mknod(here + "/dev%d" % os.getpid(), 0o600 | stat.S_IFBLK, os.makedev(254, 0)))

port = given["port"]
lo = ("127.0.0.1", port)
probe("connect", lambda: socket.create_connection(lo, 2))
probe("connect over IPv6", lambda: socket.socket(socket.AF_INET6).connect(("::1", port)))
probe("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", lo))
probe("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(lo))
probe("listen", lambda: socket.create_server(("127.0.0.1", 0)))
probe("other interfaces", lambda: any(not line.strip().startswith("lo:") for line in open("/proc/self/net/dev").readlines()[2:]))
probe("connect to another machine", lambda: socket.create_connection(("192.0.2.1", 443), 2))
probe("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
probe("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
probe("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
probe("crypto socket", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
probe("unix socket", lambda: socket.socket(socket.AF_UNIX).connect(given["unix"]))
probe("abstract unix socket", lambda: socket.socket(socket.AF_UNIX).connect("\0" + given["abstract"]))


def trace(pid):
    syscall(101 if x86 else 117, 16, pid, 0, 0)
    try:
        os.waitpid(pid, 0x40000000)
    except OSError:
        pass
    syscall(101 if x86 else 117, 17, pid, 0, 0)


def remote_memory(pid, address):
    b = ctypes.create_string_buffer(9)
    mine = struct.pack("QQ", ctypes.addressof(b), 9)
    other = struct.pack("QQ", address, 9)
    syscall(310 if x86 else 270, pid, ctypes.create_string_buffer(mine), 1, ctypes.create_string_buffer(other), 1, 0)
    return b.raw == b"memsecret"


parent = os.getppid()
probe("trace another process", lambda: trace(victim))
probe("memory of another process", lambda: remote_memory(victim, given["address"]))
probe("/proc/PID/mem", lambda: os.pread(os.open("/proc/%d/mem" % victim, os.O_RDONLY), 9, given["address"]) == b"memsecret")
probe("environment of another process", lambda: b"PLANTED" in open("/proc/%d/environ" % victim, "rb").read())
probe("environment of the parent", lambda: open("/proc/%d/environ" % parent, "rb").read() and None)
probe("descriptors of another process", lambda: os.listdir("/proc/%d/fd" % victim))
probe("lifeline of the parent", lambda: os.open("/proc/%d/fd/3" % parent, os.O_WRONLY))
probe("command line of the kernel", lambda: read("/proc/cmdline") != b"")
probe("symbols of the kernel", lambda: read("/proc/kallsyms") != b"")
probe("list hardware", lambda: os.listdir("/proc/bus") != [])
probe("change a setting of the kernel", lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
probe("sees other processes", lambda: os.path.exists("/proc/%d" % victim))
probe("signal another process", lambda: os.kill(victim, 0))
probe("signal the engine", lambda: os.kill(engine, 0))
probe("signal the parent", lambda: os.kill(parent, 0))
probe("signal everybody", lambda: os.kill(-1, 0))
probe("descriptor of the parent", lambda: os.pidfd_open(parent) if parent > 1 else os.kill(engine, 0))
probe("limit of another process", lambda: resource.prlimit(victim, resource.RLIMIT_CORE, (0, 0)))
probe("limit of the parent", lambda: resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0)))
probe("priority of another process", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
probe("affinity of another process", lambda: os.sched_setaffinity(victim, os.sched_getaffinity(0)))
probe("scheduler of another process", lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)))
probe("io priority of another process", lambda: syscall(251 if x86 else 30, 1, victim, 3 << 13))
probe("take a descriptor", lambda: syscall(438, syscall(434, victim, 0), 1, 0))

probe("shmget", lambda: syscall(29 if x86 else 194, 0x5B0001, 4096, 0o1666))
probe("memfd", lambda: os.memfd_create("x"))
probe("io_uring", lambda: syscall(425, 4, ctypes.create_string_buffer(256)))
probe("keyctl", lambda: syscall(250 if x86 else 219, 0, -3, 1))


def bpf():
    attr = ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 4, 1, 0).ljust(128, b"\0"))
    os.close(syscall(321 if x86 else 280, 0, attr, 72))


def user_namespace():
    child(lambda: syscall(272 if x86 else 97, 0x10000000))


def new_mount():
    child(lambda: syscall(165 if x86 else 40, b"none", b"/mnt", b"tmpfs", 0, b""))


probe("bpf", bpf)
probe("userfaultfd", lambda: syscall(323 if x86 else 282, 1))
probe("fanotify", lambda: syscall(300 if x86 else 262, 0x200, 0))
probe("user namespace", user_namespace)
probe("mount", new_mount)
probe("chroot", lambda: child(lambda: os.chroot("/")))
probe("host name", lambda: child(lambda: socket.sethostname(socket.gethostname())))
probe("clone3", lambda: syscall(435, 0, 0))
probe("unknown call", lambda: syscall(9999))
probe("newest calls", lambda: syscall(469, -100, b"/", 0, 0, 0))
probe("terminal input", lambda: fcntl.ioctl(0, 0x5412, b"x"))


def i386():
    def body():
        m = mmap.mmap(-1, 4096, prot=7)
        m.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
    child(body)


if x86:
    probe("i386 call", i386)
    probe("x32 call", lambda: syscall(0x40000000 + 39))
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
out["capabilities"] = status["CapEff"].strip().lstrip("0") + status["CapBnd"].strip().lstrip("0") if given["tier"] == "A" else status["CapEff"].strip().lstrip("0")
out["no new privileges"] = status["NoNewPrivs"].strip()
out["environment"] = " ".join(sorted(k for k in os.environ if k != "LC_CTYPE"))
print(json.dumps(out))
