package rule

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan"
)

// Unread is the rule of findings that say what was not read.
const Unread = "unread"

// Judge returns what the rules say about a report, the worst first, and what of the skill was not read. It does not change the report.
func (s *Set) Judge(r *scan.Report) []scan.Finding {
	v := newView(r, s)
	var out []scan.Finding
	for i := range s.rules {
		out = append(out, v.findings(&s.rules[i])...)
	}
	for i := range r.Files {
		if f := &r.Files[i]; f.Unread != "" {
			place := scan.Place{File: f.Path, Inside: f.Inside}
			out = append(out, scan.Finding{Rule: Unread, Class: "opaque", Severity: scan.Medium, Message: "it was not read: " + f.Unread,
				Place: place, Digest: f.Digest, Fingerprint: fingerprint(Unread, place, f.Unread)})
		}
	}
	slices.SortStableFunc(out, func(a, b scan.Finding) int {
		return cmp.Or(b.Severity.Worse(a.Severity), strings.Compare(a.Place.File, b.Place.File), a.Place.Line-b.Place.Line)
	})
	return out
}

// Complete reports whether all of a skill was read, or a person accepted what was not.
func Complete(findings []scan.Finding) bool {
	return !slices.ContainsFunc(findings, func(f scan.Finding) bool { return f.Rule == Unread && f.Accepted == "" })
}

// match is one way in which a rule holds: the positions of facts, -1 for none.
type match struct {
	sink, source int
	with         []int
	severity     scan.Severity
}

// findings returns what one rule says: one finding for each sink and, if facts are the same but for their lines, one for all of them.
func (v *view) findings(r *Rule) []scan.Finding {
	var out []scan.Finding
	seen := map[string]int{}
	for _, sink := range v.candidates(r.when.sink) {
		best, ok := v.best(r, sink)
		if !ok {
			continue
		}
		f := v.finding(r, &best)
		if at, again := seen[f.Fingerprint]; again {
			if f.Severity.Worse(out[at].Severity) > 0 {
				out[at] = f
			}
			continue
		}
		seen[f.Fingerprint] = len(out)
		out = append(out, f)
	}
	return out
}

// best returns the worst way in which a rule holds for a sink.
func (v *view) best(r *Rule, sink int) (best match, ok bool) {
	sources := []int{-1}
	if r.when.source != nil {
		sources = sources[:0]
		for _, i := range v.reach(sink) {
			if r.when.source.holds(v, i) {
				sources = append(sources, i)
			}
		}
	}
	for _, source := range sources {
		m := match{sink: sink, source: source, severity: r.Severity}
		with, holds := v.holds(&r.when, &m)
		if !holds || slices.ContainsFunc(r.unless, func(c condition) bool { _, holds := v.holds(&c, &m); return holds }) {
			continue
		}
		m.with = with
		for i := range r.raise {
			if more, holds := v.holds(&r.raise[i].condition, &m); holds {
				m.severity, m.with = r.raise[i].to, append(m.with, more...)
				break
			}
		}
		m.severity = v.proven(&m)
		if !ok || m.severity.Worse(best.severity) > 0 {
			best, ok = m, true
		}
	}
	return best, ok
}

// proven returns the severity of a match: a guess is at most medium.
func (v *view) proven(m *match) scan.Severity {
	facts := v.report.Facts
	guess := facts[m.sink].Maybe || m.source >= 0 && facts[m.source].Maybe
	if guess && m.severity.AtLeast(scan.High) {
		return scan.Medium
	}
	return m.severity
}

// holds reports whether a condition holds for a sink and its source, and returns the further facts that it is about.
func (v *view) holds(c *condition, m *match) (found []int, ok bool) {
	switch {
	case c.sink != nil && !c.sink.holds(v, m.sink),
		c.source != nil && (m.source < 0 || !c.source.holds(v, m.source)),
		c.own != nil && *c.own != v.own(m),
		c.flow != nil && !v.between(c.flow, m):
		return nil, false
	}
	for i := range c.with {
		some := v.others(&c.with[i], m)
		if len(some) == 0 {
			return nil, false
		}
		found = append(found, some[0])
	}
	return found, true
}

// between reports whether a fact on the way from the source to the sink is as a pattern says.
func (v *view) between(p *pattern, m *match) bool {
	return slices.ContainsFunc(v.reach(m.sink), func(i int) bool {
		return p.holds(v, i) && (m.source < 0 || i == m.source || slices.Contains(v.reach(i), m.source))
	})
}

// others returns the further facts that a rule asks for, none if there are too few.
func (v *view) others(w *with, m *match) []int {
	among := v.candidates(&w.pattern)
	if w.near == inFlow {
		among = v.reach(m.sink)
	}
	var out []int
	names := map[string]bool{}
	for _, i := range among {
		f := &v.report.Facts[i]
		if i == m.sink || w.near == onward && !slices.Contains(v.reach(i), m.sink) || w.near == inFile && !sameFile(f.Place, v.report.Facts[m.sink].Place) || !w.holds(v, i) {
			continue
		}
		out = append(out, i)
		names[strings.ToLower(f.Name)] = true
	}
	if len(out) == 0 || len(names) < w.least {
		return nil
	}
	return out
}

func sameFile(a, b scan.Place) bool { return a.File == b.File && slices.Equal(a.Inside, b.Inside) }

// finding returns what is said about a match.
func (v *view) finding(r *Rule, m *match) scan.Finding {
	sink := &v.report.Facts[m.sink]
	facts := append([]int{m.sink}, m.with...)
	parts := []string{shown(sink)}
	words := []string{"{sink}", shown(sink), "{flow}", "", "{source}", "", "{with}", "", "{said}", begins(sink.Detail)}
	if m.source >= 0 {
		source := &v.report.Facts[m.source]
		words[5], facts, parts = shown(source), append(facts, m.source), append(parts, shown(source))
	}
	if len(m.with) > 0 {
		words[7] = shown(&v.report.Facts[m.with[0]])
	}
	f := scan.Finding{Rule: r.ID, Class: r.Class, Severity: m.severity, Message: strings.NewReplacer(words...).Replace(r.Message),
		Place: sink.Place, Facts: facts, Digest: v.digest(sink.Place), Fingerprint: fingerprint(r.ID, sink.Place, parts...)}
	if sink.Role != "" {
		f.Role = sink.Role
		f.Severity = m.severity.Milder()
	}
	return f
}

// mostShown is how much of a fact a message has, in bytes.
const mostShown = 100

// shown is a fact in a message: what it is about, and more of it where there is.
func shown(f *scan.Fact) string {
	text := cmp.Or(f.Detail, f.Name)
	switch f.Object {
	case "variable", "file", "secret", "package", "saying", "encoding":
		text = cmp.Or(f.Name, f.Detail)
	}
	if text == "" {
		return "a " + string(f.Object) + " that is only known when it runs"
	}
	return begins(text)
}

// begins returns the beginning of a text, as much as a message has.
func begins(text string) string {
	if len(text) > mostShown {
		return strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return text
}

// fingerprint names what a finding is about, wherever it stands in its file.
func fingerprint(rule string, at scan.Place, parts ...string) string {
	h := sha256.New()
	for _, part := range slices.Concat([]string{rule, at.File}, at.Inside, []string{"\x00"}, parts) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Finding returns a finding about one fact of a report that no rule of a Set makes. what tells it from others about the same fact.
func Finding(id, class string, severity scan.Severity, message string, r *scan.Report, fact int, what string) scan.Finding {
	f := &r.Facts[fact]
	out := scan.Finding{Rule: id, Class: class, Severity: severity, Message: message, Place: f.Place, Facts: []int{fact}, Fingerprint: fingerprint(id, f.Place, shown(f), what)}
	for i := range r.Files {
		if sameFile(scan.Place{File: r.Files[i].Path, Inside: r.Files[i].Inside}, f.Place) {
			out.Digest = r.Files[i].Digest
		}
	}
	return out
}
