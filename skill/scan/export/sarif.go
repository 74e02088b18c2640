package export

import (
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// object is a part of a document, by the names of its specification. Lists that must be there are never nil.
type object = map[string]any

// levels are SARIF's words for severities, and the numbers by which forges sort findings of security.
var levels = map[scan.Severity][2]string{
	scan.Low: {"note", "3.0"}, scan.Medium: {"warning", "5.5"}, scan.High: {"error", "8.0"}, scan.Critical: {"error", "9.5"},
}

// SARIF returns the findings of skills as a SARIF log, for encoding/json.
func SARIF(tool Tool, set *rule.Set, skills []Skill) any {
	rules, results, unread := []object{}, []object{}, []object{}
	index := map[string]int{}
	add := func(id, title, class string, severity scan.Severity) {
		level := levels[severity]
		index[id] = len(rules)
		rules = append(rules, object{"id": id, "shortDescription": object{"text": title}, "defaultConfiguration": object{"level": level[0]},
			"properties": object{"security-severity": level[1], "tags": []string{"security", class}}})
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
			results = append(results, result)
			if f.Rule == rule.Unread && f.Accepted == "" { // the scan is not whole
				unread = append(unread, object{"level": "warning", "message": result["message"], "locations": result["locations"]})
			}
		}
	}
	driver := object{"name": tool.Name, "rules": rules}
	for key, text := range map[string]string{"version": tool.Version, "informationUri": tool.Address} {
		if text != "" {
			driver[key] = text
		}
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{{
		"tool": object{"driver": driver}, "results": results, "columnKind": "unicodeCodePoints",
		"invocations": []object{{"executionSuccessful": len(unread) == 0, "toolExecutionNotifications": unread}}}}}
}

func sarifOf(s *Skill, f *scan.Finding, index int) object {
	level := levels[f.Severity]
	at := object{"artifactLocation": object{"uri": s.address(f.Place)}}
	if f.Place.Line > 0 && len(f.Place.Inside) == 0 {
		at["region"] = object{"startLine": f.Place.Line}
	}
	properties := object{"severity": f.Severity, "security-severity": level[1], "skill": s.Name, "digest": f.Digest}
	if f.Role != "" {
		properties["role"] = f.Role
	}
	out := object{"ruleId": f.Rule, "ruleIndex": index, "level": level[0], "message": object{"text": f.Message}, "locations": []object{{"physicalLocation": at}},
		"partialFingerprints": object{"agentSkillScan/v1": f.Fingerprint}, "properties": properties}
	if f.Accepted != "" {
		out["suppressions"] = []object{{"kind": "external", "status": "accepted", "justification": f.Accepted}}
	}
	return out
}
