package skills_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

// search is a stand-in server with a directory for the index.
type search struct {
	exchange
	dir string
}

func openSearch(t *testing.T, o *kalshi.Options) search {
	t.Helper()
	x := open(t, o)
	dir := t.TempDir()
	x.env = append(x.env, "AGENT_SKILL_CACHE_DIR="+dir)
	return search{x, dir}
}

func (s search) file() string { return filepath.Join(s.dir, "search-index-1.json") }

// index reads the index file.
func (s search) index(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(s.file())
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]any
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// change rewrites the index file.
func (s search) change(t *testing.T, edit func(map[string]any)) {
	t.Helper()
	data := s.index(t)
	edit(data)
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, string(text))
}

func (s search) put(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.file(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSearchAnswersTheSameFreshAndKept(t *testing.T) { // R162
	t.Parallel()
	for _, era := range eras {
		s := openSearch(t, &kalshi.Options{Era: era})
		fresh := s.run(t, "search", "bitcoin", "--json").ok(t)
		before := len(s.Requests())
		kept := s.run(t, "search", "bitcoin", "--json").ok(t)
		if fresh.stdout != kept.stdout {
			t.Errorf("%v: fresh\n%s\nkept\n%s", era, fresh.stdout, kept.stdout)
		}
		if n := len(s.Requests()); n != before {
			t.Errorf("%v: %d requests although the index is there", era, n-before)
		}
	}
}

func TestSearchIsLiteral(t *testing.T) {
	t.Parallel()
	s := openSearch(t, nil)
	words := map[string]float64{
		"c++": 1, "(C++)": 1, "(": 1, ".*": 0, "$100,000": 1, "[": 0, "temperature": 12, "nyc on dec": 12, "kxhighny": 12, "mars": 0, "60°": 0,
	}
	var jobs []job
	for word := range words {
		jobs = append(jobs, s.job(t, "search", word, "--json", "--limit", "1"))
	}
	for i, r := range batch(t, s.env, jobs...) {
		word := jobs[i].Args[0]
		data, want := r.ok(t).document(t), words[word]
		if got := data["matches"]; got != want || len(data["markets"].([]any)) > 1 {
			t.Errorf("%q: got %v matches, %d shown, want %v", word, got, len(data["markets"].([]any)), want)
		}
	}
}

func TestSearchGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	o := &kalshi.Options{PageSize: 4, Extra: 10}
	whole := openSearch(t, o)
	want := whole.run(t, "search", "question", "--json").ok(t).document(t)

	s := openSearch(t, o)
	var got map[string]any
	calls := 0
	for got["complete"] != true && calls < 10 {
		got = s.run(t, "search", "question", "--max-seconds", "0", "--json").ok(t).document(t)
		if note, said := got["note"].(string); said == (got["complete"] == true) {
			t.Errorf("call %d: complete is %v and the note %q", calls, got["complete"], note)
		}
		calls++
	}
	if calls != 3 || len(s.Requests()) != len(whole.Requests()) {
		t.Errorf("%d calls with %d requests, want 3 with %d", calls, len(s.Requests()), len(whole.Requests()))
	}
	for _, data := range []map[string]any{got, want} {
		delete(data, "indexed_at")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || got["matches"] != 10.0 {
		t.Errorf("in steps\n%v\nat once\n%v", got, want)
	}
}

func TestSearchSaysToAPersonThatItIsNotFinished(t *testing.T) {
	t.Parallel()
	s := openSearch(t, &kalshi.Options{PageSize: 1})
	text := s.run(t, "search", "bitcoin", "--max-seconds", "0").ok(t).stdout
	if !strings.Contains(text, "Note: the index is not finished") {
		t.Errorf("got:\n%s", text)
	}
}

func TestSearchWithADamagedIndex(t *testing.T) {
	good := openSearch(t, nil)
	want := good.run(t, "search", "bitcoin", "--json").ok(t).document(t)["markets"]
	whole, err := os.ReadFile(good.file())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "garbage": "\x00\xff\x1b[2J", "half": string(whole[:len(whole)/2]), "list": "[]", "no fields": "{}",
		"not a number": `{"base":NaN}`, "deep": strings.Repeat(`{"a":`, 100_000),
		"rows of another kind": strings.Replace(string(whole), `"rows":[`, `"rows":"`, 1),
		"wrong kinds":          `{"base":1,"started":"x","state":[],"cursor":0,"bytes":"","series":[],"rows":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSearch(t, nil)
			s.put(t, text)
			r := s.run(t, "search", "bitcoin", "--json")
			if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "note: the old index is not usable") {
				t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
			}
			if got := r.document(t)["markets"]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := s.index(t)["state"]; got != "complete" {
				t.Errorf("the index on disk is %v", got)
			}
		})
	}
}

func TestSearchBeginsAnew(t *testing.T) {
	for name, edit := range map[string]func(map[string]any){
		"too old":               func(m map[string]any) { m["started"] = m["started"].(float64) - 6*3600 },
		"from the future":       func(m map[string]any) { m["started"] = m["started"].(float64) + 3600 },
		"another service":       func(m map[string]any) { m["base"] = "http://other.example" },
		"unusable place":        func(m map[string]any) { m["state"], m["cursor"] = "building", "gone" },
		"started is not a time": func(m map[string]any) { m["started"] = 0.5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSearch(t, nil)
			want := s.run(t, "search", "nyc", "--json").ok(t).document(t)
			s.change(t, edit)
			before := len(s.Requests())
			got := s.run(t, "search", "nyc", "--json").document(t)
			if got["matches"] != want["matches"] || got["complete"] != true {
				t.Errorf("got %v, want %v", got, want)
			}
			if len(s.Requests()) == before {
				t.Error("the script sent no request")
			}
		})
	}
	t.Run("on request", func(t *testing.T) {
		t.Parallel()
		s := openSearch(t, nil)
		s.run(t, "search", "nyc", "--json").ok(t)
		before := len(s.Requests())
		data := s.run(t, "search", "--rebuild-cache", "--json").ok(t).document(t)
		if data["complete"] != true || data["indexed_markets"] != 14.0 || len(data["markets"].([]any)) != 0 {
			t.Errorf("got %v", data)
		}
		if len(s.Requests()) != 2*before {
			t.Errorf("%d requests, want %d", len(s.Requests()), 2*before)
		}
	})
}

func TestSearchKeepsWhatItHasWhenTheServiceFails(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	s := openSearch(t, &kalshi.Options{PageSize: 1, Fail: func(n int, _ kalshi.Request) *kalshi.Failure {
		if !mended.Load() && n >= 2 {
			return &kalshi.Failure{Status: 403}
		}
		return nil
	}})
	data := s.run(t, "search", "bitcoin", "--json").ok(t).document(t)
	if note, _ := data["note"].(string); data["complete"] != false || data["matches"] != 2.0 || !strings.Contains(note, "stopped by: API error: 403") {
		t.Errorf("got %v", data)
	}
	mended.Store(true)
	data = s.run(t, "search", "bitcoin", "--json").ok(t).document(t)
	if data["complete"] != true || data["indexed_markets"] != 14.0 {
		t.Errorf("got %v", data)
	}
}

func TestSearchWithoutAnyAnswerFails(t *testing.T) {
	t.Parallel()
	s := openSearch(t, &kalshi.Options{Fail: firstly(9, kalshi.Failure{Status: 403})})
	s.run(t, "search", "bitcoin", "--json").failed(t, "API error: 403")
}

func TestSearchPassesOverRowsThatAreNoMarkets(t *testing.T) {
	t.Parallel()
	s := openSearch(t, nil)
	s.run(t, "search", "mars", "--json").ok(t)
	s.change(t, func(m map[string]any) { m["rows"] = []any{1, "x", nil, []any{}, map[string]any{}} })
	data := s.run(t, "search", "bitcoin", "--json").ok(t).document(t)
	if data["matches"] != 0.0 || data["indexed_markets"] != 1.0 {
		t.Errorf("got %v", data)
	}
}

func TestSearchStopsAtTheSizeOfTheIndex(t *testing.T) {
	t.Parallel()
	s := openSearch(t, &kalshi.Options{PageSize: 5, Extra: 40})
	script := altered(t, "search", "MAX_INDEX = 64 * 1024 * 1024", "MAX_INDEX = 4000")
	data := run(t, s.env, script, "extra", "--json").ok(t).document(t)
	if note, _ := data["note"].(string); data["complete"] != false || !strings.Contains(note, "the index is full") {
		t.Errorf("got %v", data)
	}
	before := len(s.Requests())
	if before > 4 {
		t.Errorf("%d requests", before)
	}
	run(t, s.env, script, "extra", "--json").ok(t)
	if n := len(s.Requests()); n != before {
		t.Errorf("a full index was built on: %d requests more", n-before)
	}
}

func TestSearchReadsNoIndexThatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := openSearch(t, nil)
	if err := os.WriteFile(s.file(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.file(), 1<<40); err != nil { // a sparse file
		t.Fatal(err)
	}
	r := s.run(t, "search", "bitcoin", "--json")
	if r.code != 0 || !strings.Contains(r.stderr, "too large") || r.document(t)["matches"] != 2.0 {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}

func TestSearchWhereNothingCanBeKept(t *testing.T) {
	t.Parallel()
	s := openSearch(t, nil)
	s.put(t, "not a directory")
	s.env = append(s.env, "AGENT_SKILL_CACHE_DIR="+filepath.Join(s.file(), "below"))
	r := s.run(t, "search", "bitcoin", "--json")
	if r.code != 0 || !strings.HasPrefix(r.stderr, "note: the index cannot be kept") || r.document(t)["matches"] != 2.0 {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}

func TestSearchPlacesItsIndex(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{"XDG_CACHE_HOME": "", "HOME": ".cache"} {
		x := open(t, nil)
		dir := t.TempDir()
		x.env = []string{x.env[0], name + "=" + dir}
		x.run(t, "search", "bitcoin", "--json").ok(t)
		file := filepath.Join(dir, below, "kalshi-markets", "search-index-1.json")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSearchRunsSideBySide(t *testing.T) {
	t.Parallel()
	s := openSearch(t, &kalshi.Options{PageSize: 5, Extra: 20})
	old := filepath.Join(s.dir, "search-index.left.tmp")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			r := s.run(t, "search", "extra", "--max-seconds", "0", "--json")
			if r.code != 0 || r.stderr != "" {
				t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
			}
		})
	}
	group.Wait()
	s.index(t)
	left, err := filepath.Glob(filepath.Join(s.dir, "*.tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}
