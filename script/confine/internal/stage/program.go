// Package stage is the part of a sandbox that runs inside it. A program that imports it can start itself again as a stage: a
// process that sets a sandbox up, starts one command in it and supervises it. The engine says with a Program what to do.
//
// Importing the package is enough, and must be: a stage does its work while packages are initialised, before those that it does
// not need. This package imports little for the same reason, and not time, strings or encoding/binary: Go initialises what a package
// imports before it, and of what is ready the package with the first path. A stage has ended before the rest of a large program would
// have been initialised. A process that is not a stage pays for one look at its environment.
package stage

import (
	"errors"
)

// Marker is the environment variable that makes a process a stage; nothing but the engine sets it. Descriptor 3 of a stage is
// one end of a pair of stream sockets: the Program comes from it, commands follow, and reports go back. Its end of file means
// that the engine is gone.
const Marker = "AGENT_BASE_SANDBOX_STAGE=1"

// Code says what an Op does.
type Code uint8

// The operations on the process that sets up.
const (
	WriteFile  Code = iota + 1 // writes B to the file A
	Subreaper                  // orphans become children of this process
	SlaveMount                 // no mount propagates to the outside
	Loopback                   // switches the loopback device on
	Listen                     // listens on TCP port N of 127.0.0.1 and hands the listener to the engine
	Bind                       // mounts A, or B if it is not empty, at the path A of the new root, with the attributes N; M is 0, BindOptional or BindOver
	Tmpfs                      // mounts a tmpfs at A with the data B
	Proc                       // mounts a read-only proc at A, with the processes of this PID namespace and the files of publicProc
	Symlink                    // makes the link A with the text B
	Dir                        // makes the folder A
	ReadOnly                   // makes the mount at A read-only
	Text                       // makes the file A with the content B
	Root                       // makes a tmpfs with the data B the new root; all operations of the new root come after it
	Enter                      // changes into the new root and makes it read-only
	Cover                      // mounts over the file A one that nobody reads or changes; M is 0 or BindOver
	Overlay                    // mounts at A what lies there under the folder that B names first, which takes all changes; B names the kernel's own folder after a NUL
)

// The operations on the thread that starts the command. The command inherits them.
const (
	Chdir        Code = iota + 100 // into A
	NoNewPrivs                     // no program gives more rights
	DropCaps                       // no capability remains
	Ruleset                        // begins a Landlock ruleset: N access to files, M to the network, scopes in B as 8 bytes
	Allow                          // a rule: N access to files below A; a path that is missing is left out
	AllowPort                      // a rule: N access to TCP port M
	Enforce                        // enforces the ruleset
	Filter                         // installs the seccomp program B
	ProtectStage                   // the command may send the stage no signal and set no limit of it
	Limit                          // sets the resource limit N to M, and its hard limit to M plus the byte B
)

// Values of Op.M for Bind.
const (
	BindOptional = iota + 1 // leaves out a path that cannot be mounted, and reports it
	BindOver                // leaves out a path at which the new root has nothing
)

// Op is one operation. Code says what its fields mean.
type Op struct {
	Code Code
	N, M uint64
	A, B string
}

// Program is what a stage does.
type Program struct {
	Setup    []Op // on the whole process
	Restrict []Op // on the thread that starts the command

	Path   string // of the command
	Args   []string
	Env    []string
	Sweep  bool   // there is no PID namespace: the stage itself ends all descendants
	Memory uint64 // bytes of all processes of the command together; 0 means that the stage does not watch them
}

var errShort = errors.New("the program of a stage is cut off")

const magic = 0xa6e27ba5

// Encode returns p with its length in front, as a stage reads it.
func (p *Program) Encode() []byte {
	w := writer{buf: make([]byte, 8, 16<<10)}
	for _, list := range [][]Op{p.Setup, p.Restrict} {
		w.number(uint64(len(list)))
		for _, o := range list {
			w.number(uint64(o.Code))
			w.number(o.N)
			w.number(o.M)
			w.text(o.A)
			w.text(o.B)
		}
	}
	w.text(p.Path)
	w.texts(p.Args)
	w.texts(p.Env)
	w.number(p.Memory)
	if p.Sweep {
		w.number(1)
	} else {
		w.number(0)
	}
	appendWord(appendWord(w.buf[:0], magic), uint32(len(w.buf)-8))
	return w.buf
}

// decode reads what Encode wrote, without the eight bytes in front.
func decode(b []byte) (*Program, error) {
	r := reader{buf: string(b)} // every text is a part of it: a stage that asks for little memory is quick
	p := &Program{}
	for _, list := range []*[]Op{&p.Setup, &p.Restrict} {
		n := r.count()
		if n > 0 {
			*list = make([]Op, 0, n)
		}
		for range n {
			*list = append(*list, Op{Code: Code(r.number()), N: r.number(), M: r.number(), A: r.text(), B: r.text()})
		}
	}
	p.Path, p.Args, p.Env = r.text(), r.texts(), r.texts()
	p.Memory, p.Sweep = r.number(), r.number() == 1
	if r.short || len(r.buf) > 0 {
		return nil, errShort
	}
	return p, nil
}

type writer struct{ buf []byte }

func (w *writer) number(n uint64) { w.buf = appendWord(appendWord(w.buf, uint32(n)), uint32(n>>32)) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *writer) texts(list []string) {
	w.number(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

// reader reads numbers and texts. Once something is missing it is short and returns zero values.
type reader struct {
	buf   string
	short bool
}

func (r *reader) number() uint64 {
	if len(r.buf) < 8 {
		r.short = true
		r.buf = ""
		return 0
	}
	var n uint64
	for i := range 8 {
		n |= uint64(r.buf[i]) << (8 * i)
	}
	r.buf = r.buf[8:]
	return n
}

// count returns a number of things that follow, each of at least one byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.buf)) {
		r.short = true
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := r.buf[:n]
	r.buf = r.buf[n:]
	return s
}

func (r *reader) texts() []string {
	list := make([]string, r.count())
	for i := range list {
		list[i] = r.text()
	}
	return list
}

// word reads four bytes, the least significant one first.
func word(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// appendWord appends what word reads.
func appendWord(b []byte, n uint32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}
