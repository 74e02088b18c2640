package js

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// maxPiece is how many bytes are stripped of their types at once. The library that does so has no limit of its own: it needs up to 12 KB
// of its stack for each byte of a program of nothing but brackets, and a stack that is full ends the process.
const (
	maxPiece = 32 << 10
	maxLong  = 64 << 10 // of a text in lines, which has less nesting than one without
	longLine = 200      // bytes of a line on average, at most
)

// readTyped reads a program with types or JSX: in pieces of whole statements.
func readTyped(ctx context.Context, d Dialect, text []byte, first int) (code.Program, error) {
	var out code.Program
	for len(text) > 0 {
		if ctx.Err() != nil {
			out.Partly = "there was no time to read all of it"
			return out, nil
		}
		n := piece(text)
		if n < 0 {
			return out, fmt.Errorf("line %d begins a statement that is too long", first)
		}
		p, err := readPiece(ctx, d, text[:n], first)
		if err != nil {
			return out, err
		}
		out.Body = append(out.Body, p.Body...)
		if out.Partly == "" {
			out.Partly = p.Partly
		}
		first += bytes.Count(text[:n], []byte("\n"))
		text = text[n:]
	}
	return out, nil
}

var begins = lazyregexp.New(`(?:[;}]|\n)\r?\n((?:import|export|async|function|class|abstract|const|let|var|type|interface|enum|namespace|declare|if|for|try)\b|@)`)

// piece returns the length of the whole statements that the text begins with, if it is not too long, or -1.
func piece(text []byte) int {
	most := maxPiece
	if beginning := text[:min(len(text), maxLong)]; bytes.Count(beginning, []byte("\n"))*longLine > len(beginning) {
		most = maxLong
	}
	if len(text) <= most {
		return len(text)
	}
	last := -1
	for _, at := range begins().FindAllSubmatchIndex(text[:most], -1) {
		last = at[2]
	}
	return last
}

// transform calls the library, until ctx ends: it takes the square of the time of some programs, and cannot be stopped.
func transform(ctx context.Context, text string, o api.TransformOptions) (api.TransformResult, error) {
	done := make(chan api.TransformResult, 1)
	go func() { done <- api.Transform(text, o) }()
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return api.TransformResult{}, errors.New("there was no time to read all of it")
	}
}

func readPiece(ctx context.Context, d Dialect, text []byte, first int) (code.Program, error) {
	loader := [...]api.Loader{api.LoaderJSX, api.LoaderTS, api.LoaderTSX}[d]
	r, err := transform(ctx, string(text), api.TransformOptions{
		Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent, Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		Supported:   map[string]bool{"decorators": false, "using": false, "import-attributes": false},
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true,"experimentalDecorators":true}}`,
	})
	if err != nil {
		return code.Program{}, err
	}
	if len(r.Errors) > 0 {
		line := 1
		if l := r.Errors[0].Location; l != nil {
			line = l.Line
		}
		return code.Program{}, fmt.Errorf("line %d is no %s", line+first-1, [...]string{"JavaScript", "TypeScript", "TypeScript"}[d])
	}
	lines, err := mapped(r.Map)
	if err != nil {
		return code.Program{}, err
	}
	return read(ctx, r.Code, func(line int) int {
		if line = min(line, len(lines)); line > 0 {
			return lines[line-1] + first
		}
		return first
	})
}

// mapped returns the line, from 0, that each line was made from: by a source map, whose mappings are numbers in base64, for each line
// of the output.
func mapped(b []byte) ([]int, error) {
	var m struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, errors.New("its lines are not known")
	}
	var out []int
	from, before := 0, 0
	for _, line := range strings.Split(m.Mappings, ";") {
		for i, segment := range strings.Split(line, ",") {
			if fields := numbers(segment); len(fields) >= 4 {
				from += fields[2]
				if i == 0 {
					before = from
				}
			}
		}
		out = append(out, max(before, 0))
	}
	return out, nil
}

// numbers returns the numbers of a segment: of five bits a digit, the lowest first, with the sign as the lowest of all.
func numbers(segment string) (out []int) {
	n, shift := 0, 0
	for i := range len(segment) {
		digit := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", segment[i])
		if digit < 0 || shift > 40 {
			return out
		}
		n |= digit & 31 << shift
		shift += 5
		if digit&32 != 0 {
			continue
		}
		if n&1 != 0 {
			n = -n
		}
		out = append(out, n/2)
		n, shift = 0, 0
	}
	return out
}
