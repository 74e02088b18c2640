package disclose

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill"
)

// briefLimit is the most characters of a brief description (C3).
const briefLimit = 80

// limit keeps MaxSkills and Budget (C41).
func (r *renderer) limit() {
	if r.o.MaxSkills > 0 && len(r.items) > r.o.MaxSkills {
		r.keep(r.o.MaxSkills)
	}
	if r.o.Budget > 0 && r.style.item != nil && !r.fits() {
		r.shorten()
	}
	slices.SortStableFunc(r.cut, func(a, b Cut) int { return strings.Compare(skill.Canonical(a.Name), skill.Canonical(b.Name)) })
}

// fits reports whether the text as it stands keeps the budget.
func (r *renderer) fits() bool { return r.frame()+r.sum() <= r.o.Budget*1000 }

// frame returns the cost of what is not an item. A last line break that text drops is counted: it
// is the safe side.
func (r *renderer) frame() int {
	return cost(r.style.head(nil, r)) + cost(r.style.tail(nil, r))
}

func (r *renderer) sum() int {
	sum := 0
	for i := range r.items {
		sum += r.costOf(&r.items[i], i)
	}
	return sum
}

// shorten cuts descriptions to one common length, the longest that fits; where not even their
// brief form fits it gives names only, and where those do not fit, as many as do.
func (r *renderer) shorten() {
	full := slices.Clone(r.items)
	if r.style.shows == showsDescription && r.toCommonLength() {
		r.note(full)
		return
	}
	for i := range r.items {
		r.items[i].desc, r.items[i].nameOnly = "", true
	}
	if r.fits() {
		r.upgrade(full)
		r.note(full)
		return
	}
	r.names(full)
}

// upgrade gives the brief form back to as many names as there is room for, by priority and name.
func (r *renderer) upgrade(full []item) {
	if r.style.shows == showsName {
		return
	}
	room := r.o.Budget*1000 - r.frame() - r.sum()
	for _, at := range byPriority(full) {
		it := item{e: full[at].e, desc: full[at].desc}
		if utf8.RuneCountInString(it.desc) > briefLimit {
			it.desc = brief(it.e)
		}
		if room -= r.costOf(&it, at) - r.costOf(&r.items[at], at); room < 0 {
			return
		}
		r.items[at] = it
	}
}

// form is what the search for a common length needs to know of one description.
type form struct {
	full, brief         string
	fullCost, briefCost int // of the whole item
	length              int // characters of full
}

// toCommonLength shortens the descriptions that are longer than the greatest length at which all
// fit, and reports whether there is one: it is at least that of a brief description.
func (r *renderer) toCommonLength() bool {
	forms := make([]form, len(r.items))
	longest := 0
	for i := range r.items {
		it := &r.items[i]
		f := form{full: it.desc, brief: brief(it.e), length: utf8.RuneCountInString(it.desc)}
		f.fullCost, f.briefCost = r.costWith(i, f.full), r.costWith(i, f.brief)
		longest = max(longest, f.length)
		forms[i] = f
	}
	room := r.o.Budget*1000 - r.frame()
	try := func(length int) bool {
		sum := 0
		for i := range forms {
			desc, c := r.shorter(i, &forms[i], length)
			r.items[i].desc = desc
			sum += c
		}
		return sum <= room
	}
	if !try(briefLimit) {
		return false
	}
	low, high := briefLimit, longest // low fits, high does not
	for high-low > 1 {
		if mid := (low + high) / 2; try(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return try(low)
}

// shorter returns the description of the i-th item in at most length characters and what the item then
// costs. It goes not below the brief form, neither in length nor in cost, and returns the whole
// where cutting saves nothing.
func (r *renderer) shorter(i int, f *form, length int) (string, int) {
	if f.length <= length || f.briefCost >= f.fullCost {
		return f.full, f.fullCost
	}
	if length <= briefLimit {
		return f.brief, f.briefCost
	}
	cut := firstWords(f.full, length)
	switch c := r.costWith(i, cut); {
	case c >= f.fullCost:
		return f.full, f.fullCost
	case c > f.briefCost:
		return cut, c
	}
	return f.brief, f.briefCost
}

// costWith returns what the i-th item costs with another description.
func (r *renderer) costWith(i int, desc string) int {
	return r.costOf(&item{e: r.items[i].e, desc: desc}, i)
}

// costOf returns what it costs as the i-th item.
func (r *renderer) costOf(it *item, i int) int {
	r.scratch = r.piece(r.scratch[:0], it, i == len(r.items)-1)
	return cost(r.scratch)
}

// note records what became of the descriptions.
func (r *renderer) note(full []item) {
	for i, it := range full {
		if r.style.shows != showsName && r.items[i].nameOnly {
			r.cut = append(r.cut, Cut{it.e.Name(), NameOnly})
		} else if r.items[i].desc != it.desc {
			r.cut = append(r.cut, Cut{it.e.Name(), Shortened})
		}
	}
}

// names keeps as many names as fit beside the line that counts the rest.
func (r *renderer) names(full []item) {
	order := byPriority(r.items)
	room, n := r.o.Budget*1000, 0
	before := r.more
	used := 0
	for i, at := range order {
		r.scratch = r.piece(r.scratch[:0], &r.items[at], false)
		used += cost(r.scratch)
		r.more = before + len(full) - i - 1
		if r.more == 0 || used+r.frame() > room {
			break
		}
		n = i + 1
	}
	r.more = before
	r.keep(n)
	r.alone = n == 0 && r.frame() > room
	for _, it := range r.items {
		if r.style.shows != showsName {
			r.cut = append(r.cut, Cut{it.e.Name(), NameOnly})
		}
	}
}

// keep leaves the n first items by priority and name and counts the others as left out.
func (r *renderer) keep(n int) {
	stay := make([]bool, len(r.items))
	for _, at := range byPriority(r.items)[:n] {
		stay[at] = true
	}
	var items []item
	for i, it := range r.items {
		if stay[i] {
			items = append(items, it)
			continue
		}
		r.more++
		r.cut = append(r.cut, Cut{it.e.Name(), LeftOut})
	}
	r.items = items
}

// byPriority returns the positions of items, highest priority first, else in their order.
func byPriority(items []item) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[b].e.Priority(), items[a].e.Priority()) })
	return order
}

// brief returns the skill's brief description on one line, at most 80 characters.
func brief(e skill.Entry) string {
	s := e.Brief()
	if s == "" {
		s = e.Description()
	}
	return firstWords(s, briefLimit)
}

// firstWords returns s in at most limit characters: whole words and "..." where it was cut.
func firstWords(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	end, n, space := 0, 0, -1
	for i, r := range s {
		if n > limit-3 {
			break
		}
		if unicode.IsSpace(r) {
			space = i
		}
		end = i
		n++
	}
	if space > end/2 {
		end = space
	}
	return strings.TrimRightFunc(s[:end], func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) + "..."
}
