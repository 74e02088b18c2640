package rule

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/skill/scan"
)

// view is a report with what rules ask about it again and again.
type view struct {
	report *scan.Report
	set    *Set

	byKind  map[string][]int
	reached map[int][]int
	digests map[string]string
}

func newView(r *scan.Report, s *Set) *view {
	v := &view{report: r, set: s, byKind: map[string][]int{}, reached: map[int][]int{}, digests: map[string]string{}}
	for i := range r.Facts {
		kind := string(r.Facts[i].Kind)
		v.byKind[kind] = append(v.byKind[kind], i)
	}
	for i := range r.Files {
		v.digests[placeKey(scan.Place{File: r.Files[i].Path, Inside: r.Files[i].Inside})] = r.Files[i].Digest
	}
	return v
}

func placeKey(p scan.Place) string {
	return strings.Join(append([]string{p.File}, p.Inside...), "\x00")
}

// digest returns the digest of the content that a place is in.
func (v *view) digest(p scan.Place) string { return v.digests[placeKey(p)] }

// candidates returns the facts of the kinds that a pattern asks for.
func (v *view) candidates(p *pattern) []int {
	if len(p.kinds) == 1 {
		return v.byKind[p.kinds[0]]
	}
	var out []int
	for i := range v.report.Facts {
		if len(p.kinds) == 0 || slices.Contains(p.kinds, string(v.report.Facts[i].Kind)) {
			out = append(out, i)
		}
	}
	return out
}

// mostReached is how many facts that reach another one are looked at.
const mostReached = 20_000

// reach returns the facts that a fact's value is made from, the nearest first.
func (v *view) reach(i int) []int {
	if out, ok := v.reached[i]; ok {
		return out
	}
	var out []int
	seen := map[int]bool{i: true}
	for next := []int{i}; len(next) > 0 && len(out) < mostReached; next = next[1:] {
		for _, from := range v.report.Facts[next[0]].From {
			if from >= 0 && from < len(v.report.Facts) && !seen[from] {
				seen[from] = true
				out, next = append(out, from), append(next, from)
			}
		}
	}
	v.reached[i] = out
	return out
}

// own reports whether the host of a sink is of the service that the secret of its source is for.
func (v *view) own(m *match) bool {
	if m.source < 0 {
		return false
	}
	sink, source := &v.report.Facts[m.sink], &v.report.Facts[m.source]
	host := strings.ToLower(sink.Name)
	labels := strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' })
	for _, word := range wordsOf(source.Name) {
		if slices.ContainsFunc(labels, func(label string) bool { return label == word || len(word) > 3 && strings.Contains(label, word) }) {
			return true
		}
		hosts := globs{any: v.set.lists["service-"+word]}
		if len(hosts.any) > 0 && hosts.match(host) {
			return true
		}
	}
	return false
}

// commonWords are parts of names that say nothing of a service.
var commonWords = strings.Fields("api key keys token tokens secret secrets url host base id access auth password pass user name env config json home " +
	"www com org net io dev app co ai the my file credentials credential client private public bearer oauth local lib")

// wordsOf returns the words of a name that say what it is for, in lower case.
func wordsOf(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(w string) bool { return len(w) < 2 || slices.Contains(commonWords, w) })
}
