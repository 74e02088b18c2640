package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
)

const modelsIntro = `# Models

What agent knows of the models of Anthropic, OpenAI and Google. The name of a version, such as ` + "`gpt-5-2025-08-07`" + `, is known by
the name before its date. Other models work too: see [what is not known](#what-is-not-known).

- **window**: tokens of a request and its answer. A conversation is shortened before it is full; the setting ` + "`contextWindow`" + ` makes it smaller.
- **answer**: tokens of the longest answer. The setting ` + "`answerTokens`" + ` makes it shorter. If an answer is cut there, you and the model are told.
- **prices**: US dollars for a million tokens of input, output, input read from the cache, and input written to it, for a short request.
  They are facts to compare: agent computes no bill.
- **effort**: what ` + "`--effort`" + ` and the setting ` + "`effort`" + ` can be. The usual one is bold. Without an effort agent asks for none, and the provider chooses.
  With one, what the model thinks is shown as far as its provider shows it.
- **form**: how the model is asked. ` + "`budget`" + ` models think for up to 1,024, 8,192 or 24,576 tokens; the others take the word.

All of these models read images and PDF documents, see [conversations](conversations.md#images-and-pdf-documents).

`

const modelsUnknown = `
## What is not known

A model that is in no row has a window of 180000 tokens and, with Anthropic's protocol, answers of at most 8192; ` + "`contextWindow`" + ` and
` + "`answerTokens`" + ` change both. Each effort of the table is passed on to it. The setting ` + "`modelReads`" + ` says whether it reads images and PDF documents.
`

// modelsPage returns the page about models.
func modelsPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("cmd/agent/internal/models/facts.txt") + modelsIntro)
	source := ""
	for _, f := range models.All() {
		if f.Source != source {
			source = f.Source
			fmt.Fprintf(&b, "\nWritten down on %s, from %s:\n\n| model | window | answer | in | out | read | write | effort | form |\n|---|--:|--:|--:|--:|--:|--:|---|---|\n", f.Date, f.Source)
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s | %s | %s | %s | %s |\n", f.Name, f.Window, f.Answer, dollars(f.Prices.Input), dollars(f.Prices.Output),
			dollars(f.Prices.CacheRead), dollars(f.Prices.CacheWrite), effortsText(&f), f.Form)
	}
	b.WriteString(modelsUnknown)
	return b.String(), nil
}

// dollars writes a price, "" for one that there is not.
func dollars(price float64) string {
	if price == 0 {
		return ""
	}
	return strconv.FormatFloat(price, 'f', -1, 64)
}

func effortsText(f *models.Facts) string {
	if f.Efforts == "" && f.Form != "" {
		return "not known"
	}
	words := strings.Fields(f.Efforts)
	for i, w := range words {
		if w == f.Usual {
			words[i] = "**" + w + "**"
		}
	}
	return strings.Join(words, ", ")
}
