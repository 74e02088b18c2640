package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// complete reports whether a program lists every skill of the tree when it writes to a file, and records how many it
// lists through a pipe: some programs exit before the pipe is empty. An incomplete list is recorded as a note, because
// its time is not comparable.
func (b *bench) complete(ctx context.Context, tree string, c command) (bool, error) {
	names, err := os.ReadFile(filepath.Join(tree, "names.txt"))
	if err != nil {
		return false, err
	}
	file, err := os.Create(filepath.Join(b.work, "listed"))
	if err != nil {
		return false, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	err = b.start(ctx, c, file)
	if err == nil {
		var piped string
		piped, err = b.output(ctx, c)
		b.figures[key{c.label, c.n}] = figure{"count": float64(named(string(names), piped))}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		b.note("%s, %d skills: %v", c.label, c.n, err)
		return false, nil
	}
	listed, err := os.ReadFile(file.Name())
	if err != nil {
		return false, err
	}
	if n := named(string(names), string(listed)); n != c.n {
		b.note("%s lists %d of %d skills", c.label, n, c.n)
		return false, nil
	}
	return true, nil
}

// named counts the names, one per line, that occur in the text as words.
func named(names, text string) int {
	missing := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		missing[name] = true
	}
	all := len(missing)
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		delete(missing, word)
	}
	return all - len(missing)
}
