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
	sum, b := 0, []byte(nil)
	for i := range r.items {
		b = r.piece(b[:0], &r.items[i], i == len(r.items)-1)
		sum += cost(b)
	}
	return sum
}

// shorten cuts descriptions to one common length, the longest that fits; where not even their
// brief form fits it gives names only, and where those do not fit, as many as do.
func (r *renderer) shorten() {
	full := slices.Clone(r.items)
	longest := 0
	for i := range full {
		longest = max(longest, utf8.RuneCountInString(full[i].desc))
	}
	try := func(length int) bool {
		for i := range full {
			r.items[i].desc = r.shorter(&full[i], length)
		}
		return r.fits()
	}
	if r.style.shows == showsDescription && try(briefLimit) {
		low, high := briefLimit, longest // low fits, high does not
		for high-low > 1 {
			if mid := (low + high) / 2; try(mid) {
				low = mid
			} else {
				high = mid
			}
		}
		try(low)
		r.note(full)
		return
	}
	for i := range r.items {
		r.items[i].desc, r.items[i].nameOnly = "", true
	}
	if r.fits() {
		r.note(full)
		return
	}
	r.names(full)
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

// shorter returns the description of it in at most length characters, but not below its brief
// form, and never one that costs more than the whole or less than the brief form.
func (r *renderer) shorter(it *item, length int) string {
	short := brief(it.e)
	if utf8.RuneCountInString(it.desc) <= max(length, briefLimit) {
		return it.desc
	}
	out := short
	if length > briefLimit {
		out = firstWords(it.desc, length)
	}
	at := func(desc string) int {
		c := *it
		c.desc = desc
		return cost(r.piece(nil, &c, true))
	}
	if at(out) < at(short) {
		out = short
	}
	if at(out) >= at(it.desc) {
		return it.desc
	}
	return out
}

// names keeps as many names as fit beside the line that counts the rest.
func (r *renderer) names(full []item) {
	order := byPriority(r.items)
	room, n := r.o.Budget*1000, 0
	before := r.more
	used, b := 0, []byte(nil)
	for i, at := range order {
		b = r.piece(b[:0], &r.items[at], false)
		used += cost(b)
		r.more = before + len(full) - i - 1
		if r.more == 0 || used+r.frame() > room {
			break
		}
		n = i + 1
	}
	r.more = before
	r.keep(n)
	r.alone = n == 0 && r.frame() > room
	kept := r.items
	for _, it := range kept {
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
