package skills_test

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

var eras = []kalshi.Era{kalshi.Today, kalshi.Legacy}

// exchange is a stand-in server and the settings that a script needs to reach it.
type exchange struct {
	*kalshi.Server
	base string
	env  []string
}

func open(t *testing.T, o *kalshi.Options) exchange {
	t.Helper()
	s := kalshi.NewServer(o)
	base, stop := s.Start()
	t.Cleanup(stop)
	return exchange{s, base, []string{"KALSHI_API_BASE=" + base, "AGENT_SKILL_CACHE_DIR=" + t.TempDir()}}
}

// run starts a script of kalshi-markets, named without its extension.
func (x exchange) run(t *testing.T, script string, args ...string) result {
	t.Helper()
	return run(t, x.env, absolute(t, "kalshi-markets/scripts/"+script+".py"), args...)
}

// document decodes stdout, which must be exactly one JSON document.
func (r result) document(t *testing.T) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.stdout))
	var data map[string]any
	if err := d.Decode(&data); err != nil {
		t.Fatalf("stdout is not JSON: %v\n%s\nstderr: %s", err, r.stdout, r.stderr)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more than one document on stdout:\n%s", r.stdout)
	}
	return data
}

func (r result) ok(t *testing.T) result {
	t.Helper()
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
	}
	return r
}

// calls are ordinary calls of the ten scripts: the request that each must make, and its result.
var calls = []struct {
	name  string // the script's name, and a word to distinguish two calls
	args  string
	want  string   // path and query of the last request
	keys  string   // of the JSON in today's era
	human []string // parts of the text for a person, in order, in both eras
}{
	{"status", "", "/exchange/status?", "exchange_active exchange_estimated_resume_time trading_active",
		[]string{"Exchange: active", "Trading:  active"}},
	{"markets", "--limit 3", "/markets?limit=3&status=open", "cursor markets", []string{
		"Kalshi markets: 3 on this page", "1. KXBTC-25DEC31-T100000  [active]", "Will Bitcoin be above $100,000",
		"YES bid 42¢, ask 44¢, last 43¢", "in 24 h 280, in all 19,920", "More results: add --cursor bWFya2V0czoz"}},
	{"markets filtered", "--tickers KXELONMARS-99 --status all --mve-filter exclude",
		"/markets?limit=10&mve_filter=exclude&tickers=KXELONMARS-99", "cursor markets",
		[]string{"Kalshi markets: 1", "KXELONMARS-99  [closed]"}},
	{"markets none", "--series-ticker NONE --event-ticker NONE-1", "/markets?event_ticker=NONE-1&limit=10&series_ticker=NONE&status=open",
		"cursor markets", []string{"Kalshi markets: 0", "No market fits"}},
	{"market", "KXHIGHNY-25NOV01-B60", "/markets/KXHIGHNY-25NOV01-B60?", "", []string{
		"Market KXHIGHNY-25NOV01-B60", "High temp in NYC?", "60° to 61°", "Status: finalized", "YES  bid    99¢   ask   100¢", "NO   bid     0¢   ask     1¢",
		"total 4,100", "Open interest 1,234", "Closes:  2025-12-31 23:59:00 UTC", "Result: yes", "Rules", "--json has the whole text"}},
	{"orderbook", "KXBTC-25DEC31-T100000", "/markets/KXBTC-25DEC31-T100000/orderbook?depth=10", "orderbook_fp", []string{
		"YES bids, best first", "42¢             13", "40¢          1,300", "1¢            200", "NO bids", "56¢", "5¢",
		"bid 42¢, implied ask 44¢", "Implied probability of YES: about 43 %", "Levels: 3 YES, 2 NO"}},
	{"orderbook whole", "KXELONMARS-99 --depth 0", "/markets/KXELONMARS-99/orderbook?", "orderbook_fp",
		[]string{"(no orders)", "(no orders)", "Levels: 0 YES, 0 NO"}},
	{"trades", "--limit 2", "/markets/trades?limit=2", "cursor trades", []string{
		"Kalshi trades: 2", "1. KXBTC-25DEC31-T100000", "YES at 53¢, 2,500 contracts", "2025-11-19 05:54:56 UTC",
		"2. KXHIGHNY-25DEC31-B40", "NO at 48¢, 2,501 contracts", "--cursor"}},
	{"trades filtered", "--ticker KXBTC-25DEC31-T100000 --min-ts 1 --max-ts 2", "/markets/trades?limit=10&max_ts=2&min_ts=1&ticker=KXBTC-25DEC31-T100000",
		"cursor trades", []string{"No trade fits"}},
	{"events", "--status open --with-markets", "/events?limit=10&status=open&with_nested_markets=true", "cursor events", []string{
		"Kalshi events: 2", "1. KXBTC-25DEC31", "Category: Crypto   Series: KXBTC", "At most one", "Markets: 3", "YES 42¢ / 44¢", "Markets: 12", "7 more: see event.py"}},
	{"events page", "--limit 1 --series-ticker KXHIGHNY", "/events?limit=1&series_ticker=KXHIGHNY", "cursor events",
		[]string{"Kalshi events: 1", "--cursor"}},
	{"event", "KXHIGHNY-25DEC31", "/events/KXHIGHNY-25DEC31?", "event markets", []string{
		"Event KXHIGHNY-25DEC31", "Series:   KXHIGHNY", "Mutually exclusive: yes", "Markets: 12", "KXHIGHNY-25DEC31-B30  [active]  30° to 31°",
		"YES bid 8¢, ask 10¢, last 8¢", "2 more: add --with-markets"}},
	{"event nested", "KXHIGHNY-25DEC31 --with-markets", "/events/KXHIGHNY-25DEC31?with_nested_markets=true", "event",
		[]string{"Markets: 12", "KXHIGHNY-25DEC31-B52"}},
	{"series_list", "--tags Daily --limit 1", "/series?tags=Daily", "series total", []string{
		"Kalshi series: 2 in all", "1  Crypto", "1  Other", "First 1", "KXBTC  Bitcoin price", "daily; BTC, Daily", "and 1 more"}},
	{"series_list matched", "--match TEMPERATURE", "/series?", "series total", []string{"Kalshi series: 1 in all", "KXHIGHNY"}},
	{"series", "KXBTC", "/series/KXBTC?", "series", []string{
		"Series KXBTC", "Category:  Crypto", "Frequency: daily", "Tags:      BTC, Daily", "Contract:  https://contracts.example/KXBTC.pdf",
		"Price Index", "https://index.example/btc", "Staff of the source"}},
	{"search", "BITCOIN", "/events?limit=100&status=open&with_nested_markets=true",
		"complete indexed_at indexed_markets keyword markets matches", []string{
			"Open markets with 'BITCOIN': 2", "1. KXBTC-25DEC31-T150000  (Bitcoin price)", "9,100 contracts in 24 h",
			"2. KXBTC-25DEC31-T100000", "YES bid 42¢, ask 44¢, last 43¢", "Looked at 14 markets"}},
}

func TestCalls(t *testing.T) { // R109, R162
	for _, era := range eras {
		var jobs []job
		var servers []exchange
		for _, c := range calls {
			x := open(t, &kalshi.Options{Era: era})
			script, _, _ := strings.Cut(c.name, " ")
			args := strings.Fields(c.args)
			servers = append(servers, x)
			jobs = append(jobs, x.job(t, script, append(args, "--json")...), x.job(t, script, args...))
		}
		results := batch(t, []string{"AGENT_SKILL_CACHE_DIR=" + t.TempDir()}, jobs...)
		for i, c := range calls {
			t.Run(era.String()+"/"+c.name, func(t *testing.T) {
				keys := c.keys
				if era == kalshi.Legacy {
					keys = strings.TrimSuffix(keys, "_fp")
				}
				data := results[2*i].ok(t).document(t)
				if got := strings.Join(slices.Sorted(maps.Keys(data)), " "); keys != "" && got != keys {
					t.Errorf("JSON has %q, want %q", got, keys)
				}
				requests := servers[i].Requests()
				last := requests[len(requests)-1]
				if got := last.Path + "?" + last.Query.Encode(); got != c.want {
					t.Errorf("the request was %s, want %s", got, c.want)
				}
				if !strings.HasPrefix(last.Agent, "agent-base") {
					t.Errorf("the request came from %q", last.Agent)
				}
				text := results[2*i+1].ok(t).stdout
				rest := text
				for _, part := range c.human {
					_, after, found := strings.Cut(rest, part)
					if !found {
						t.Fatalf("no %q, or not in its place, in:\n%s", part, text)
					}
					rest = after
				}
			})
		}
	}
}

// The batches above share an interpreter. Here each script is its own program, as a user runs it.
func TestEachScriptRunsByItself(t *testing.T) { // R162
	x := open(t, nil)
	var jobs []job
	for _, script := range scripts {
		jobs = append(jobs, x.job(t, script, append(ordinary[script], "--json")...))
	}
	together := batch(t, x.env, jobs...)
	for i, script := range scripts {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if r := x.run(t, script, jobs[i].Args...).ok(t); r != together[i] {
				t.Errorf("by itself\n%+v\nin a batch\n%+v", r, together[i])
			}
		})
	}
}

func TestMarketIsUnwrapped(t *testing.T) {
	t.Parallel()
	data := open(t, nil).run(t, "market", "KXELONMARS-99", "--json").ok(t).document(t)
	if data["ticker"] != "KXELONMARS-99" || data["market"] != nil {
		t.Errorf("got %v", data)
	}
}

func TestPricesBelowACent(t *testing.T) {
	t.Parallel()
	text := open(t, nil).run(t, "market", "KXBTC-25DEC31-T150000").ok(t).stdout
	if !strings.Contains(text, "bid   2.5¢   ask  3.75¢") {
		t.Errorf("got:\n%s", text)
	}
}

func TestSeriesListIsCutButCountsAll(t *testing.T) {
	t.Parallel()
	x := open(t, nil)
	results := batch(t, nil, x.job(t, "series_list", "--limit", "1", "--json"), x.job(t, "series_list", "--limit", "0", "--json"))
	for i, want := range []int{1, 4} {
		data := results[i].ok(t).document(t)
		if got := len(data["series"].([]any)); got != want || data["total"] != 4.0 {
			t.Errorf("got %d of %v, want %d of 4", got, data["total"], want)
		}
	}
}

func TestCursorLeadsToTheNextPage(t *testing.T) {
	t.Parallel()
	x := open(t, nil)
	first := x.run(t, "markets", "--limit", "2", "--json").ok(t).document(t)
	second := x.run(t, "markets", "--limit", "2", "--cursor", first["cursor"].(string), "--json").ok(t).document(t)
	one, two := first["markets"].([]any)[1], second["markets"].([]any)[0]
	if one.(map[string]any)["ticker"] == two.(map[string]any)["ticker"] {
		t.Errorf("the second page begins with %v again", one)
	}
}

func TestHelp(t *testing.T) { // R109
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			x := exchange{}
			r := x.run(t, script, "--help").ok(t)
			for _, part := range []string{"Usage: " + script + ".py", "JSON: ", "Examples:", "--json", "--help"} {
				if !strings.Contains(r.stdout, part) {
					t.Errorf("the help has no %q:\n%s", part, r.stdout)
				}
			}
		})
	}
}

func TestHaltedExchangeIsAnAnswer(t *testing.T) { // R162
	t.Parallel()
	for _, era := range eras {
		x := open(t, &kalshi.Options{Era: era, Halted: true})
		results := batch(t, nil, x.job(t, "status", "--json"), x.job(t, "status"), x.job(t, "status", "--check", "--json"))
		data := results[0].ok(t).document(t)
		if data["trading_active"] != false || data["exchange_estimated_resume_time"] == nil {
			t.Errorf("%v: got %v", era, data)
		}
		text := results[1].ok(t).stdout
		for _, part := range []string{"Trading:  inactive", "Resumes:  2025-11-20 12:00:00 UTC (already past)", "no orders are matched"} {
			if !strings.Contains(text, part) {
				t.Errorf("%v: no %q in:\n%s", era, part, text)
			}
		}
		if r := results[2]; r.code != 3 || r.document(t)["trading_active"] != false {
			t.Errorf("%v: --check: exit code %d", era, r.code)
		}
		if n := len(x.Requests()); n != 3 {
			t.Errorf("%v: %d requests for three answers", era, n)
		}
	}
}

// ordinary arguments, with which a test can run every script.
var ordinary = map[string][]string{
	"status": nil, "markets": nil, "trades": nil, "events": {"--with-markets"}, "series_list": nil,
	"market": {"KXBTC-25DEC31-T100000"}, "orderbook": {"KXBTC-25DEC31-T100000"},
	"event": {"KXBTC-25DEC31"}, "series": {"KXBTC"}, "search": {"k"},
}

// twist replaces the values of a tree; path is the last key before a value.
func twist(tree any, key string, change func(key string, value any) any) any {
	switch v := tree.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = twist(item, k, change)
		}
		return v
	case []any:
		for i, item := range v {
			v[i] = twist(item, key, change)
		}
		return v
	}
	return change(key, tree)
}

func TestHostileTexts(t *testing.T) { // control characters of an answer never reach the terminal
	const evil = "\x1b[31mred\x1b]0;title\x07 \u202ebidi\u2066 \u0085\u2028\r\nnext\x00\x7f\u009b2J \u200bzero\U000e0041tag"
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			x := open(t, &kalshi.Options{Halted: true, Rewrite: func(answer any) any {
				return twist(answer, "", func(key string, value any) any {
					text, isText := value.(string)
					if !isText || key == "cursor" || key == "status" || strings.HasSuffix(key, "_dollars") || strings.HasSuffix(key, "_fp") {
						return value
					}
					return evil + text + evil
				})
			}})
			both := batch(t, x.env, x.job(t, script, ordinary[script]...), x.job(t, script, append(ordinary[script], "--json")...))
			text, stdout := both[0].ok(t).stdout, both[1].ok(t).stdout
			if script != "orderbook" && !strings.Contains(text, "next") { // an order book is numbers only
				t.Fatalf("the output does not contain the hostile text:\n%q", text)
			}
			for _, c := range text {
				if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
					t.Fatalf("the output holds %U:\n%q", c, text)
				}
			}
			if strings.ContainsFunc(stdout, func(c rune) bool { return c > unicode.MaxASCII || (c < ' ' && c != '\n') }) {
				t.Errorf("the JSON holds bare control characters:\n%q", stdout)
			}
		})
	}
}

func TestOddValuesNeverBreakAScript(t *testing.T) {
	odd := map[string]func(key string, value any) any{
		"objects":  func(string, any) any { return map[string]any{"a": []any{1, nil}} },
		"numbers":  func(string, any) any { return 1234567890.5 },
		"nothing":  func(string, any) any { return nil },
		"booleans": func(string, any) any { return true },
		"extremes": func(key string, value any) any {
			values := []string{"1E+999999", "1e-999999", "NaN", "-Infinity", strings.Repeat("9", 5000), "-5"}
			return values[len(key)%len(values)]
		},
		"lists": func(string, any) any { return []any{[]any{"x"}} },
	}
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			var jobs []job
			kinds := slices.Sorted(maps.Keys(odd))
			for _, kind := range kinds {
				x := open(t, &kalshi.Options{PageSize: 5, Rewrite: func(answer any) any { return twist(answer, "", odd[kind]) }})
				jobs = append(jobs, x.job(t, script, ordinary[script]...))
			}
			for i, r := range batch(t, []string{"AGENT_SKILL_CACHE_DIR=" + t.TempDir()}, jobs...) {
				kind := kinds[i]
				if r.code > 1 || strings.Contains(r.stderr, "Traceback") || len(r.stdout) > 100_000 {
					t.Errorf("%s: exit code %d, %d bytes, stderr:\n%s", kind, r.code, len(r.stdout), r.stderr)
				}
			}
		})
	}
}
