package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"
)

func encoded(t *testing.T, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t *testing.T) []byte { return encoded(t, png.Encode) }

// claims returns a PNG whose header claims a size.
func claims(t *testing.T, width, height uint32) []byte {
	b := pngOf(t)
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func webp(chunk, rest string) []byte {
	return []byte("RIFF\x00\x01\x00\x00WEBP" + chunk + "\x00\x01\x00\x00" + rest + strings.Repeat("\x00", 20))
}

func TestCheck(t *testing.T) {
	jpg := encoded(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
	anim := encoded(t, func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) })
	pdf := []byte("%PDF-1.7\n1 0 obj <</Type /Pages /Count 2>>\n2 0 obj <</Type /Page>>\n3 0 obj <</Type/Page>>\n")
	tests := []struct {
		name, media, is, refused string
		data                     []byte
		tokens                   int
	}{
		{"png", "image/png", "PNG image, 40 x 30", "", pngOf(t), 86},
		{"jpeg", "image/jpeg", "JPEG image, 40 x 30", "", jpg, 86},
		{"gif", "image/gif", "GIF image, 40 x 30", "", anim, 86},
		{"webp, lossy", "image/webp", "WebP image, 400 x 300", "", webp("VP8 ", "\x30\x01\x00\x9d\x01\x2a\x90\x41\x2c\x41"), 245},
		{"webp, lossless", "image/webp", "WebP image, 400 x 300", "", webp("VP8L", "\x2f\x8f\xc1\x4a\x00"), 245},
		{"webp, extended", "image/webp", "WebP image, 400 x 300", "", webp("VP8X", "\x00\x00\x00\x00\x8f\x01\x00\x2b\x01\x00"), 245},
		{"pdf", PDF, "PDF document", "", pdf, 4000},
		{"a large png", "image/png", "PNG image, 8000 x 8000", "", claims(t, 8000, 8000), 1600},
		{"2^31 pixels", "image/png", "PNG image", "header cannot be read", claims(t, 1<<31, 1), 1600},
		{"2^30 pixels", "image/png", "PNG image, 32768 x 32768", "a side may have 1 to 8000", claims(t, 1<<15, 1<<15), 1600},
		{"no pixels", "image/png", "PNG image", "header cannot be read", claims(t, 0, 1), 1600},
		{"only the first bytes", "image/png", "PNG image", "header cannot be read", pngOf(t)[:12], 1600},
		{"a short webp", "image/webp", "WebP image", "header cannot be read", webp("VP8 ", "")[:20], 1600},
		{"a webp of nothing", "image/webp", "WebP image", "header cannot be read", webp("ALPH", ""), 1600},
		{"too many bytes", "image/png", "PNG image, 40 x 30, 5.0 MB", "an image may have 5 MB", append(pngOf(t), make([]byte, MaxImage)...), 86},
		{"too many bytes of a document", PDF, "PDF document, 10.0 MB", "a PDF document may have 10 MB", append(pdf, make([]byte, MaxPDF)...), 4000},
		{"a polyglot is what it begins with", "image/png", "PNG image", "", append(pngOf(t), pdf...), 86},
		{"a document in the middle", "", "file", "neither", append([]byte("MZ\n"), pdf...), 0},
		{"svg is a text", "", "file", "neither", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), 0},
		{"sound in the same container", "", "file", "neither", []byte("RIFF\x00\x00\x00\x00WAVEfmt                     "), 0},
		{"nothing", "", "file", "neither", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Type(tt.data); got != tt.media {
				t.Errorf("type %q, want %q", got, tt.media)
			}
			if got := Describe(tt.data); !strings.HasPrefix(got, tt.is) {
				t.Errorf("it is %q, want %q", got, tt.is)
			}
			if got := Tokens(tt.data); got != tt.tokens {
				t.Errorf("%d tokens, want %d", got, tt.tokens)
			}
			err := Check(tt.data)
			if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("got %v, want %q", err, tt.refused)
			}
		})
	}
}

// grows never ends, as a file does that somebody appends to.
type grows struct{ read int }

func (g *grows) Read(b []byte) (int, error) {
	g.read += len(b)
	return len(b), nil
}

func TestReadIsBounded(t *testing.T) {
	g := &grows{}
	if _, err := Read(io.MultiReader(strings.NewReader("%PDF-1.7"), g)); err == nil || g.read > 4*MaxPDF {
		t.Errorf("read %d bytes, %v", g.read, err)
	}
	if got, err := Read(bytes.NewReader(pngOf(t))); err != nil || !bytes.Equal(got, pngOf(t)) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add(webp("VP8X", "\x00\x00\x00\x00\x8f\x01\x00\x2b\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Check(data); err == nil && Type(data) == "" {
			t.Error("it may be sent, and nobody knows what it is")
		}
		if n := Tokens(data); n < 0 || Describe(data) == "" {
			t.Errorf("%d tokens", n)
		}
	})
}
