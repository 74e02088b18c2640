package kalshi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

// ask sends one GET and returns the code and the object of the answer.
func ask(t *testing.T, s *kalshi.Server, target string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, kalshi.Prefix+target, nil))
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v in %q", target, err, w.Body)
	}
	return w.Code, body
}

// list returns the named list of an answer.
func list(t *testing.T, body map[string]any, name string) []map[string]any {
	t.Helper()
	all, isList := body[name].([]any)
	if !isList {
		t.Fatalf("no list %q in %v", name, body)
	}
	var objects []map[string]any
	for _, one := range all {
		objects = append(objects, one.(map[string]any))
	}
	return objects
}

func TestEnvelopes(t *testing.T) { // R162
	rows := []struct{ target, today, legacy string }{
		{"/exchange/status", "exchange_active exchange_estimated_resume_time trading_active", ""},
		{"/markets", "cursor markets", ""},
		{"/markets/KXELONMARS-99", "market", ""},
		{"/markets/KXELONMARS-99/orderbook", "orderbook_fp", "orderbook"},
		{"/markets/trades", "cursor trades", ""},
		{"/events", "cursor events", ""},
		{"/events?with_milestones=true", "cursor events milestones", ""},
		{"/events/KXELONMARS-99", "event markets", ""},
		{"/events/KXELONMARS-99?with_nested_markets=true", "event", ""},
		{"/series", "series", ""},
		{"/series/KXBTC", "series", ""},
	}
	for _, era := range []kalshi.Era{kalshi.Today, kalshi.Legacy} {
		s := kalshi.NewServer(&kalshi.Options{Era: era})
		for _, row := range rows {
			want := row.today
			if era == kalshi.Legacy && row.legacy != "" {
				want = row.legacy
			}
			code, body := ask(t, s, row.target)
			got := strings.Join(slices.Sorted(maps.Keys(body)), " ")
			if code != http.StatusOK || got != want {
				t.Errorf("%v %s: got %d with %q, want 200 with %q", era, row.target, code, got, want)
			}
		}
	}
}

func TestEraOfNumbers(t *testing.T) {
	const target = "/markets/KXBTC-25DEC31-T100000"
	_, body := ask(t, kalshi.NewServer(nil), target)
	market := body["market"].(map[string]any)
	if got, want := market["yes_bid_dollars"], any("0.4200"); got != want {
		t.Errorf("today: yes_bid_dollars is %v, want %v", got, want)
	}
	if got, want := market["volume_fp"], any("19920.00"); got != want {
		t.Errorf("today: volume_fp is %v, want %v", got, want)
	}
	if _, found := market["yes_bid"]; found {
		t.Error("today: found a yes_bid in whole cents")
	}
	_, body = ask(t, kalshi.NewServer(&kalshi.Options{Era: kalshi.Legacy}), target)
	market = body["market"].(map[string]any)
	if got, want := market["yes_bid"], any(42.0); got != want {
		t.Errorf("legacy: yes_bid is %v, want %v", got, want)
	}
	if _, found := market["volume_fp"]; found {
		t.Error("legacy: found a volume_fp")
	}
}

func TestOrderbookAscendsAndDepthKeepsTheBest(t *testing.T) {
	const target = "/markets/KXBTC-25DEC31-T100000/orderbook"
	_, body := ask(t, kalshi.NewServer(nil), target+"?depth=2")
	book := body["orderbook_fp"].(map[string]any)
	got, err := json.Marshal(book["yes_dollars"])
	if want := `[["0.4000","1300.00"],["0.4200","13.00"]]`; err != nil || string(got) != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
	_, body = ask(t, kalshi.NewServer(&kalshi.Options{Era: kalshi.Legacy}), target)
	got, err = json.Marshal(body["orderbook"].(map[string]any)["yes"])
	if want := `[[1,200],[40,1300],[42,13]]`; err != nil || string(got) != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestFilters(t *testing.T) {
	s := kalshi.NewServer(nil)
	rows := []struct {
		name, target, list string
		want               int
	}{
		{"all markets", "/markets", "markets", 18},
		{"open is active", "/markets?status=open", "markets", 15},
		{"closed", "/markets?status=closed", "markets", 1},
		{"settled", "/markets?status=settled", "markets", 2},
		{"paused", "/markets?status=paused", "markets", 0},
		{"event", "/markets?event_ticker=KXBTC-25DEC31", "markets", 3},
		{"series", "/markets?series_ticker=KXHIGHNY", "markets", 13},
		{"tickers", "/markets?tickers=KXELONMARS-99,KXBTC-25DEC31-T100000,NONE", "markets", 2},
		{"combined only", "/markets?mve_filter=only", "markets", 1},
		{"combined excluded", "/markets?mve_filter=exclude", "markets", 17},
		{"closing later", "/markets?min_close_ts=1767300000", "markets", 0},
		{"limit", "/markets?limit=3", "markets", 3},
		{"limit 0 is the default", "/markets?limit=0", "markets", 18},
		{"trades of a market", "/markets/trades?ticker=KXBTC-25DEC31-T100000", "trades", 3},
		{"trades since", "/markets/trades?min_ts=1763531580", "trades", 2},
		{"trades until", "/markets/trades?max_ts=1763531580", "trades", 4},
		{"events without combined ones", "/events", "events", 4},
		{"open events", "/events?status=open", "events", 2},
		{"settled events", "/events?status=settled", "events", 2},
		{"events of a series", "/events?series_ticker=KXHIGHNY", "events", 2},
		{"series of a category", "/series?category=Crypto", "series", 1},
		{"series with a tag", "/series?tags=BTC,Daily", "series", 2},
	}
	for _, row := range rows {
		code, body := ask(t, s, row.target)
		if code != http.StatusOK {
			t.Errorf("%s: code %d", row.name, code)
			continue
		}
		if got := len(list(t, body, row.list)); got != row.want {
			t.Errorf("%s: got %d, want %d", row.name, got, row.want)
		}
	}
}

func TestPaging(t *testing.T) {
	s := kalshi.NewServer(&kalshi.Options{PageSize: 7, Extra: 30})
	seen := map[string]int{}
	cursor, pages := "", 0
	for {
		_, body := ask(t, s, "/events?status=open&limit=100&cursor="+cursor)
		for _, event := range list(t, body, "events") {
			seen[event["event_ticker"].(string)]++
		}
		pages++
		if cursor = body["cursor"].(string); cursor == "" {
			break
		}
	}
	if len(seen) != 32 || pages != 5 {
		t.Errorf("got %d events on %d pages, want 32 on 5", len(seen), pages)
	}
	for ticker, times := range seen {
		if times != 1 {
			t.Errorf("got %s %d times", ticker, times)
		}
	}
}

func TestRefusals(t *testing.T) {
	rows := []struct {
		target string
		want   int
	}{
		{"/markets/NONE", 404}, {"/markets/NONE/orderbook", 404}, {"/events/NONE", 404}, {"/series/NONE", 404},
		{"/nowhere", 404}, {"/", 404}, {"/markets/KXELONMARS-99/other", 404},
		{"/markets?limit=1001", 400}, {"/markets?limit=x", 400}, {"/markets?limit=-1", 400}, {"/markets?status=active", 400},
		{"/events?limit=0", 400}, {"/events?limit=201", 400}, {"/events?status=paused", 400},
		{"/markets/KXELONMARS-99/orderbook?depth=101", 400}, {"/markets/trades?min_ts=x", 400}, {"/markets/trades?max_ts=-1", 400},
		{"/markets?cursor=nonsense", 400}, {"/markets?min_close_ts=x", 400},
		{"/markets/trades?cursor=bWFya2V0czox", 400}, // a cursor of /markets
	}
	for _, era := range []kalshi.Era{kalshi.Today, kalshi.Legacy} {
		s := kalshi.NewServer(&kalshi.Options{Era: era})
		for _, row := range rows {
			code, body := ask(t, s, row.target)
			if inner, wrapped := body["error"].(map[string]any); wrapped == (era == kalshi.Legacy) && wrapped {
				body = inner
			}
			if code != row.want || body["code"] == nil || body["message"] == nil {
				t.Errorf("%v %s: got %d %v, want %d with a code and a message", era, row.target, code, body, row.want)
			}
		}
	}
	w := httptest.NewRecorder()
	kalshi.NewServer(nil).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/markets", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", w.Code)
	}
}

func TestHaltedExchangeAnswersWith503AndAnOrdinaryBody(t *testing.T) {
	code, body := ask(t, kalshi.NewServer(&kalshi.Options{Halted: true}), "/exchange/status")
	if code != http.StatusServiceUnavailable || body["trading_active"] != false || body["exchange_active"] != true {
		t.Errorf("got %d %v", code, body)
	}
	if body["exchange_estimated_resume_time"] == nil {
		t.Error("no time to resume")
	}
}

func TestFailAndRewrite(t *testing.T) {
	s := kalshi.NewServer(&kalshi.Options{
		Fail: func(n int, r kalshi.Request) *kalshi.Failure {
			switch n {
			case 0:
				return &kalshi.Failure{Status: 429, RetryAfter: "2"}
			case 1:
				return &kalshi.Failure{Status: 200, Body: `{"a":1}`}
			}
			return nil
		},
		Rewrite: func(answer any) any { return map[string]any{"was": answer} },
	})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/series", nil))
	if w.Code != 429 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("first: got %d %v", w.Code, w.Header())
	}
	if _, body := ask(t, s, "/series"); body["a"] != 1.0 {
		t.Errorf("second: got %v", body)
	}
	if _, body := ask(t, s, "/series/KXBTC"); body["was"] == nil {
		t.Errorf("third: got %v", body)
	}
}

func TestRequestsAreRecordedInOrderOverTheNetwork(t *testing.T) {
	s := kalshi.NewServer(nil)
	base, stop := s.Start()
	defer stop()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			reply, err := http.Get(base + "/series?category=World")
			if err != nil {
				t.Error(err)
				return
			}
			reply.Body.Close()
		})
	}
	group.Wait()
	got := s.Requests()
	if len(got) != 8 {
		t.Fatalf("got %d requests, want 8", len(got))
	}
	for _, r := range got {
		if r.Path != "/series" || r.Query.Get("category") != "World" || r.Agent == "" {
			t.Errorf("got %+v", r)
		}
	}
}

func TestEraNames(t *testing.T) {
	if got, want := kalshi.Today.String()+" "+kalshi.Legacy.String(), "today legacy"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
