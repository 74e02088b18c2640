package proc

import (
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	b := &Tail{max: 10}
	var all strings.Builder
	for i := range 100 {
		s := fmt.Sprint(i) + strings.Repeat("x", i%23)
		all.WriteString(s)
		if n, err := b.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
		want := all.String()[max(0, all.Len()-10):]
		if string(b.Bytes()) != want || len(b.buf) > 20 {
			t.Fatalf("got %q of %d, want %q", b.Bytes(), len(b.buf), want)
		}
	}
}

func TestHead(t *testing.T) {
	s := NewStreams(4, true)
	for _, p := range []string{"ab", "cd"} {
		if n, err := s.Stdout.Write([]byte(p)); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
	select {
	case <-s.Full:
		t.Fatal("full at exactly the bound")
	default:
	}
	s.Stdout.Write([]byte("e"))
	s.Stdout.Write([]byte("f"))
	<-s.Full
	if got := string(s.Stdout.Bytes()); got != "abcd" || s.Stdout.Total() != 6 || !s.Stdout.Truncated() {
		t.Errorf("got %q of %d", got, s.Stdout.Total())
	}
}
