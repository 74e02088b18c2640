package fleet

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// Each quantity in docs/scale.md is what its arithmetic makes of those above it, as far as its digits go.
func TestScale(t *testing.T) {
	known, sums := map[string]float64{}, 0
	for _, cells := range scaleRows(t) {
		name, sum, text := cells[0], "", cells[1]
		if strings.HasPrefix(text, "`") {
			sum, text = strings.Trim(text, "`"), cells[2]
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if known[name] = value; sum == "" {
			continue
		}
		sums++
		tree, err := parser.ParseExpr(sum)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, decimals, _ := strings.Cut(text, ".")
		if got, err := calculate(tree, known); err != nil || math.Abs(got-value) > 0.5001*math.Pow10(-len(decimals)) {
			t.Errorf("docs/scale.md has %s %s, but %s is %.4g, %v", name, text, sum, got, err)
		}
	}
	if sums < 15 {
		t.Errorf("%d quantities were calculated, want at least 15", sums)
	}
}

// scaleRows returns the rows of the tables whose first cell is a name in code, without the marks of code there.
func scaleRows(t *testing.T) (out [][]string) {
	t.Helper()
	page, err := os.ReadFile("../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) >= 3 {
			cells[0] = strings.Trim(cells[0], "|` ")
			out = append(out, cells)
		}
	}
	return out
}

func calculate(tree ast.Expr, known map[string]float64) (float64, error) {
	switch e := tree.(type) {
	case *ast.ParenExpr:
		return calculate(e.X, known)
	case *ast.BasicLit:
		return strconv.ParseFloat(e.Value, 64)
	case *ast.Ident:
		if v, ok := known[e.Name]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("nothing above says what %s is", e.Name)
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && name.Name == "ceil" && len(e.Args) == 1 {
			v, err := calculate(e.Args[0], known)
			return math.Ceil(v), err
		}
	case *ast.BinaryExpr:
		x, err := calculate(e.X, known)
		if err != nil {
			return 0, err
		}
		y, err := calculate(e.Y, known)
		switch e.Op {
		case token.ADD:
			return x + y, err
		case token.MUL:
			return x * y, err
		case token.QUO:
			return x / y, err
		}
	}
	return 0, fmt.Errorf("%T is no arithmetic of this page", tree)
}

// The points in docs/scale.md that do not depend on the machine are those of the program.
func TestScalePoints(t *testing.T) {
	page := map[string]string{}
	for _, cells := range scaleRows(t) {
		page[cells[0]] = cells[1]
	}
	n, err := node.Open(t.Context(), &node.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := dispatch.Open(t.Context(), n.Conn(), nil); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(n.Conn())
	if err != nil {
		t.Fatal(err)
	}
	claims, err := js.Stream(t.Context(), "KV_claims")
	if err != nil {
		t.Fatal(err)
	}
	c := claims.CachedInfo().Config
	for name, want := range map[string]string{"claim_room": fmt.Sprint(c.MaxBytes), "claim_minutes": fmt.Sprint((dispatch.Kept + dispatch.Kept/10).Minutes())} {
		if page[name] != want {
			t.Errorf("docs/scale.md has %s %s, the program has %s", name, page[name], want)
		}
	}
}
