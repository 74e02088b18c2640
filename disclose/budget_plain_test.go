package disclose

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// plainly keeps a budget the plain way: every length is tried over all skills, halving what is left, and every item is
// rendered and counted anew each time.
type plainly struct{ *renderer }

func plainCatalog(t testing.TB, c *skill.Catalog, o *Options) Text {
	r, err := newRenderer(o)
	if err != nil {
		t.Fatal(err)
	}
	r.collect(c)
	if err := r.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.items) == 0 {
		return render(t, c, o)
	}
	p := plainly{r}
	if o.MaxSkills > 0 && len(r.items) > o.MaxSkills {
		p.keep(o.MaxSkills, p.items)
	}
	if o.Budget > 0 && r.style.item != nil && p.all() > o.Budget*1000 {
		p.shorten()
	}
	slices.SortStableFunc(r.cut, func(a, b Cut) int { return strings.Compare(manifest.Canonical(a.Name), manifest.Canonical(b.Name)) })
	return r.text()
}

// all returns the cost of the text as it stands.
func (p plainly) all() int {
	sum := p.frame()
	for i := range p.items {
		sum += p.price(&p.items[i], i)
	}
	return sum
}

func (p plainly) price(it *item, i int) int {
	return cost(p.piece(nil, it, i == len(p.items)-1))
}

func (p plainly) shorten() {
	full := slices.Clone(p.items)
	if p.style.shows == showsDescription && p.toCommonLength(full) {
		p.note(full)
		return
	}
	for i := range p.items {
		p.items[i].desc, p.items[i].nameOnly = "", true
	}
	if p.all() > p.o.Budget*1000 {
		p.some(full)
		return
	}
	for _, at := range p.byPriority() {
		name := p.items[at]
		p.items[at] = full[at]
		if utf8.RuneCountInString(full[at].desc) > briefLimit {
			p.items[at].desc = brief(full[at].e)
		}
		if p.style.shows == showsName || p.all() > p.o.Budget*1000 {
			p.items[at] = name
			break
		}
	}
	p.note(full)
}

func (p plainly) toCommonLength(full []item) bool {
	try := func(length int) bool {
		for i := range full {
			p.items[i].desc = p.shorter(full[i], i, length)
		}
		return p.all() <= p.o.Budget*1000
	}
	if !try(briefLimit) {
		return false
	}
	low, high := briefLimit, 0
	for _, it := range full {
		high = max(high, utf8.RuneCountInString(it.desc))
	}
	for high-low > 1 {
		if mid := (low + high) / 2; try(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return try(low)
}

func (p plainly) shorter(it item, i, length int) string {
	with := func(desc string) int { return p.price(&item{e: it.e, place: it.place, desc: desc}, i) }
	full, least := with(it.desc), with(brief(it.e))
	if utf8.RuneCountInString(it.desc) <= length || least >= full {
		return it.desc
	}
	cut := plainFirstWords(it.desc, length)
	switch c := with(cut); {
	case length <= briefLimit:
		return brief(it.e)
	case c >= full:
		return it.desc
	case c > least:
		return cut
	}
	return brief(it.e)
}

func (p plainly) some(full []item) {
	for i := range p.items {
		p.items[i] = full[i]
		if p.style.shows == showsDescription {
			p.items[i].desc = brief(full[i].e)
		}
	}
	order, before, n := p.byPriority(), p.more, 0
	used := 0
	for i, at := range order {
		used += cost(p.piece(nil, &p.items[at], false))
		p.more = before + len(order) - i - 1
		if p.more == 0 || used+p.frame() > p.o.Budget*1000 {
			break
		}
		n = i + 1
	}
	p.more = before
	p.keep(n, full)
	p.alone = n == 0 && p.frame() > p.o.Budget*1000
}

func (p plainly) keep(n int, full []item) {
	order := p.byPriority()
	var items []item
	for i, it := range p.items {
		if !slices.Contains(order[:n], i) {
			p.more++
			p.cut = append(p.cut, Cut{it.e.Name(), LeftOut})
			continue
		}
		items = append(items, it)
		if it.desc != full[i].desc {
			p.cut = append(p.cut, Cut{it.e.Name(), Shortened})
		}
	}
	p.items = items
}

func plainFirstWords(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	end := len(string(runes[:limit-3]))
	for i, r := range string(runes[:limit-2]) {
		if unicode.IsSpace(r) && i > len(string(runes[:limit-3]))/2 {
			end = i
		}
	}
	return strings.TrimRightFunc(s[:end], func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) + "..."
}

// mixed returns n skills whose descriptions are made of all that a list treats in a special way.
func mixed(r *rand.Rand, n int) []file {
	parts := []string{"word", "a", "Internationalisation", "camelCaseName", "HTTP", "12", "2026", "<tag>", "a&b", "it's", `"quoted"`, "...", "e.g.",
		"C++", "$=+|", "über", "翻译这个文件", "—", "  ", "\n", ",", "https://example.com/a/b?c=d", "x^2", "!"}
	files := make([]file, n)
	for i := range files {
		var b strings.Builder
		for range r.IntN(90) {
			b.WriteString(parts[r.IntN(len(parts))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		if r.IntN(9) == 0 {
			b.WriteString(strings.Repeat("无空格", r.IntN(100)))
		}
		files[i] = file{name: fmt.Sprintf("skill-%02d", i), desc: "Does. " + b.String()}
		if r.IntN(4) == 0 {
			files[i].front = fmt.Sprintf("priority: %d\nbrief: %q\n", r.IntN(3), "Brief "+strings.Repeat("text + ", r.IntN(9)))
		}
	}
	return files
}

// comparePlain renders a few skills in all styles with some budgets in both ways, and counts in reached what was cut.
func comparePlain(t *testing.T, r *rand.Rand, reached map[string]int) {
	c := catalog(t, mixed(r, 1+r.IntN(25))...)
	for _, style := range Styles() {
		whole := render(t, c, &Options{Style: style}).Tokens
		for range 4 {
			o := &Options{Style: style, Budget: 1 + r.IntN(whole+1), MaxSkills: r.IntN(2) * r.IntN(20), Activation: []Activation{Short, Long}[r.IntN(2)]}
			got, want := render(t, c, o), plainCatalog(t, c, o)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v\ngot  %+v\nwant %+v", o, got, want)
			}
			for _, cut := range got.Cut {
				reached[cut.What]++
			}
		}
	}
}

// C41: a budget is kept with the same bytes as the plain way, for all styles and ways to cut.
func TestBudgetAgainstThePlainWay(t *testing.T) {
	r, reached := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for range 15 {
		comparePlain(t, r, reached)
	}
	if len(reached) != 3 {
		t.Errorf("reached %v, want all three ways to cut", reached)
	}
}

// FuzzBudget holds the fast way to keep a budget against the plain one.
func FuzzBudget(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { comparePlain(t, rand.New(rand.NewPCG(seed, seed)), map[string]int{}) })
}
