package skills_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

// failed checks the result of a failing script: an object on stdout for a program, one line on stderr for a person, exit
// code 1.
func (r result) failed(t *testing.T, want string) {
	t.Helper()
	if r.code != 1 {
		t.Fatalf("exit code %d, want 1; stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	data := r.document(t)
	message, isText := data["error"].(string)
	if !isText || len(data) != 1 || !strings.HasPrefix(message, want) {
		t.Errorf("stdout: got %v, want an error %q", data, want)
	}
	if r.stderr != "Error: "+message+"\n" {
		t.Errorf("stderr: got %q, want one line with %q", r.stderr, message)
	}
}

func TestUnknownTickers(t *testing.T) { // R109
	for _, row := range []struct{ script, want string }{
		{"market", "Market not found: NONE-1"}, {"orderbook", "Market not found: NONE-1"},
		{"event", "Event not found: NONE-1"}, {"series", "Series not found: NONE-1"},
	} {
		t.Run(row.script, func(t *testing.T) {
			t.Parallel()
			var jobs []job
			for _, era := range eras {
				x := open(t, &kalshi.Options{Era: era})
				jobs = append(jobs, x.job(t, row.script, "NONE-1", "--json"), x.job(t, row.script, "NONE-1"))
			}
			results := batch(t, nil, jobs...)
			for i := range eras {
				results[2*i].failed(t, row.want)
				if r := results[2*i+1]; r.code != 1 || r.stdout != "" || r.stderr != "Error: "+row.want+"\n" {
					t.Errorf("for a person: exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
				}
			}
		})
	}
}

func TestUsageErrors(t *testing.T) { // R109: exit code 2, nothing on stdout
	t.Parallel()
	x := open(t, nil)
	var jobs []job
	var want []string
	for _, row := range []struct{ call, want string }{
		{"market --json", "Missing argument 'TICKER'"},
		{"market ../status --json", "letters, digits"},
		{"market .. --json", "letters, digits"},
		{"event A/B --json", "letters, digits"},
		{"series A?b=c --json", "letters, digits"},
		{"orderbook KXELONMARS-99 --depth 101", "0<=x<=100"},
		{"markets --limit 0", "1<=x<=1000"},
		{"markets --limit 1001 --json", "1<=x<=1000"},
		{"markets --status active", "'active' is not one of"},
		{"events --limit 201", "1<=x<=200"},
		{"trades --min-ts 5 --max-ts 4", "--min-ts is later than --max-ts"},
		{"trades --limit x", "not a valid integer"},
		{"search --json", "a KEYWORD is needed"},
		{"status --nonsense", "No such option"},
	} {
		words := strings.Fields(row.call)
		jobs, want = append(jobs, x.job(t, words[0], words[1:]...)), append(want, row.want)
	}
	for i, r := range batch(t, nil, jobs...) {
		if r.code != 2 || r.stdout != "" || !strings.Contains(r.stderr, want[i]) {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", jobs[i].Args, r.code, r.stdout, r.stderr)
		}
	}
	if n := len(x.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// firstly makes the first n requests fail.
func firstly(n int, f kalshi.Failure) func(int, kalshi.Request) *kalshi.Failure {
	return func(i int, _ kalshi.Request) *kalshi.Failure {
		if i < n {
			return &f
		}
		return nil
	}
}

func TestBusyServerIsAskedAgain(t *testing.T) { // R162
	t.Parallel()
	var servers []exchange
	var jobs []job
	for _, script := range scripts {
		x := open(t, &kalshi.Options{Fail: firstly(1, kalshi.Failure{Status: http.StatusTooManyRequests})})
		servers, jobs = append(servers, x), append(jobs, x.job(t, script, append(ordinary[script], "--json")...))
	}
	for i, r := range batch(t, []string{"AGENT_SKILL_CACHE_DIR=" + t.TempDir()}, jobs...) {
		r.ok(t).document(t)
		asked := servers[i].Requests()
		if len(asked) < 2 || asked[0].Path != asked[1].Path {
			t.Errorf("%s: asked %v", scripts[i], asked)
		}
	}
}

func TestFailuresOfTheService(t *testing.T) {
	t.Parallel()
	const always = 1000
	rows := []struct {
		name     string
		failure  kalshi.Failure
		want     string
		requests int
	}{
		{"broken", kalshi.Failure{Status: 500}, "API error: 500 - ", 4},
		{"busy too long", kalshi.Failure{Status: 429, RetryAfter: "3600"}, "API error: 429 - ", 1},
		{"odd wait", kalshi.Failure{Status: 429, RetryAfter: "-1e99"}, "API error: 429 - ", 4},
		{"refused", kalshi.Failure{Status: 403, Body: "<html>\x1b[31m" + strings.Repeat("no ", 1000)}, "API error: 403 - <html>[31mno no", 1},
		{"moved", kalshi.Failure{Status: 302}, "API error: 302 - ", 1},
		{"page", kalshi.Failure{Status: 200, Body: "<html>"}, "the API did not answer with JSON", 1},
		{"list", kalshi.Failure{Status: 200, Body: "[1]"}, "the API did not answer with a JSON object", 1},
		{"cut", kalshi.Failure{Status: 200, Body: `{"series":`}, "the API did not answer with JSON", 1},
		{"deep", kalshi.Failure{Status: 200, Body: `{"a":` + strings.Repeat("[", 200_000)}, "the API did not answer with JSON", 1},
		{"bytes", kalshi.Failure{Status: 200, Body: "{\"a\":\"\xff\xfe\"}"}, "the API did not answer with JSON", 1},
		{"other", kalshi.Failure{Status: 200, Body: `{"series":null}`}, "the answer of the API holds no series", 1},
		{"endless", kalshi.Failure{Status: 200, Body: `{"series":{"volume":1e999}}`}, "the answer of the API cannot be written as JSON", 1},
	}
	var servers []exchange
	var jobs []job
	for _, row := range rows {
		x := open(t, &kalshi.Options{Fail: firstly(always, row.failure)})
		servers, jobs = append(servers, x), append(jobs, x.job(t, "series", "KXBTC", "--json"))
	}
	for i, r := range batch(t, nil, jobs...) {
		t.Run(rows[i].name, func(t *testing.T) {
			r.failed(t, rows[i].want)
			if got := len(servers[i].Requests()); got != rows[i].requests {
				t.Errorf("%d requests, want %d", got, rows[i].requests)
			}
			if len(r.stderr) > 400 {
				t.Errorf("stderr has %d bytes", len(r.stderr))
			}
		})
	}
}

func TestWhatJSONDoesNotKnowBecomesNull(t *testing.T) {
	t.Parallel()
	body := `{"series":{"a":NaN,"b":-Infinity,"c":1}}`
	x := open(t, &kalshi.Options{Fail: firstly(1, kalshi.Failure{Status: 200, Body: body})})
	data := x.run(t, "series", "KXBTC", "--json").ok(t).document(t)["series"].(map[string]any)
	if data["a"] != nil || data["b"] != nil || data["c"] != 1.0 {
		t.Errorf("got %v", data)
	}
}

func TestStatusTellsAnErrorFromAHaltedExchange(t *testing.T) {
	t.Parallel()
	x := open(t, &kalshi.Options{Fail: firstly(100, kalshi.Failure{Status: 503})})
	x.run(t, "status", "--json").failed(t, "API error: 503 - ")
	if n := len(x.Requests()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

func TestAddressesThatLeadNowhere(t *testing.T) {
	t.Parallel()
	var jobs []job
	for _, base := range []string{
		"http://127.0.0.1:1", "nonsense", "file:///etc/hostname", "http://[::", "http://127.0.0.1:99999", "http://a\x01b/",
	} {
		jobs = append(jobs, exchange{base: base}.job(t, "markets", "--json"))
	}
	for i, r := range batch(t, nil, jobs...) {
		t.Log(jobs[i].Base)
		r.failed(t, "")
	}
}

// altered returns a copy of a script with one line changed, to test a limit with little data.
func altered(t *testing.T, script, old, replacement string) string {
	t.Helper()
	text := read(t, "kalshi-markets/scripts/"+script+".py")
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s.py does not have %q once", script, old)
	}
	file := filepath.Join(t.TempDir(), script+".py")
	if err := os.WriteFile(file, []byte(strings.Replace(text, old, replacement, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAnswersThatDoNotEnd(t *testing.T) { // R162
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("[[[[")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
	for _, row := range []struct {
		name, old, replacement, want string
		handler                      http.HandlerFunc
	}{
		{"too large", "MAX_BODY = 32 * 1024 * 1024", "MAX_BODY = 1000", "no whole answer in time, or above 1000 bytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"series":[]}` + strings.Repeat(" ", 1000)))
		}},
		{"too slow", "BUDGET = 30.0", "BUDGET = 0.1", "no whole answer in time, or above 33554432 bytes", endless},
		{"silent", "BUDGET = 30.0", "BUDGET = 0.1", "Network error: timed out", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(row.handler)
			t.Cleanup(server.Close)
			run(t, []string{"KALSHI_API_BASE=" + server.URL}, altered(t, "series_list", row.old, row.replacement), "--json").failed(t, row.want)
		})
	}
}
