package rule

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/scan"
)

// maxAccepted is how many acceptances a file may have.
const maxAccepted = 10_000

// Acceptance says that a person has seen a finding and takes the risk. It holds for the same rule, the same facts and the same content of
// the same file: not for another content, wherever it is copied to.
type Acceptance struct {
	Rule, File  string
	Skill       string // for people
	Fingerprint string
	Digest      string // of the file's content, as sha256:HEX
	Reason      string
	Until       time.Time // the last day on which it holds

	by string // where it is written
}

// Accepting returns the acceptance of a finding. It returns an error for one that cannot be accepted, and for a reason of no use.
func Accepting(f *scan.Finding, skill, reason string, until time.Time) (Acceptance, error) {
	a := Acceptance{Rule: f.Rule, File: f.Place.File, Skill: skill, Fingerprint: f.Fingerprint, Digest: f.Digest, Reason: strings.TrimSpace(reason), Until: until}
	if f.Digest == "" {
		return a, fmt.Errorf("the content of %q is not known, so nothing in it can be accepted", f.Place.File)
	}
	return a, a.check()
}

func (a *Acceptance) check() error {
	sum, hexed := strings.CutPrefix(a.Digest, "sha256:")
	_, err := hex.DecodeString(sum)
	switch {
	case a.Rule == "" || a.File == "" || len(a.Fingerprint) != 16:
		return fmt.Errorf("an acceptance has a rule, a file and a fingerprint of 16 digits")
	case !hexed || err != nil || len(sum) != 64:
		return fmt.Errorf("the digest %.80q is not sha256: and 64 hexadecimal digits", a.Digest)
	case a.Reason == "" || len(a.Reason) > 500 || strings.ContainsFunc(a.Reason, unicode.IsControl):
		return fmt.Errorf("a reason is one line of at most 500 bytes")
	case a.Until.IsZero():
		return fmt.Errorf("the day is missing after which it no longer holds")
	}
	return nil
}

// Text returns the acceptance as an item of the list "accepted" in a file.
func (a *Acceptance) Text() string {
	var b strings.Builder
	for i, line := range [][2]string{{"rule", a.Rule}, {"skill", a.Skill}, {"file", a.File}, {"fingerprint", a.Fingerprint}, {"digest", a.Digest}, {"reason", a.Reason}, {"until", a.Until.Format(time.DateOnly)}} {
		begin := "    "
		if i == 0 {
			begin = "  - "
		}
		b.WriteString(begin + line[0] + ": " + strconv.Quote(line[1]) + "\n")
	}
	return b.String()
}

// Acceptances reads a file of acceptances. name is what errors call it, and by what a finding says of who accepts it.
func Acceptances(text []byte, name, by string) ([]Acceptance, error) {
	r := &reader{name: name}
	var out []Acceptance
	err := r.parse(text, keys{"accepted": r.each(func(n *yamlnode.Node) {
		a := Acceptance{by: by}
		var until string
		r.read(n, keys{"rule": r.text(&a.Rule), "skill": r.text(&a.Skill), "file": r.text(&a.File), "fingerprint": r.text(&a.Fingerprint),
			"digest": r.text(&a.Digest), "reason": r.text(&a.Reason), "until": r.text(&until)})
		var err error
		if a.Until, err = time.Parse(time.DateOnly, until); err != nil {
			r.wrong(n, "until is a day such as 2030-12-31")
		} else if err = a.check(); err != nil {
			r.wrong(n, "%v", err)
		} else if len(out) == maxAccepted {
			r.wrong(n, "there are more than %d acceptances", maxAccepted)
		}
		out = append(out, a)
	})})
	return out, err
}

// Accept notes in findings who accepts them, and returns what it found of acceptances that would fit but have expired, a line each.
func Accept(findings []scan.Finding, list []Acceptance, now time.Time) (expired []string) {
	today := now.Format(time.DateOnly)
	for i := range findings {
		f := &findings[i]
		late := ""
		for _, a := range list {
			if a.Rule != f.Rule || a.File != f.Place.File || a.Fingerprint != f.Fingerprint || f.Digest == "" || a.Digest != f.Digest {
				continue
			}
			day := a.Until.Format(time.DateOnly)
			if day < today {
				late = fmt.Sprintf("the acceptance of %s in %s by %s expired on %s", f.Rule, f.Place.File, a.by, day)
				continue
			}
			f.Accepted, late = fmt.Sprintf("by %s until %s: %s", a.by, day, a.Reason), ""
			break
		}
		if late != "" {
			expired = append(expired, late)
		}
	}
	return expired
}
