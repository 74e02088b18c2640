package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
)

// noEffort is the word for the effort that the provider chooses.
const noEffort = "auto"

// effortCommand is /effort.
func (t *talk) effortCommand(ctx context.Context, word string) (string, error) {
	found, has := t.model(), strings.Join(t.completeEfforts(""), ", ")
	switch {
	case word == "" && t.effort() == "":
		return fmt.Sprintf("%s thinks as its provider chooses (/effort %s)", found, has), nil
	case word == "":
		return fmt.Sprintf("%s thinks with the effort %s (/effort %s)", found, t.effort(), has), nil
	}
	wanted := effortOf(word)
	if _, err := found.WithEffort(wanted); err != nil {
		return "", fmt.Errorf("%s has no effort %q: use one of %s", found, word, has)
	}
	defer t.change()()
	before := t.effort()
	t.setEffort(wanted)
	if err := t.w.begin(ctx, t.w.conversation.Messages()); err != nil {
		t.setEffort(before)
		return "", err
	}
	return fmt.Sprintf("effort %s from now on", word), nil
}

// effortOf returns the effort that a word of the user means, "" for the one that the provider chooses.
func effortOf(word string) string {
	if word == noEffort {
		return ""
	}
	return word
}

// effort returns the effort of the model, "" for the one that its provider chooses.
func (t *talk) effort() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.effort
}

func (t *talk) setEffort(word string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w.effort = word
}

// completeEfforts returns what /effort takes for the present model.
func (t *talk) completeEfforts(prefix string) []string {
	found := t.model()
	return slices.DeleteFunc(append(models.Efforts(), noEffort), func(word string) bool {
		_, err := found.WithEffort(effortOf(word))
		return err != nil || !strings.HasPrefix(word, prefix)
	})
}
