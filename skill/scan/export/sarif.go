package export

import (
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// The parts of a SARIF log that are used, as the OASIS schema of version 2.1.0 names them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Address string      `json:"informationUri,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string         `json:"id"`
		Short      sarifText      `json:"shortDescription"`
		Default    sarifLevel     `json:"defaultConfiguration"`
		Properties map[string]any `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   map[string]any     `json:"properties"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// levels are SARIF's words for severities, and the numbers by which forges sort findings of security.
var levels = map[scan.Severity][2]string{
	scan.Low: {"note", "3.0"}, scan.Medium: {"warning", "5.5"}, scan.High: {"error", "8.0"}, scan.Critical: {"error", "9.5"},
}

// SARIF returns the findings of skills as a SARIF log, for encoding/json.
func SARIF(tool Tool, set *rule.Set, skills []Skill) any {
	run := sarifRun{Results: []sarifResult{}, ColumnKind: "unicodeCodePoints", Invocations: []sarifInvocation{{Successful: true}},
		Tool: sarifTool{sarifDriver{Name: tool.Name, Version: tool.Version, Address: tool.Address, Rules: []sarifRule{}}}}
	index := map[string]int{}
	add := func(id, title, class string, severity scan.Severity) {
		level := levels[severity]
		index[id] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id, Short: sarifText{title}, Default: sarifLevel{level[0]},
			Properties: map[string]any{"security-severity": level[1], "tags": []string{"security", class}}})
	}
	for _, r := range set.Rules() {
		add(r.ID, r.Title, r.Class, r.Severity)
	}
	add(rule.Unread, "a file was not read", "opaque", scan.Medium)
	for i := range skills {
		s := &skills[i]
		for j := range s.Report.Findings {
			f := &s.Report.Findings[j]
			if _, known := index[f.Rule]; !known {
				add(f.Rule, f.Rule, f.Class, f.Severity)
			}
			result := sarifOf(s, f, index[f.Rule])
			run.Results = append(run.Results, result)
			if f.Rule == rule.Unread && f.Accepted == "" { // the scan is not whole
				run.Invocations[0].Successful = false
				run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{"warning", result.Message, result.Locations})
			}
		}
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func sarifOf(s *Skill, f *scan.Finding, index int) sarifResult {
	level := levels[f.Severity]
	at := sarifPhysical{Artifact: sarifArtifact{s.address(f.Place)}}
	if f.Place.Line > 0 && len(f.Place.Inside) == 0 {
		at.Region = &sarifRegion{f.Place.Line}
	}
	properties := map[string]any{"severity": f.Severity, "security-severity": level[1], "skill": s.Name, "digest": f.Digest}
	if f.Role != "" {
		properties["role"] = f.Role
	}
	out := sarifResult{RuleID: f.Rule, RuleIndex: index, Level: level[0], Message: sarifText{f.Message}, Locations: []sarifLocation{{at}},
		Fingerprints: map[string]string{"agentSkillScan/v1": f.Fingerprint}, Properties: properties}
	if f.Accepted != "" {
		out.Suppressions = []sarifSuppression{{"external", "accepted", f.Accepted}}
	}
	return out
}
