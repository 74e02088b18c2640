package fakemodel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
)

// geminiAnswer is the API reference's GenerateContentResponse, with the fields that the server sends. It is decoded
// strictly: an unknown field or a wrong type is a fault of the server.
type geminiAnswer struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Role  string             `json:"role"`
			Parts []geminiAnswerPart `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *struct {
		PromptTokenCount        int `json:"promptTokenCount"`
		CachedContentTokenCount int `json:"cachedContentTokenCount"`
		CandidatesTokenCount    int `json:"candidatesTokenCount"`
		ThoughtsTokenCount      int `json:"thoughtsTokenCount"`
		TotalTokenCount         int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string `json:"modelVersion"`
	ResponseID   string `json:"responseId"`
	Error        *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

type geminiAnswerPart struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature []byte `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args map[string]any `json:"args"`
	} `json:"functionCall"`
}

// askGemini sends a request in the form of the API reference.
func askGemini(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	type object = map[string]any
	contents := []object{{"role": "user", "parts": []object{{"text": tk.prompt}}}}
	var calls, results []object
	for _, c := range tk.calls {
		call := object{"functionCall": object{"id": c.ID, "name": c.Name, "args": json.RawMessage(c.Args)}}
		if c.Signature != "" {
			call["thoughtSignature"] = []byte(c.Signature)
		}
		calls = append(calls, call)
	}
	for _, r := range tk.results {
		field := map[bool]string{false: "output", true: "error"}[r.Failed]
		results = append(results, object{"functionResponse": object{"id": r.ID, "name": r.Name, "response": object{field: r.Text}}})
	}
	if calls != nil {
		contents = append(contents, object{"role": "model", "parts": calls}, object{"role": "user", "parts": results})
	}
	method := "generateContent"
	if stream {
		method = "streamGenerateContent?alt=sse"
	}
	out := said{}
	err := askPlain(ctx, &plainRequest{url: s.URL + "/v1beta/models/fake-model:" + method, stream: stream, body: object{
		"contents":          contents,
		"systemInstruction": object{"parts": []object{{"text": "Be brief."}}},
		"generationConfig":  object{"maxOutputTokens": 100},
		"tools": []object{{"functionDeclarations": []object{{"name": "weather", "description": "Tells the weather.",
			"parametersJsonSchema": weather}}}},
	}}, out.takeGemini)
	return out, err
}

// takeGemini adds an answer or a part of one.
func (s *said) takeGemini(data []byte) error {
	var a geminiAnswer
	if err := strictly(data, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return &httpError{a.Error.Code, a.Error.Message}
	}
	if u := a.UsageMetadata; u != nil {
		s.Usage = Usage{Input: u.PromptTokenCount, CacheRead: u.CachedContentTokenCount, Output: u.CandidatesTokenCount + u.ThoughtsTokenCount}
		if u.TotalTokenCount != s.Usage.Input+s.Usage.Output {
			return fmt.Errorf("the total of %+v is wrong", *u)
		}
	}
	s.Stop = cmp.Or(a.PromptFeedback.BlockReason, s.Stop)
	for _, c := range a.Candidates {
		s.Stop = cmp.Or(c.FinishReason, s.Stop)
		for _, p := range c.Content.Parts {
			if c.Content.Role != "model" {
				return fmt.Errorf("the role is %q", c.Content.Role)
			}
			if !p.Thought {
				s.Text += p.Text
			}
			if f := p.FunctionCall; f != nil {
				args, err := json.Marshal(f.Args)
				if err != nil {
					return err
				}
				s.Calls = append(s.Calls, Call{ID: f.ID, Name: f.Name, Args: string(args), Signature: string(p.ThoughtSignature)})
			}
		}
	}
	return nil
}
