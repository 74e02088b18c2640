package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
)

// attached begins what a prompt has after the words of the user.
const attached = "\n\n<attached "

// written is a prompt: what the user typed, the same with the texts that they attached, and images and documents.
type written struct {
	typed, whole string
	shown        []llm.Media
}

// content returns a prompt. What is attached cannot end its own frame.
func content(blocks []protocol.ContentBlock) (*written, error) {
	w := &written{}
	var words, files strings.Builder
	alone := true
	for _, b := range blocks {
		alone = alone && b.Text != nil
		var err error
		switch {
		case b.Text != nil:
			words.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			name(&words, b.ResourceLink.Uri)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			name(&words, r.Uri)
			files.WriteString("\n\n" + worker.Attached(r.Uri, r.Text))
		case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
			r := b.Resource.Resource.BlobResourceContents
			name(&words, r.Uri)
			err = w.show(r.Blob, path.Base(r.Uri))
		case b.Image != nil:
			err = w.show(b.Image.Data, fmt.Sprintf("image %d", len(w.shown)+1))
		case b.Audio != nil:
			err = wrong("audio is not taken: this agent sends none to a model")
		}
		if err != nil {
			return nil, err
		}
	}
	w.typed = strings.ToValidUTF8(words.String(), "\uFFFD")
	w.whole = w.typed + strings.ToValidUTF8(files.String(), "\uFFFD")
	switch {
	case strings.HasPrefix(w.typed, "!") && !alone: // a shell would run what names the file
		return nil, wrong("a command takes no attached files: write their paths")
	case strings.TrimSpace(w.typed) == "" && len(w.shown) > 0:
		w.whole = "(only what is attached)"
	case strings.TrimSpace(w.typed) == "":
		return nil, wrong("the prompt is empty")
	case len(w.whole) > stream.MaxPrompt:
		return nil, wrong("the prompt has %d bytes, at most %d are taken: name files in place of attaching them", len(w.whole), stream.MaxPrompt)
	}
	return w, nil
}

// show adds an image or a document. What it is, its bytes say.
func (w *written) show(data, name string) error {
	b, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		err = media.Check(b)
	}
	if err != nil {
		return wrong("%s is not taken: %v", ui.Line(name), err)
	}
	w.shown = append(w.shown, llm.Media{Type: media.Type(b), Name: ui.Line(name), Data: b})
	return nil
}

// name adds the name of a resource to the words of a prompt, with a space before it.
func name(words *strings.Builder, uri string) {
	if s := words.String(); s != "" && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, "\n") {
		words.WriteByte(' ')
	}
	words.WriteString(mention(uri))
}

// mention returns a resource as a text names it: a file by its path.
func mention(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" && u.Path != "" {
		uri = u.Path
		if u.Fragment != "" {
			uri += "#" + u.Fragment
		}
	}
	return "`" + strings.ReplaceAll(ui.Line(uri), "`", "'") + "`"
}
