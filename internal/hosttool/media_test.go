package hosttool

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/media"
	rules "github.com/agent-base/agent-base/session/allow"
)

// read_file shows images and documents by what their bytes say, within bounds and by the rules that hold for any file.
func TestReadShows(t *testing.T) {
	k := newKit(t, func(o *Options) {
		o.Decide = policy(t, permit.Options{Deny: []permit.Rule{{Text: "Read(secret.png)"}}, Patterns: rules.Options{Roots: []string{o.Workspace}}})
	})
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	pic := b.String()
	files(t, k.other, map[string]string{"out.png": pic})
	files(t, k.ws, map[string]string{"a.png": pic, "renamed.txt": pic, "poly.png": pic + "%PDF-1.7 <?php", "a.pdf": "%PDF-1.7\n<</Type /Page>>", "secret.png": pic,
		"link.png": "-> " + k.other + "/out.png", "inner.png": "-> a.png", "draw.svg": "<svg/>", "gif.txt": "GIF89a is a format\n",
		"big.png": pic + strings.Repeat("\x00", media.MaxImage), "big.pdf": "%PDF-1.7\n" + strings.Repeat("x", media.MaxPDF), "fake.png": "\x7fELF\x00"})
	files(t, k.skill, map[string]string{"assets/logo.png": pic})
	for _, row := range []struct{ path, want, media string }{
		{"a.png", `{"success":true,"result":{"file_path":"a.png","media_type":"image/png"},"message":"Read 'a.png' (PNG image, 4 x 3, `, "image/png"},
		{"renamed.txt", `{"success":true,"result":{"file_path":"renamed.txt","media_type":"image/png"}`, "image/png"},
		{"poly.png", `{"success":true,"result":{"file_path":"poly.png","media_type":"image/png"}`, "image/png"},
		{"a.pdf", `{"success":true,"result":{"file_path":"a.pdf","media_type":"application/pdf"}`, "application/pdf"},
		{"inner.png", `{"success":true,"result":{"file_path":"inner.png","media_type":"image/png"}`, "image/png"},
		{"skills/demo/assets/logo.png", `{"success":true,"result":{"file_path":"skills/demo/assets/logo.png","media_type":"image/png"}`, "image/png"},
		{"draw.svg", `{"success":true,"result":{"file_path":"draw.svg","content":"<svg/>"`, ""},
		{"gif.txt", `{"success":true,"result":{"file_path":"gif.txt","content":"GIF89a is a format\n"`, ""},
		{"big.png", `{"success":false,"error":"execution_failed","reason":"binary","message":"'big.png' (PNG image, 4 x 3, 5.0 MB) is not shown: an image may have 5 MB: make it smaller"`, ""},
		{"big.pdf", `{"success":false,"error":"execution_failed","reason":"binary","message":"'big.pdf' (PDF document, 10.0 MB) is not shown: a PDF document may have 10 MB`, ""},
		{"fake.png", `{"success":false,"error":"execution_failed","reason":"binary","message":"'fake.png' is binary (program, 5 bytes) and is not read as text"`, ""},
	} {
		k.want("read_file", `{"file_path":"`+row.path+`"}`, row.want)
		shown := k.call("read_file", `{"file_path":"`+row.path+`"}`).Media
		if (len(shown) == 1) != (row.media != "") || row.media != "" && (shown[0].Type != row.media || len(shown[0].Data) == 0) {
			t.Errorf("%s: it shows %d, want %q", row.path, len(shown), row.media)
		}
	}
	k.denied("read_file", `{"file_path":"secret.png"}`, "not_allowed")
	k.denied("read_file", `{"file_path":"link.png"}`, "outside")
}
