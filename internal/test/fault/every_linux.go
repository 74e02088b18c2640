package fault

import (
	"strings"
	"syscall"
)

// faults are the failures that every call must survive. The first two are tried always, the others if Full.
func faults() []Fault {
	all := []Fault{{Err: syscall.ENOSPC}, {Short: true}, {Err: syscall.EINTR}, {Err: syscall.EIO}, {Err: syscall.EROFS}, {Err: syscall.EACCES}, {Err: syscall.EMFILE}}
	if !Full() {
		return all[:2]
	}
	return all
}

// Trial is one run of Every.
type Trial struct {
	Root   string             // only calls for paths in this folder are counted
	Only   func(Call) bool    // of these, the calls that are counted; nil means all
	Do     func() error       // what is tried, from a fresh state
	Check  func(error) string // reports what is wrong after Do returned the error, or "" if nothing is
	Repair func(error) string // likewise, called after Check; may be nil
}

// Every makes the n-th call fail, for every n, with each of the faults: once, and with all later calls too. It gets a fresh
// trial for each run. It returns how many faults it injected, and what was wrong, with the call that failed.
func Every(fresh func() Trial) (injected int, wrong []string) {
	for _, f := range faults() {
		for _, all := range []bool{false, true} {
			if all && (f.Short || f.Err == syscall.EINTR) {
				continue // a call that is repeated for ever is no fault of the program
			}
			for n := 1; ; n++ {
				count, failed, problems := one(fresh(), f, n, all)
				for _, p := range problems {
					wrong = append(wrong, failed+": "+f.text()+": "+p)
				}
				if count < n {
					break
				}
				injected++
			}
		}
	}
	return injected, wrong
}

func (f Fault) text() string {
	if f.Short {
		return "short write"
	}
	return f.Err.Error()
}

// one makes the n-th call fail, and all later ones if all is set.
func one(t Trial, f Fault, n int, all bool) (count int, failed string, problems []string) {
	var err error
	watched := Run(func() { err = t.Do() }, func(c Call) Fault {
		if c.Path != t.Root && !strings.HasPrefix(c.Path, t.Root+"/") || t.Only != nil && !t.Only(c) {
			return Fault{}
		}
		if count++; count == n {
			failed = c.String()
		}
		if count == n || all && count > n {
			return f
		}
		return Fault{}
	})
	if watched != nil {
		return count, failed, []string{watched.Error()}
	}
	for _, check := range []func(error) string{t.Check, t.Repair} {
		if check == nil {
			continue
		}
		if p := check(err); p != "" {
			problems = append(problems, p)
		}
	}
	return count, failed, problems
}
