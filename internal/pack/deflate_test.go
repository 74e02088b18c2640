package pack

import (
	"bytes"
	"compress/flate"
	stdgzip "compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	words := strings.Fields("the skill reads a table and writes the sums of its columns to another table with a header")
	var text strings.Builder
	for text.Len() < 300_000 {
		text.WriteString(words[r.IntN(len(words))] + " ")
	}
	return map[string][]byte{
		"empty": {}, "one": {0xff}, "three": []byte("aaa"), "four": []byte("aaaa"), "zeros": make([]byte, 1<<20), "noise": noise, "text": []byte(text.String()),
		"high": bytes.Repeat([]byte{0x90, 0xff, 0x8f}, 1000), "far": append(append(bytes.Clone(noise[:40_000]), "marker"...), noise[:40_000]...),
		"window": append(bytes.Clone(noise[:window]), noise[:window]...), "block": noise[:block], "over block": []byte(text.String()[:block+1]),
	}
}

func checkDeflate(t *testing.T, data []byte) {
	t.Helper()
	got, err := io.ReadAll(flate.NewReader(bytes.NewReader(deflate(data))))
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes became %d, %v", len(data), len(got), err)
	}
}

func TestDeflate(t *testing.T) {
	for name, data := range samples() {
		t.Run(name, func(t *testing.T) {
			checkDeflate(t, data)
			if got := len(deflate(data)); got > len(data)+5*(len(data)/block+1) {
				t.Errorf("%d bytes became %d", len(data), got)
			}
			z, err := stdgzip.NewReader(bytes.NewReader(gzip(data)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, data) {
				t.Errorf("gzip: %v", err)
			}
		})
	}
	for length := minRepeat; length <= maxRepeat; length++ { // every length, and many distances
		for _, back := range []int{length, length + 1, 2*length + 7, 700 * length % window} {
			if back < length || back > 4_000 && length%8 != 0 {
				continue
			}
			data := make([]byte, back)
			for i := range data {
				data[i] = byte(i*i>>3 ^ i>>7)
			}
			checkDeflate(t, append(append(data, data[:length]...), '!'))
		}
	}
	text := samples()["text"]
	var std bytes.Buffer
	w, _ := flate.NewWriter(&std, flate.DefaultCompression)
	w.Write(text)
	w.Close()
	if got := len(deflate(text)); got > 3*std.Len()/2 {
		t.Errorf("text of %d bytes became %d, with compress/flate %d", len(text), got, std.Len())
	}
}

func FuzzDeflate(f *testing.F) {
	f.Add([]byte("abcabcabcabcabc"), uint8(3))
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff}, uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, times uint8) {
		if len(data) < 1<<12 {
			data = bytes.Repeat(data, int(times)+1)
		}
		checkDeflate(t, data)
	})
}
