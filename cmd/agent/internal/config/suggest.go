package config

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
)

// didYouMean returns a cure that names the nearest candidate, or all of them.
func didYouMean(word string, candidates []string) string {
	if meant := near.Name(word, candidates); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "use one of " + strings.Join(candidates, ", ")
}
