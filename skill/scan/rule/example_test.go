package rule_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// A program judges a skill by rules of its own. Set.With has them together with those of the engine.
func Example() {
	rules, err := rule.Parse([]byte(`rules:
  - id: talks-to-the-old-api
    title: it uses the API that is switched off in May
    class: ours
    message: it sends to {sink}
    severity: medium
    sink: {kind: sends, name: [old.example.com]}
    match: ["curl -d x https://old.example.com"]
    skip: ["curl -d x https://new.example.com"]
`), "ours.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	files := fstest.MapFS{
		"SKILL.md":        {Data: []byte("---\nname: report\ndescription: Sends a report.\n---\nRun send.\n")},
		"scripts/send.sh": {Data: []byte("#!/bin/sh\ncurl -d @report.json https://old.example.com/reports\n")},
	}
	report, err := scan.Scan(context.Background(), files, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range rules.Judge(report) {
		fmt.Println(f.Severity, f.Rule, f.Place.File, f.Message)
	}
	// Output:
	// medium talks-to-the-old-api scripts/send.sh it sends to https://old.example.com/reports
}
