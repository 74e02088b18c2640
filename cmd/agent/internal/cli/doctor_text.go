package cli

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func (o *doctorOptions) titled(title string, rows [][]string) error {
	o.out.Printf("\n%s\n", o.out.Paint(ui.Bold, title))
	return o.out.Table(nil, rows)
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []string:
		return output.OrDash(strings.Join(v, ", "))
	case []config.Root:
		return listText(v)
	case string:
		return output.OrDash(v)
	}
	return fmt.Sprint(v)
}

func listText[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = item.String()
	}
	return output.OrDash(strings.Join(texts, ", "))
}

func folderText(l layer) string {
	switch {
	case l.Dir == "":
		return "(embedded)"
	case !l.Exists:
		return l.Dir + " (does not exist)"
	}
	return l.Dir
}
