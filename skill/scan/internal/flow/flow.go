// Package flow reads what programs do: it follows the texts in them through assignments, calls and pipes to the calls that read, write,
// send, run and decode, and returns facts. What it cannot follow it says as a guess.
//
// What a call does stands in the tables of the folder data, one for each language.
package flow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// Limits of one call of Read.
const (
	maxSteps  = 600_000  // values
	maxWork   = 64 << 20 // bytes of the texts that are made
	maxFacts  = 20_000
	maxNested = 3  // code in a text in code
	maxCalls  = 24 // calls inside of each other
	maxEach   = 60 // calls of one function that are followed
	maxDetail = 200
)

// Unit is a program of a skill.
type Unit struct {
	Language string     // Python, JavaScript or Shell
	Place    fact.Place // without Line
	Program  *code.Program
	Maybe    bool // that it is run is a guess
}

// Options configures Read.
type Options struct {
	// Parse reads code that stands in a text, which begins at a line of its file. It returns nil for a language that it cannot read.
	Parse func(language, source string, line int) *code.Program

	// Run is told which file a program runs, and in which language. Nil is as one that does nothing.
	Run func(language, from, name string)

	// Stop is asked now and then whether to stop, as if there were too much to follow. Nil never stops.
	Stop func() bool
}

// Result is what Read found.
type Result struct {
	Facts  []fact.Fact
	Partly map[int]string // by the positions of units: why not all of it was followed
}

// Read returns what the programs of a skill do. They may import each other.
func Read(units []Unit, o *Options) *Result {
	e := &engine{
		o: o, units: units, tables: tables(), byKey: map[string]int{}, done: map[string]*scope{}, at: map[string]int{},
		written: map[string][]int{}, contents: map[string]*value{}, runs: map[int]string{}, called: map[*code.Statement]int{}, partly: map[int]string{},
	}
	for i, u := range units {
		if u.Place.Block == "" && len(u.Place.Inside) == 0 {
			e.at[u.Place.File] = i
		}
	}
	for i := range units {
		e.load(i)
	}
	e.again()
	return &Result{Facts: e.facts, Partly: e.partly}
}

// engine follows the programs of one skill.
type engine struct {
	o      *Options
	units  []Unit
	tables map[string]map[string]*row
	at     map[string]int    // units by their files
	done   map[string]*scope // of units that were read, by their keys

	facts    []fact.Fact
	byKey    map[string]int    // facts by what they say and where
	written  map[string][]int  // facts by the files that they wrote, and by the folders, with a slash, that they filled
	contents map[string]*value // what files were written with
	runs     map[int]string    // files that were run, by facts
	partly   map[int]string
	steps    int
	work     int
	nested   int
	deep     int
	called   map[*code.Statement]int // how often a function was followed

	unit    *Unit  // that is being read
	content string // that a file gets
	rows    map[string]*row
	i       int
	top     *scope
	sc      *scope
	line    int
	base    []int // facts that the present code is made from
	ret     *[]*value
}

// scope has the variables of a program or a function.
type scope struct {
	names   map[string]*value
	parent  *scope
	methods map[string][]*function // of the classes of a program
	stars   []string               // modules all of whose names are here
	funcs   []*function
}

func newScope(parent *scope) *scope { return &scope{names: map[string]*value{}, parent: parent} }

// function is a function of the program.
type function struct {
	st     *code.Statement
	params []string
	body   []code.Statement
	scope  *scope
	method bool
	active bool
	cached *value

	unit *Unit // that it stands in
	i    int
	top  *scope
}

// load reads a unit once and returns its variables.
func (e *engine) load(i int) *scope {
	u := &e.units[i]
	key := fmt.Sprint(i)
	if s, ok := e.done[key]; ok {
		return s
	}
	s := newScope(nil)
	s.methods = map[string][]*function{}
	e.done[key] = s
	before := *e
	e.unit, e.rows, e.i, e.top, e.sc, e.line, e.base, e.ret = u, e.tables[u.Language], i, s, s, 0, nil, nil
	e.program(u.Program)
	e.restore(&before)
	return s
}

// restore goes back to the place in another program.
func (e *engine) restore(b *engine) {
	e.unit, e.rows, e.i, e.top, e.sc, e.line, e.base, e.ret = b.unit, b.rows, b.i, b.top, b.sc, b.line, b.base, b.ret
}

// program follows a program, then its functions that nothing called.
func (e *engine) program(p *code.Program) {
	e.statements(p.Body)
	for i := 0; i < len(e.top.funcs); i++ {
		if fn := e.top.funcs[i]; e.called[fn.st] == 0 {
			e.follow(fn, nil, nil)
		}
	}
}

// inside follows code that stands in a text, made from some facts, and returns what it prints.
func (e *engine) inside(language, source string, from []int) *value {
	if e.nested >= maxNested || strings.TrimSpace(source) == "" || strings.TrimSpace(source) == hole {
		return &value{from: from}
	}
	if e.spend(8 * len(source)) {
		return &value{from: from}
	}
	p := e.o.Parse(language, source, e.line)
	if p == nil {
		return &value{from: from}
	}
	before := *e
	u := *e.unit
	u.Language = language
	if language != before.unit.Language || e.nested > 0 || language != Shell {
		u.Place.Block = cmp.Or(u.Place.Block, "string")
	}
	s := newScope(nil)
	s.methods = map[string][]*function{}
	if language == Shell && before.unit.Language == Shell {
		s.parent = e.sc
	}
	var out []*value
	first := len(e.facts)
	e.nested++
	e.unit, e.rows, e.top, e.sc, e.base, e.ret = &u, e.tables[language], s, s, union(e.base, from), &out
	e.program(p)
	e.restore(&before)
	e.nested--
	v := unknown(out...)
	if len(out) == 1 {
		only := *out[0]
		v = &only
	}
	v.from = union(v.from, from)
	for i := first; i < len(e.facts) && language == Shell; i++ { // a command prints what it reads
		if k := e.facts[i].Kind; k == fact.Reads || k == fact.Sends || k == fact.Decodes {
			v.from = union(v.from, []int{i})
		}
	}
	return v
}

// emit adds a fact and returns its position. The same fact at the same line is one.
func (e *engine) emit(f fact.Fact) []int {
	f.Place = e.unit.Place
	f.Place.Line = e.line
	f.Maybe = f.Maybe || e.unit.Maybe
	f.Detail = cut(strings.ReplaceAll(f.Detail, hole, "*"))
	f.Name = cut(strings.ReplaceAll(f.Name, hole, "*"))
	f.From = union(f.From, e.base)
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%d\x00%d\x00%s", f.Kind, f.Object, f.Name, f.Detail, e.i, f.Place.Line, f.Place.Block)
	if i, ok := e.byKey[key]; ok {
		old := &e.facts[i]
		old.From, old.Maybe = slices.DeleteFunc(slices.Clone(union(old.From, f.From)), func(n int) bool { return n == i }), old.Maybe && f.Maybe
		return []int{i}
	}
	if len(e.facts) >= maxFacts {
		e.tooMuch()
		return nil
	}
	e.byKey[key] = len(e.facts)
	e.facts = append(e.facts, f)
	return []int{len(e.facts) - 1}
}

func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail], "")
}

// spend counts bytes of texts, and reports whether there were too many.
func (e *engine) spend(n int) bool {
	if e.work += n; e.work > maxWork {
		e.tooMuch()
	}
	return e.work > maxWork
}

func (e *engine) tooMuch() { e.partly[e.i] = "it does too much to follow all of it" }

// find returns the module of a skill that a program imports.
func (e *engine) find(module string) *scope {
	dir := path.Dir(e.unit.Place.File)
	var names []string
	switch e.unit.Language {
	case Python:
		rest := strings.TrimLeft(module, ".")
		for range len(module) - len(rest) - 1 {
			dir = path.Dir(dir)
		}
		rest = strings.ReplaceAll(rest, ".", "/")
		for _, d := range []string{dir, path.Dir(dir), ".", "scripts", "src", "lib"} {
			names = append(names, path.Join(d, rest)+".py", path.Join(d, rest, "__init__.py"))
		}
	case JavaScript:
		if !strings.HasPrefix(module, ".") {
			return nil
		}
		name := path.Join(dir, module)
		bare := strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".mjs")
		for _, end := range []string{"", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", "/index.js", "/index.ts"} {
			names = append(names, name+end, bare+end)
		}
	default:
		names = []string{path.Join(dir, module), path.Clean(module), path.Join(dir, path.Base(module))}
	}
	for _, name := range names {
		if i, ok := e.at[name]; ok && e.units[i].Language == e.unit.Language {
			return e.load(i)
		}
	}
	return nil
}
