package text

import (
	"encoding/xml"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// markup reads XML: the documents of offices and pictures. What they show is read as a document, with words put together that stand in
// several elements, and apart from it what they do not show. It reports whether the text is XML.
func (r *reader) markup() bool {
	d := xml.NewDecoder(strings.NewReader(r.text))
	d.Strict = false
	d.CharsetReader = nil
	m := &shown{}
	for {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			m.start(&t)
		case xml.EndElement:
			m.end(t.Name.Local)
		case xml.CharData:
			m.chars(string(t))
		}
	}
	if m.elements == 0 {
		return false
	}
	r.inner(m.seen.String(), 0, -1)
	if text := m.unseen.String(); strings.TrimSpace(text) != "" {
		s := sayings(text)
		for _, f := range s.found {
			if f.name != "order" && !ordinary(f.name) {
				r.add(0, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: "an element that is not shown", Detail: plain(text[f.begin:])})
				r.inner(text, 0, len(r.facts)-1)
				break
			}
		}
	}
	return true
}

// inner reads another text, which stands at an offset, and of which a fact says how it is hidden; -1 for none.
func (r *reader) inner(text string, offset, hidden int) {
	facts, partly := Read(text, fact.Place{}, Form{Document: true})
	if partly != "" {
		r.partly = partly
	}
	first := len(r.facts)
	for _, f := range facts {
		for i := range f.From {
			f.From[i] += first
		}
		if hidden >= 0 && f.Object == fact.Saying {
			f.From = append(f.From, hidden)
		}
		r.add(offset, f)
	}
}

// shown collects what a document shows, and what it does not.
type shown struct {
	seen, unseen strings.Builder
	elements     int
	names        []string
	hidden       int  // how many elements are open below which nothing is shown; 0 if there is none
	run          bool // the properties of this piece of text hide it
}

// start reads the beginning of an element.
func (m *shown) start(e *xml.StartElement) {
	m.elements++
	if m.names = append(m.names, e.Name.Local); len(m.names) > 1000 {
		m.names = m.names[1:]
	}
	if m.hidden > 0 {
		m.hidden++
	}
	switch e.Name.Local {
	case "r": // a piece of text of an office
		m.run = false
	case "vanish", "webHidden":
		m.run = m.run || attribute(e, "val") != "0" && attribute(e, "val") != "false"
	case "color", "srgbClr":
		m.run = m.run || strings.EqualFold(attribute(e, "val"), "ffffff") && m.within("rPr")
	case "sz":
		m.run = m.run || attribute(e, "val") == "1" || attribute(e, "val") == "2"
	case "title", "desc", "metadata", "docPr", "cNvPr":
		if m.hidden == 0 {
			m.hidden = 1
		}
	}
	if m.hidden == 0 && unseen(e) {
		m.hidden = 1
	}
	for _, name := range []string{"descr", "title", "alt"} {
		if text := attribute(e, name); len(text) > 10 {
			m.unseen.WriteString("\n\n" + text + "\n\n")
		}
	}
}

// unseen reports whether the attributes of an element hide it.
func unseen(e *xml.StartElement) bool {
	style := strings.ToLower(strings.ReplaceAll(attribute(e, "style"), " ", "")) + ";"
	for _, name := range []string{"display", "visibility", "opacity", "font-size", "fill"} {
		if value := attribute(e, name); value != "" {
			style += name + ":" + strings.ToLower(value) + ";"
		}
	}
	for _, way := range []string{"display:none;", "visibility:hidden;", "font-size:0;", "font-size:0px;", "opacity:0;"} {
		if strings.Contains(style, way) {
			return true
		}
	}
	return e.Name.Local == "text" && (strings.Contains(style, "fill:white;") || strings.Contains(style, "fill:#fff;") || strings.Contains(style, "fill:#ffffff;"))
}

func (m *shown) within(name string) bool {
	for i := len(m.names) - 1; i >= max(0, len(m.names)-6); i-- {
		if m.names[i] == name {
			return true
		}
	}
	return false
}

func (m *shown) end(name string) {
	if len(m.names) > 0 {
		m.names = m.names[:len(m.names)-1]
	}
	if m.hidden > 0 {
		m.hidden--
	}
	if name == "p" || name == "si" || name == "text" || name == "desc" || name == "title" || name == "comment" {
		m.seen.WriteString("\n\n")
		m.unseen.WriteString("\n\n")
	}
}

func (m *shown) chars(text string) {
	if strings.TrimSpace(text) == "" && !m.within("t") {
		return
	}
	if m.hidden > 0 || m.run && m.within("t") {
		m.unseen.WriteString(text)
		return
	}
	m.seen.WriteString(text)
	if !m.within("t") && !m.within("tspan") && !m.within("text") {
		m.seen.WriteByte('\n')
	}
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
