package node

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// What fails again and again is said once an hour, each thing for itself.
func TestLogSaysOnce(t *testing.T) {
	var got []string
	l := &logger{log: func(text string) { got = append(got, text) }}
	for i := range 300 {
		l.Errorf("cannot reach a node (attempt %d): %v", i, errors.New("a refuses"))
		l.Errorf("cannot reach a node (attempt %d): %v", i, errors.New("b refuses"))
		l.Warnf("it is slow")
	}
	want := []string{"cannot reach a node (attempt 0): a refuses", "cannot reach a node (attempt 0): b refuses"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for i := range 300 {
		l.Errorf("%v", fmt.Sprint(i))
	}
	if len(l.said) > 102 {
		t.Errorf("it remembers %d", len(l.said))
	}
}
