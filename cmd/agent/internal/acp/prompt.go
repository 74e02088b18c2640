package acp

import (
	"net/url"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
)

// attached begins what a prompt has after the words of the user.
const attached = "\n\n<attached "

// content returns a prompt: what the user typed, and the same with what they attached. What is attached cannot end its own frame.
func content(blocks []protocol.ContentBlock) (typed, whole string, err error) {
	var words, files strings.Builder
	alone := true
	for _, b := range blocks {
		alone = alone && b.Text != nil
		switch {
		case b.Text != nil:
			words.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			words.WriteString(mention(b.ResourceLink.Uri))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			words.WriteString(mention(r.Uri))
			files.WriteString("\n\n" + worker.Attached(r.Uri, r.Text))
		case b.Resource != nil:
			return "", "", wrong("an attached file is not text, and is not taken: name its path in the prompt")
		case b.Image != nil:
			return "", "", wrong("images are not taken: this agent sends none to a model")
		case b.Audio != nil:
			return "", "", wrong("audio is not taken: this agent sends none to a model")
		}
	}
	typed = strings.ToValidUTF8(words.String(), "\uFFFD")
	whole = typed + strings.ToValidUTF8(files.String(), "\uFFFD")
	switch {
	case strings.HasPrefix(typed, "!") && !alone: // a shell would run what names the file
		return "", "", wrong("a command takes no attached files: write their paths")
	case strings.TrimSpace(typed) == "":
		return "", "", wrong("the prompt is empty")
	case len(whole) > stream.MaxPrompt:
		return "", "", wrong("the prompt has %d bytes, at most %d are taken: name files in place of attaching them", len(whole), stream.MaxPrompt)
	}
	return typed, whole, nil
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
