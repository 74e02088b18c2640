// Package media knows images and PDF documents by their bytes: what they are, how large they are, and about how many tokens a
// model pays for them. It has the bounds of what is sent to a model. It reads headers alone: no pixel is decoded, and what a
// file is called does not count.
package media

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// Bounds of what is sent to a model. They are those of the provider that takes least.
const (
	MaxImage = 5 << 20  // bytes of an image
	MaxPDF   = 10 << 20 // bytes of a document
	MaxSide  = 8000     // pixels of a side of an image
	MaxAll   = 14 << 20 // bytes of all that one request has
	MaxCount = 20       // of them in one request
)

// Room is the number of images and documents that still fit, and the bytes that they may have together.
type Room struct{ Count, Bytes int }

// Take takes the room for one of that size. It reports false, and takes nothing, if there is not enough.
func (r *Room) Take(size int) bool {
	if r.Count < 1 || r.Bytes < size {
		return false
	}
	r.Count, r.Bytes = r.Count-1, r.Bytes-size
	return true
}

// Whole is the room of a request.
func Whole() Room { return Room{MaxCount, MaxAll} }

// Half is the room of the results of one answer, and of what stays of older images and documents.
func Half() Room { return Room{MaxCount / 2, MaxAll / 2} }

// PDF is the media type of documents.
const PDF = "application/pdf"

// kinds are the first bytes of each media type.
var kinds = []struct {
	magic, media, name string
	size               func([]byte) (image.Config, error)
}{
	{"\x89PNG\r\n\x1a\n", "image/png", "PNG", func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }},
	{"\xff\xd8\xff", "image/jpeg", "JPEG", func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }},
	{"GIF87a", "image/gif", "GIF", func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) }},
	{"GIF89a", "image/gif", "GIF", func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) }},
	{"RIFF", "image/webp", "WebP", webpSize},
	{"%PDF-", PDF, "PDF", nil},
}

func kindOf(b []byte) int {
	for i, k := range kinds {
		if bytes.HasPrefix(b, []byte(k.magic)) && (k.magic != "RIFF" || len(b) >= 12 && string(b[8:12]) == "WEBP") {
			return i
		}
	}
	return -1
}

// Type returns the media type of what begins with these bytes, of which 12 are enough: image/png, image/jpeg, image/gif, image/webp,
// PDF, or "" for anything else.
func Type(head []byte) string {
	if i := kindOf(head); i >= 0 {
		return kinds[i].media
	}
	return ""
}

// Name names the kind of what begins with these bytes: "PNG image", "PDF document", or "".
func Name(head []byte) string {
	switch i := kindOf(head); {
	case i < 0:
		return ""
	case kinds[i].media == PDF:
		return "PDF document"
	default:
		return kinds[i].name + " image"
	}
}

// IsImage reports whether a media type is one of images.
func IsImage(media string) bool { return strings.HasPrefix(media, "image/") }

// Read reads a file that is an image or a document to its end, however long it becomes meanwhile: what passes a bound is an error.
func Read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxPDF+1))
	if err != nil {
		return nil, err
	}
	return data, Check(data)
}

// Check returns why an image or a document is not sent to a model, nil if it may be.
func Check(data []byte) error {
	i := kindOf(data)
	switch {
	case i < 0:
		return errors.New("it is neither a PNG, JPEG, GIF or WebP image nor a PDF document")
	case kinds[i].media == PDF && len(data) > MaxPDF:
		return fmt.Errorf("a PDF document may have %d MB: make one of the pages that matter", MaxPDF>>20)
	case kinds[i].media == PDF:
		return nil
	case len(data) > MaxImage:
		return fmt.Errorf("an image may have %d MB: make it smaller", MaxImage>>20)
	}
	size, err := kinds[i].size(data)
	switch {
	case err != nil:
		return fmt.Errorf("it begins as a %s image, and its header cannot be read: %w", kinds[i].name, err)
	case size.Width < 1 || size.Height < 1 || size.Width > MaxSide || size.Height > MaxSide:
		return fmt.Errorf("it has %d x %d pixels, and a side may have 1 to %d: make it smaller", size.Width, size.Height, MaxSide)
	}
	return nil
}

// Describe says what an image or a document is: "PNG image, 800 x 600, 120 KB".
func Describe(data []byte) string {
	i := kindOf(data)
	if i < 0 {
		return "file, " + Size(len(data))
	}
	what := Name(data)
	if kinds[i].size != nil {
		if size, err := kinds[i].size(data); err == nil {
			what += fmt.Sprintf(", %d x %d", size.Width, size.Height)
		}
	}
	return what + ", " + Size(len(data))
}

// Size writes a number of bytes for people.
func Size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

const (
	pixelsPerToken = 750
	mostOfImage    = 1600 // tokens: models make a larger image smaller
	ofPage         = 2000 // tokens: a page is read as a text and an image
	pageBytes      = 100 << 10
)

// Tokens estimates what a model pays.
func Tokens(data []byte) int {
	i := kindOf(data)
	switch {
	case i < 0:
		return 0
	case kinds[i].media == PDF:
		return ofPage * cmp.Or(pages(data), len(data)/pageBytes+1)
	}
	size, err := kinds[i].size(data)
	if err != nil {
		return mostOfImage
	}
	return min(size.Width*size.Height/pixelsPerToken+85, mostOfImage)
}

// pages counts the pages of a document that it names outside its compressed parts.
func pages(data []byte) int {
	n := 0
	for _, name := range []string{"/Type /Page", "/Type/Page"} {
		n += bytes.Count(data, []byte(name)) - bytes.Count(data, []byte(name+"s"))
	}
	return n
}

var errWebP = errors.New("no size is where it belongs")

// webpSize reads the size of a WebP image from its first chunk.
func webpSize(b []byte) (image.Config, error) {
	if len(b) < 30 {
		return image.Config{}, errWebP
	}
	switch at := b[20:]; string(b[12:16]) {
	case "VP8 ":
		if at[3] == 0x9d && at[4] == 1 && at[5] == 0x2a {
			return image.Config{Width: int(binary.LittleEndian.Uint16(at[6:])) & 0x3fff, Height: int(binary.LittleEndian.Uint16(at[8:])) & 0x3fff}, nil
		}
	case "VP8L":
		if at[0] == 0x2f {
			n := binary.LittleEndian.Uint32(at[1:])
			return image.Config{Width: int(n&0x3fff) + 1, Height: int(n>>14&0x3fff) + 1}, nil
		}
	case "VP8X":
		return image.Config{Width: threeBytes(at[4:]) + 1, Height: threeBytes(at[7:]) + 1}, nil
	}
	return image.Config{}, errWebP
}

func threeBytes(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
