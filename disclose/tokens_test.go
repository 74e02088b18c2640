package disclose

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/test/tokentest"
)

// C41: the estimator compared with a real tokenizer, on our texts and on the corpus where there is one.
func TestTokensAgainstTokenizer(t *testing.T) {
	count := tokentest.Counter(t)
	texts := ourTexts(t)
	measure(t, count, "our own texts", texts, 0.05, 0.12)
	dir := os.Getenv("AGENT_SKILLS_CORPUS")
	if dir == "" {
		t.Log("AGENT_SKILLS_CORPUS is not set: only our own texts were measured")
		return
	}
	measure(t, count, "the corpus", corpus(t, dir), 0.05, 0.12)
}

// measure fails when the mean error or that of the worst but 5 of 100 is over its limit.
func measure(t *testing.T, count func(string) int, what string, texts []string, mean, p95 float64) {
	t.Helper()
	var errs []float64
	sum := 0.0
	for _, s := range texts {
		want := count(s)
		e := math.Abs(float64(Tokens(s)-want)) / float64(want)
		errs = append(errs, e)
		sum += e
	}
	slices.Sort(errs)
	gotMean, got95 := sum/float64(len(errs)), errs[len(errs)*95/100]
	t.Logf("%s: %d, mean error %.1f %%, p95 %.1f %%, most %.1f %%", what, len(errs), 100*gotMean, 100*got95, 100*errs[len(errs)-1])
	if gotMean > mean || got95 > p95 {
		t.Errorf("%s: mean error %.3f and p95 %.3f, want at most %.3f and %.3f", what, gotMean, got95, mean, p95)
	}
}

// ourTexts returns lists in every style and the Markdown of this repository.
func ourTexts(t *testing.T) []string {
	c := catalog(t, synthetic(60)...)
	var texts []string
	for _, s := range Styles() {
		if text := render(t, c, &Options{Style: s}).Body; len(text) > 100 {
			texts = append(texts, text)
		}
	}
	for _, f := range synthetic(60) {
		texts = append(texts, f.desc)
	}
	files, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}

func corpus(t *testing.T, dir string) []string {
	var texts []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(d.Name(), "SKILL.md") || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if len(b) > 100 {
			texts = append(texts, string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Nothing that is long can be made to look free: a budget holds for hostile descriptions too.
func TestTokensOfNoise(t *testing.T) {
	count := tokentest.Counter(t)
	rows := map[string]string{
		"letters": strings.Repeat("qzjxkvbw", 60), "signs": strings.Repeat("!@#$%^&*", 60), "base64": strings.Repeat("aGVs/bG8+d29ybGQ1", 30),
		"digits": strings.Repeat("8301749", 60), "han": strings.Repeat("请翻译这个文件", 60), "emoji": strings.Repeat("🚀✅🔥", 60),
	}
	for name, s := range rows {
		want := count(s)
		if got := Tokens(s); 2*got < want || got > 4*want {
			t.Errorf("%s: got %d, a tokenizer makes %d", name, got, want)
		}
	}
}

func TestTokensSmall(t *testing.T) {
	rows := map[string]int{"": 0, "word": 1, "two words": 2, "\n": 2, "Hello, world!": 5}
	for s, want := range rows {
		if got := Tokens(s); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
}

// Never negative, never more than two a byte, and adding up: exactly at a line break, elsewhere
// within what a seam can change.
func FuzzTokens(f *testing.F) {
	f.Add("one two", "three")
	f.Add("a\xffb", "\n\n")
	f.Add("ABCdef", " 12")
	f.Add("abcdefgh{`az", "abcdefghijklmnopqrstuvwxyz\xe1bcdefg")
	f.Fuzz(func(t *testing.T, a, b string) {
		ta, tb, both := Tokens(a), Tokens(b), Tokens(a+b)
		if ta < 0 || ta > 2*len(a) {
			t.Errorf("%q: %d tokens", a, ta)
		}
		if seam := 12; both > ta+tb+seam || both < ta+tb-seam {
			t.Errorf("%q + %q: %d, apart %d + %d", a, b, both, ta, tb)
		}
		a = strings.TrimRight(a, "\r\n") + "x\n"
		b = strings.TrimLeft(b, "\r\n")
		if got, want := cost(a+b), cost(a)+cost(b); got != want {
			t.Errorf("%q + %q: %d, apart %d", a, b, got, want)
		}
		if got, want := cost([]byte(a)), cost(a); got != want {
			t.Errorf("%q: bytes %d, string %d", a, got, want)
		}
		for _, s := range []string{a, b, a + b} {
			if got, want := cost(s), plainCost(s); got != want {
				t.Errorf("%q: got %d, byte by byte %d", s, got, want)
			}
		}
	})
}

var runRE = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+|[0-9]+|[\r\n]+|[ \t]+|[\x{80}-\x{ff}]+|[^A-Za-z0-9\r\n \t\x{80}-\x{ff}]+`)

// plainCost is cost as the weights' comments say it, run by run. Each byte is one character of the pattern.
func plainCost(s string) int {
	wide := make([]rune, len(s))
	for i := range len(s) {
		wide[i] = rune(s[i])
	}
	sum, at := 0, 0
	for _, part := range runRE.FindAllString(string(wide), -1) {
		n := utf8.RuneCountInString(part)
		if k := classes[s[at]]; k == lower || k == upper {
			sum += perWord
			for i := range n {
				if i > 0 && classes[s[at+i]] == upper {
					sum += perCapital
				}
				if i >= noiseWord {
					sum += perNoise
				} else if i >= longWord {
					sum += perLongTail
				}
			}
		} else {
			sum += run(s, at, at+n)
		}
		at += n
	}
	return sum
}
