package fakemodel

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Media is an image or a document that the model was shown.
type Media struct {
	Type string // the media type
	Data []byte
}

// mediaPart is a piece of content with an image or a document, in the form of any wire.
type mediaPart struct {
	Type   string `json:"type"`
	Source *struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	} `json:"source"`
	Image json.RawMessage `json:"image_url"` // an address, or an object that has it
	File  *struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
	Name   string `json:"filename"`
	Data   string `json:"file_data"`
	Inline *struct {
		Media string `json:"mimeType"`
		Data  []byte `json:"data"`
	} `json:"inlineData"`
}

// take takes a piece of content that is an image or a document in the form of the wire. It reports whether it is one.
func (q *Request) take(raw json.RawMessage) bool {
	var p mediaPart
	if json.Unmarshal(raw, &p) != nil {
		return false
	}
	var url string
	switch q.Wire {
	case Anthropic:
		if p.Source == nil || p.Source.Type != "base64" || (p.Type == "document") != (p.Source.Media == "application/pdf") || p.Type != "image" && p.Type != "document" {
			return false
		}
		return q.shown(p.Source.Media, p.Source.Data)
	case Gemini:
		return p.Inline != nil && q.shown(p.Inline.Media, p.Inline.Data)
	case Responses:
		if url = p.Data; p.Type == "input_image" {
			_ = json.Unmarshal(p.Image, &url)
		} else if p.Type != "input_file" || p.Name == "" {
			return false
		}
	case Chat:
		var image struct {
			URL string `json:"url"`
		}
		if p.Type == "image_url" && json.Unmarshal(p.Image, &image) == nil {
			url = image.URL
		} else if p.Type == "file" && p.File != nil && p.File.Name != "" {
			url = p.File.Data
		}
	}
	media, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	b, err := base64.StdEncoding.DecodeString(data)
	return err == nil && strings.HasPrefix(url, "data:") && q.shown(media, b)
}

func (q *Request) shown(media string, data []byte) bool {
	if media == "" || len(data) == 0 {
		return false
	}
	q.Shown = append(q.Shown, Media{media, data})
	return true
}

// contentOf is textOf for content that may have images and documents.
func (q *Request) contentOf(raw json.RawMessage, where, kind string) (string, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return textOf(raw, where, kind)
	}
	texts := []json.RawMessage{}
	for _, one := range list {
		if !q.take(one) {
			texts = append(texts, one)
		}
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		return "", err
	}
	return textOf(raw, where, kind)
}
