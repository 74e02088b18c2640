package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Block is a script's PEP 723 metadata.
type Block struct {
	RequiresPython string   `toml:"requires-python"`
	Dependencies   []string `toml:"dependencies"`
}

const maxBlock = 16 << 10

// ParseBlock reads the `script` block of a Python source; nil when there is none.
func ParseBlock(src []byte) (*Block, error) {
	lines := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	var text []string
	for i := 0; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " ") != "# /// script" {
			continue
		}
		end := blockEnd(lines, i+1)
		if end < 0 {
			return nil, errors.New("the block is not closed with # ///")
		}
		if text != nil {
			return nil, errors.New("there are two script blocks")
		}
		text = []string{}
		for _, l := range lines[i+1 : end] {
			text = append(text, strings.TrimPrefix(strings.TrimPrefix(l, "#"), " "))
		}
		i = end
	}
	if text == nil {
		return nil, nil
	}
	return decodeBlock(strings.Join(text, "\n"))
}

func blockEnd(lines []string, from int) int {
	end := -1
	for i := from; i < len(lines); i++ {
		l := lines[i]
		if l == "# ///" {
			end = i
		}
		if l != "#" && !strings.HasPrefix(l, "# ") {
			break
		}
		if i > from && strings.HasPrefix(l, "# /// ") {
			break
		}
	}
	return end
}

func decodeBlock(text string) (*Block, error) {
	if len(text) > maxBlock {
		return nil, fmt.Errorf("the block has %d bytes (max %d)", len(text), maxBlock)
	}
	var b Block
	meta, err := toml.Decode(text, &b)
	if err != nil {
		return nil, err
	}
	for _, k := range meta.Undecoded() {
		if k[0] == "tool" {
			return nil, fmt.Errorf("table %q is not allowed: a script does not configure its installer", k.String())
		}
	}
	for _, d := range b.Dependencies {
		if strings.ContainsAny(d, "@\n\r\x00") || strings.Contains(d, "://") {
			return nil, fmt.Errorf("dependency %q is not a name with a version: direct references are not allowed", d)
		}
	}
	return &b, nil
}
