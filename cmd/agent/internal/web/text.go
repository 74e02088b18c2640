package web

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
)

// texts are the media types that are texts without saying so.
var texts = []string{"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
	"application/x-javascript", "application/x-ndjson", "application/x-sh", "application/sql"}

// isText reports whether pages of a media type are read.
func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && !strings.HasPrefix(kind, "image/") ||
		slices.Contains(texts, kind)
}

func notText(kind string) error {
	return fmt.Errorf("it is %.100q, and only HTML, JSON and other texts are read: get it with a command that writes a file", kind)
}

// asText returns the body of a page as a text. Links in HTML become whole addresses.
func asText(ctx context.Context, body []byte, kind, encoding string, u *url.URL) (string, error) {
	isHTML := kind == "text/html" || kind == "application/xhtml+xml"
	body, err := decode(body, encoding, isHTML)
	if err != nil || !isText(kind) || bytes.IndexByte(body, 0) >= 0 {
		return "", notText(kind)
	}
	if !isHTML {
		return surroundings.Clean(string(body)), nil
	}
	type done struct {
		text string
		err  error
	}
	end := make(chan done, 1)
	go func() { // the library cannot be stopped; what it does to a page ends
		text, err := markdown(body, u)
		end <- done{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case d := <-end:
		if d.err != nil {
			return "", fmt.Errorf("its HTML cannot be read: %w", d.err)
		}
		return surroundings.Clean(d.text), nil
	}
}

// decode returns a body in UTF-8. Its encoding is found as browsers do: by a byte order mark, by what the server says and by what HTML says
// of itself. Without any of them, what is not UTF-8 is windows-1252.
func decode(body []byte, encoding string, isHTML bool) ([]byte, error) {
	e, name, sure := charset.DetermineEncoding(body, mime.FormatMediaType("text/plain", map[string]string{"charset": encoding}))
	if !sure && (!isHTML || name == "windows-1252") && utf8.Valid(body) {
		return body, nil // only HTML says something of itself, and the library looks at the beginning alone
	}
	return e.NewDecoder().Bytes(body)
}

// markdown turns HTML into Markdown. Three things in the library take the square of the time or worse: cells that span others, tables that
// are long and wide, and finding out whether a "[" needs to be escaped. A model needs no escapes.
func markdown(page []byte, u *url.URL) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // a library that reads strangers' pages
			err = fmt.Errorf("%v", r)
		}
	}()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return "", err
	}
	plugins := []converter.Plugin{base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()}
	if narrow(doc) {
		plugins = append(plugins, table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorNone)))
	}
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(plugins...))
	out, err := c.ConvertNode(doc, converter.WithDomain(u.Scheme+"://"+u.Host))
	return string(out), err
}

// mostCells is how many cells the tables of a page may have if all of them are filled up to the widest row.
const mostCells = 100_000

// narrow reports whether the tables of a page are small enough to be written as such. It makes each cell one cell.
func narrow(doc *html.Node) bool {
	rows, widest := 0, 0
	for n := range doc.Descendants() {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "rowspan" || a.Key == "colspan" })
		if n.DataAtom == atom.Tr {
			cells := 0
			for range n.ChildNodes() {
				cells++
			}
			rows, widest = rows+1, max(widest, cells)
		}
	}
	return rows*widest <= mostCells
}
