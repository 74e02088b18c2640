package disclose

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// briefLimit is the most characters of a brief description.
const briefLimit = 80

// limit applies MaxSkills and Budget.
func (r *renderer) limit() {
	if r.o.MaxSkills > 0 && len(r.items) > r.o.MaxSkills {
		r.keep(r.o.MaxSkills, r.items)
	}
	before := len(r.cut)
	if r.o.Budget > 0 && r.style.item != nil && !r.fits() {
		r.shorten()
	}
	if 0 < before && before < len(r.cut) { // each part is in order
		r.sortCuts()
	}
}

func (r *renderer) sortCuts() {
	slices.SortStableFunc(r.cut, func(a, b Cut) int { return strings.Compare(manifest.Canonical(a.Name), manifest.Canonical(b.Name)) })
}

// fits reports whether the text is within the budget.
func (r *renderer) fits() bool {
	room := r.o.Budget*1000 - r.frame()
	for i := 0; i < len(r.items) && room >= 0; i++ {
		room -= r.costOf(i)
	}
	return room >= 0
}

// frame returns the cost of everything but the items. It counts the last line break although text drops it, so the result
// is never too low.
func (r *renderer) frame() int {
	return cost(r.style.head(nil, r)) + cost(r.style.tail(nil, r))
}

// shorten cuts descriptions to one common length, the longest that fits. If not even the brief descriptions fit, it shows
// names only, and if not all names fit, as many skills with brief descriptions as do.
func (r *renderer) shorten() {
	full := slices.Clone(r.items)
	forms := make([]form, len(full))
	if r.style.shows == showsDescription && r.toCommonLength(forms) {
		r.note(full)
		return
	}
	for i := range r.items {
		r.items[i] = item{e: full[i].e, place: full[i].place, nameOnly: true}
	}
	if r.fits() {
		r.upgrade(full, forms)
		r.note(full)
		return
	}
	r.some(full)
}

// upgrade adds brief descriptions to as many names as fit, in the order of byPriority.
func (r *renderer) upgrade(full []item, forms []form) {
	if r.style.shows == showsName {
		return
	}
	room := r.o.Budget*1000 - r.frame()
	for i := range r.items {
		room -= r.costOf(i)
	}
	for _, at := range r.byPriority() {
		f := &forms[at]
		if f.fullCost == 0 {
			*f = r.form(at, &full[at])
		}
		it := item{e: full[at].e, place: full[at].place, desc: f.brief, cost: f.briefCost}
		if f.length <= briefLimit {
			it.desc, it.cost = f.full, f.fullCost
		}
		if room -= it.cost - r.items[at].cost; room < 0 {
			return
		}
		r.items[at] = it
	}
}

// form holds the lengths and costs of one description for the search for a common length.
type form struct {
	full, brief         string
	fullCost, briefCost int // of the whole item
	length              int // characters of full
}

// form returns the form of the i-th item.
func (r *renderer) form(i int, it *item) form {
	f := form{full: it.desc, brief: brief(it.e), length: utf8.RuneCountInString(it.desc)}
	f.fullCost, f.briefCost = it.cost, r.costWith(i, f.brief)
	if f.fullCost == 0 {
		f.fullCost = r.costWith(i, f.full)
	}
	return f
}

// toCommonLength cuts the descriptions to the greatest length at which all fit, which is at least that of a brief
// description. It reports whether there is such a length.
func (r *renderer) toCommonLength(forms []form) bool {
	room := r.o.Budget*1000 - r.frame()
	fitting, tried := make([]item, len(forms)), make([]item, len(forms))
	low, high, sum := briefLimit, 0, 0 // low fits, high does not
	for i := range forms {
		f := &forms[i]
		*f = r.form(i, &r.items[i])
		fitting[i] = r.shorter(i, f, low)
		if sum += fitting[i].cost; sum > room {
			return false
		}
		high = max(high, f.length)
	}
	for high-low > 1 {
		length, sum := (low+high)/2, 0
		for i := range forms {
			tried[i] = r.shorter(i, &forms[i], length)
			if sum += tried[i].cost; sum > room {
				break
			}
		}
		if sum > room {
			high = length
		} else {
			low, fitting, tried = length, tried, fitting
		}
	}
	r.items = fitting
	return true
}

// shorter returns the i-th item with at most length characters of its description. The result is never shorter or cheaper
// than the brief form, and it is the whole description if cutting saves nothing.
func (r *renderer) shorter(i int, f *form, length int) item {
	it := item{e: r.items[i].e, place: r.items[i].place, desc: f.full, cost: f.fullCost}
	if f.length <= length || f.briefCost >= f.fullCost {
		return it
	}
	if length > briefLimit {
		cut := cutWords(f.full, length)
		c := r.costWith(i, cut)
		if c >= f.fullCost {
			return it
		}
		if c > f.briefCost {
			it.desc, it.cost = cut, c
			return it
		}
	}
	it.desc, it.cost = f.brief, f.briefCost
	return it
}

// costWith returns what the i-th item costs with another description.
func (r *renderer) costWith(i int, desc string) int {
	r.scratch = r.piece(r.scratch[:0], &item{e: r.items[i].e, place: r.items[i].place, desc: desc}, i == len(r.items)-1)
	return cost(r.scratch)
}

// costOf returns what the i-th item costs.
func (r *renderer) costOf(i int) int {
	it := &r.items[i]
	if it.cost == 0 {
		r.scratch = r.piece(r.scratch[:0], it, i == len(r.items)-1)
		it.cost = cost(r.scratch)
	}
	return it.cost
}

// note records what was done to the descriptions.
func (r *renderer) note(full []item) {
	for i, it := range full {
		if r.style.shows != showsName && r.items[i].nameOnly {
			r.cut = append(r.cut, Cut{it.e.Name(), NameOnly})
		} else if r.items[i].desc != it.desc {
			r.cut = append(r.cut, Cut{it.e.Name(), Shortened})
		}
	}
}

// some keeps as many skills as fit, with brief descriptions, together with the line that counts the rest.
func (r *renderer) some(full []item) {
	for i := range r.items {
		r.items[i] = item{e: full[i].e, place: full[i].place, desc: full[i].desc}
		if r.style.shows == showsDescription {
			r.items[i].desc = brief(full[i].e)
		}
	}
	room, n := r.o.Budget*1000, 0
	before := r.more
	used := 0
	for i, at := range r.byPriority() {
		r.scratch = r.piece(r.scratch[:0], &r.items[at], false)
		used += cost(r.scratch)
		r.more = before + len(r.items) - i - 1
		if r.more == 0 || used+r.frame() > room {
			break
		}
		n = i + 1
	}
	r.more = before
	r.keep(n, full)
	r.alone = n == 0 && r.frame() > room
}

// keep keeps the first n items in the order of byPriority and records the others as left out, and those whose description
// is not that of full as shortened.
func (r *renderer) keep(n int, full []item) {
	stay := make([]bool, len(r.items))
	for _, at := range r.byPriority()[:n] {
		stay[at] = true
	}
	kept := make([]item, 0, n)
	r.cut = slices.Grow(r.cut, len(r.items))
	for i, it := range r.items {
		switch {
		case !stay[i]:
			r.more++
			r.cut = append(r.cut, Cut{it.e.Name(), LeftOut})
			continue
		case it.desc != full[i].desc:
			r.cut = append(r.cut, Cut{it.e.Name(), Shortened})
		}
		it.cost = 0 // it may be the last one now
		kept = append(kept, it)
	}
	r.items = kept
}

// byPriority returns the positions of the items in the order in which a cut list keeps them: by priority, recent use, the
// precedence of their layers, and name. A ranked list has its own order.
func (r *renderer) byPriority() []int {
	order := make([]int, len(r.items))
	for i := range order {
		order[i] = i
	}
	if r.o.Ranked {
		return order
	}
	used := map[string]int{}
	for i, name := range slices.Backward(r.o.Recent) {
		used[manifest.Canonical(name)] = len(r.o.Recent) - i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := r.items[a].e, r.items[b].e
		return cmp.Or(cmp.Compare(y.Priority(), x.Priority()), cmp.Compare(used[y.Canonical()], used[x.Canonical()]),
			cmp.Compare(x.Precedence(), y.Precedence()))
	})
	return order
}

// brief returns the skill's brief description on one line, at most 80 characters.
func brief(e skill.Entry) string {
	s := e.Brief()
	if s == "" {
		s = e.Description()
	}
	return from(e) + firstWords(s, briefLimit)
}

// firstWords returns s in at most limit characters: whole words and "..." where it was cut.
func firstWords(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return cutWords(s, limit)
}

// cutWords is firstWords for an s of more than limit characters.
func cutWords(s string, limit int) string {
	end, n := 0, 0
	for i := range s {
		if end = i; n == limit-3 {
			break
		}
		n++
	}
	_, size := utf8.DecodeRuneInString(s[end:])
	if space := strings.LastIndexFunc(s[:end+size], unicode.IsSpace); space > end/2 {
		end = space
	}
	return strings.TrimRightFunc(s[:end], func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) + "..."
}
