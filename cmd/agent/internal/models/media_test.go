package models_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

func TestUnseen(t *testing.T) {
	const unknownImages = "it is not known whether it reads images; the setting modelReads can say it"
	const unknownPDF = "it is not known whether it reads PDF documents; the setting modelReads can say it"
	const noPDF = "the protocol of its server has no PDF documents"
	elsewhere := "http://models.example/v1"
	for _, tt := range []struct {
		model, base, reads             string
		image, pdf, toolImage, toolPDF string
	}{
		{"anthropic/claude-opus-5-5", "", "", "", "", "", ""},
		{"anthropic/claude-opus-5-5", elsewhere, "", "", "", "", ""},
		{"anthropic/claude-next", "", "", "", "", "", ""},
		{"anthropic/claude-next", elsewhere, "", "", "", unknownImages, unknownPDF},
		{"gemini/gemini-3.5-flash", "", "", "", "", "", ""},
		{"openai/gpt-5", "", "auto", "", "", "", ""},
		{"chat/gpt-5", "", "", "", "", "", ""},
		{"chat/gpt-5", elsewhere, "", "", noPDF, "", noPDF},
		{"ollama/qwen3", "", "", "", noPDF, unknownImages, noPDF},
		{"ollama/qwen3", "", "images", "", noPDF, "", noPDF},
		{"openrouter/some/model", "", "", "", "", unknownImages, unknownPDF},
		{"openrouter/some/model", "", "documents", "", "", "", ""},
		{"anthropic/claude-opus-5-5", "", "text", "the setting modelReads is text", "the setting modelReads is text", "the setting modelReads is text", "the setting modelReads is text"},
		{"anthropic/claude-opus-5-5", "", "images", "", "the setting modelReads is images", "", "the setting modelReads is images"},
		{"replay/demo", "", "text", "", "", "", ""},
	} {
		env := map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "OPENROUTER_API_KEY": "k",
			"ANTHROPIC_BASE_URL": tt.base, "OPENAI_BASE_URL": tt.base}
		f := finder(env)
		f.Reads = tt.reads
		found, err := f.Find(t.Context(), tt.model)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{tt.image, tt.pdf, tt.toolImage, tt.toolPDF} {
			if got := found.Unseen([]string{"image/png", "application/pdf"}[i%2], i > 1); got != want {
				t.Errorf("%+v, %d: got %q", tt, i, got)
			}
		}
	}
}

// A conversation with what the model does not read is sent with its name in its place.
func TestUnseenIsNotSent(t *testing.T) {
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer s.Close()
	found, err := finder(map[string]string{"OPENAI_BASE_URL": s.URL}).Find(t.Context(), "chat/some")
	if err != nil {
		t.Fatal(err)
	}
	image, pdf := llm.Media{Type: "image/png", Name: "a.png", Data: []byte("x")}, llm.Media{Type: "application/pdf", Name: "b.pdf", Data: []byte("y")}
	for range found.Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{
		{Result: &llm.Result{ID: "1", Text: "seen", Media: []llm.Media{image}}}, {Media: &image}, {Media: &pdf}, {Text: "look"}}}}}) {
	}
	for _, want := range []string{"seen\\n[a.png (file, 1 bytes): not shown to this model: it is not known", `"data:image/png;base64,eA=="`, "[b.pdf (file, 1 bytes): not shown to this model: the protocol"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}
