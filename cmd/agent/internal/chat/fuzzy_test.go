package chat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestFindNames(t *testing.T) {
	names := []string{"README.md", "cmd/agent/main.go", "cmd/agent/internal/chat/keys.go", "cmd/agent/internal/chat/keys_test.go", "docs/keys.md",
		"internal/monkeys/a.go", "docs/文件/说明.md", "lib/HttpServer.go", "lib/chattpsvr.go", "x/Éclair.txt", "src/a-b.go", "src/alpha/beta.go", "docs/readme/old.txt", strings.Repeat("z", 300)}
	tests := []struct {
		query string
		want  string // the best ones
		count int
	}{
		{"", "README.md", 14},
		{"keys", "docs/keys.md cmd/agent/internal/chat/keys.go cmd/agent/internal/chat/keys_test.go internal/monkeys/a.go", 4},
		{"README.md", "README.md", 1},
		{"readme", "README.md docs/readme/old.txt", 2},
		{"README", "README.md", 1}, // a capital finds no small letter
		{"chk", "cmd/agent/internal/chat/keys.go", 2},
		{"hs", "lib/HttpServer.go", 4},
		{"httpsvr", "lib/HttpServer.go", 1 + 1},
		{"说", "docs/文件/说明.md", 1},
		{"文明", "docs/文件/说明.md", 1},
		{"éclair", "x/Éclair.txt", 1},
		{"ab", "src/a-b.go src/alpha/beta.go", 2},
		{"nothing of it", "", 0},
		{strings.Repeat("z", mostQuery+1), "", 0}, // too long
	}
	for _, tt := range tests {
		best, count := findNames(foldNames(names), tt.query)
		if want := strings.Fields(tt.want); len(best) < len(want) || !slices.Equal(best[:len(want)], want) || count != tt.count {
			t.Errorf("%q: %d found, %q, want %d, first %q", tt.query, count, best, tt.count, want)
		}
	}
}

// The scores are those of fzf for the scheme of paths (fzf 0.60, --scheme=path).
func TestScore(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		want        int
	}{
		{"a", "a", math.MaxInt16},
		{"ab", "a", 16 + 2*9},
		{"xa", "a", 16},
		{"x/ab", "ab", 16 + 2*9 + 16 + 9},
		{"xab", "ab", 16 + 16 + 4},
		{"x-ab", "ab", 16 + 2*8 + 16 + 8},
		{"axb", "ab", 16 + 2*9 - 3 + 16},
		{"axxb", "ab", 16 + 2*9 - 3 - 1 + 16},
		{"ax/b", "ab", 16 + 2*9 - 3 - 1 + 16 + 9},
		{"fooBar", "fb", 16 + 2*9 - 3 - 1 + 16 + 7},
		{"axxxbx/abx", "ab", 16 + 2*9 + 16 + 9},
	} {
		if got, ok := newFinder(tt.query).score(&foldNames([]string{tt.name})[0]); !ok || got != tt.want {
			t.Errorf("%q in %q: %d, %v, want %d", tt.query, tt.name, got, ok, tt.want)
		}
	}
}

// manyNames are names as a large project has them.
func manyNames(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("internal agent chat worker server client test model view controller config manifest handler_test README index util http parser")
	names := make([]string, n)
	for i := range names {
		var dirs []string
		for range 3 + r.IntN(5) {
			dirs = append(dirs, words[r.IntN(len(words))])
		}
		names[i] = fmt.Sprintf("%s/%s%d.go", strings.Join(dirs, "/"), words[r.IntN(len(words))], i)
	}
	return names
}

// What a key costs while a name is typed, where there are 100,000 files: below 50 ms.
func BenchmarkFindNames(b *testing.B) {
	names, typed := foldNames(manyNames(100_000)), "chatkeys"
	for i := 0; b.Loop(); i++ {
		findNames(names, typed[:1+i%len(typed)])
	}
}
