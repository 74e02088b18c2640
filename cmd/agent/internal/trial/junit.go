package trial

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitOutcome `xml:"failure"`
	Skipped *junitOutcome `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes a report as JUnit XML: one suite for each group. A warning is a case that passed and has the warning as its
// output, because the format has none.
func JUnit(w io.Writer, r *Report) error {
	out := junitSuites{Name: r.Skill, Tests: len(r.Cases), Failures: r.Count(Failed), Skipped: r.Count(Skipped)}
	for _, g := range Groups() {
		suite := junitSuite{Name: r.Skill + "." + string(g)}
		var sum time.Duration
		for _, c := range r.Cases {
			if c.Group != g {
				continue
			}
			sum += c.Duration
			suite.Tests++
			suite.add(r.Skill, &c)
		}
		if suite.Tests > 0 {
			suite.Time = seconds(sum)
			out.Suites = append(out.Suites, suite)
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(&out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(skill string, c *Case) {
	one := junitCase{Class: skill + "." + string(c.Group), Name: c.Name, File: c.File, Line: c.Line, Time: seconds(c.Duration)}
	switch c.Status {
	case Failed:
		s.Failures++
		one.Failure = &junitOutcome{Message: c.Message, Text: c.Cure}
	case Skipped:
		s.Skipped++
		one.Skipped = &junitOutcome{Message: c.Message}
	case Warned:
		one.Output = "warning: " + c.Message
	default:
		one.Output = c.Message
	}
	s.Cases = append(s.Cases, one)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
