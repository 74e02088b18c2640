package stage

import (
	"reflect"
	"testing"
)

func sample() *Program {
	return &Program{
		Setup:    []Op{{Code: Root, B: "mode=755"}, {Code: Bind, N: 1 << 40, M: BindOptional, A: "/usr"}},
		Restrict: []Op{{Code: Limit, N: 7, M: 1 << 63, B: "\x02"}},
		Path:     "/bin/true", Args: []string{"true", ""}, Env: []string{"A=\xff\n"}, Sweep: true, Memory: 5,
	}
}

func TestProgramIsReadBack(t *testing.T) {
	for _, p := range []*Program{sample(), {Args: []string{}, Env: []string{}}} {
		got, err := decode(p.Encode()[8:])
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
	}
}

// A program that is cut off, or goes on, is refused.
func TestProgramIsWhole(t *testing.T) {
	b := sample().Encode()[8:]
	for n := range b {
		if p, err := decode(b[:n]); err == nil {
			t.Errorf("%d bytes: got %+v", n, p)
		}
	}
	if p, err := decode(append(b, 0)); err == nil {
		t.Errorf("got %+v", p)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode()[8:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(p.Encode()[8:])
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("got %+v, %v, want %+v", again, err, p)
		}
	})
}

func TestReportIsReadBack(t *testing.T) {
	want := Report{Kind: Ended, N: 3, V: 0xfffffff0}
	if got := DecodeReport(want.encode()); got != want {
		t.Errorf("got %+v", got)
	}
}
