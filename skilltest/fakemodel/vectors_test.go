package fakemodel

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "write the vectors anew; check first that the official SDK reads them")

// The answers on OpenAI's wires, byte for byte. Version 3.96.0 of the official SDK for Go read exactly these, streamed and
// whole, as the values below, before the client of these tests took its place.
func TestVectors(t *testing.T) {
	forecast := []Call{{ID: "call_a", Name: "weather", Args: `{"city":"Bern"}`}, {ID: "call_b", Name: "weather", Args: `{}`}}
	steps := []struct {
		step            Step
		responses, chat said
	}{
		{Step{Thought: "They ask about weather.", Text: "I look – ä 🌦.", Delta: 5, Calls: forecast, Usage: Usage{Input: 100, CacheRead: 40, Output: 9}},
			said{Text: "I look – ä 🌦.", Calls: forecast, Stop: "completed", Usage: Usage{Input: 100, CacheRead: 40, Output: 9}},
			said{Text: "I look – ä 🌦.", Calls: forecast, Stop: "tool_calls", Usage: Usage{Input: 100, CacheRead: 40, Output: 9}}},
		{Step{Text: "No.", Stop: StopRefused, Usage: Usage{Input: 1, Output: 2}},
			said{Stop: "completed", Usage: Usage{Input: 1, Output: 2}},
			said{Text: "No.", Stop: "content_filter", Usage: Usage{Input: 1, Output: 2}}},
		{Step{Text: "It is", Stop: StopLength, Usage: Usage{Input: 1, Output: 2}},
			said{Text: "It is", Stop: "max_output_tokens", Usage: Usage{Input: 1, Output: 2}},
			said{Text: "It is", Stop: "length", Usage: Usage{Input: 1, Output: 2}}},
		{Step{Stop: StopRefused, Usage: Usage{Input: 1, Output: 2}},
			said{Stop: "content_filter", Usage: Usage{Input: 1, Output: 2}},
			said{Stop: "content_filter", Usage: Usage{Input: 1, Output: 2}}},
	}
	for _, w := range []Wire{Responses, Chat} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", w, stream), func(t *testing.T) {
				var all []byte
				for _, tt := range steps {
					body, err := read(t, New(t, tt.step), w, stream)
					if err != nil {
						t.Fatal(err)
					}
					all = append(append(all, body...), '\n')
					want := tt.responses
					if w == Chat {
						want = tt.chat
					}
					got, err := clients[w](t.Context(), New(t, tt.step), hello, stream)
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("error %v\ngot  %+v\nwant %+v", err, got, want)
					}
				}
				checkVector(t, filepath.Join("testdata", "vectors", fmt.Sprintf("%s-%t.txt", w, stream)), all)
			})
		}
	}
}

func checkVector(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the answers differ from %s:\ngot  %s\nwant %s", name, got, want)
	}
}
