// Package trial tests a skill the way its author wants it tested: its manifest and references, the conventions of its scripts,
// the schemas of its toolsets, whether requests bring it up, its own tests, and its evals with a model.
//
// Run makes the report of one skill. A check that cannot be made is Skipped with the reason, and never Passed. JUnit writes a
// report for other programs.
//
// Programs of the skill run only through the hosts and toolsets of Options, after its Admit allowed the content. Everything
// that is read from the skill is bounded. The texts of a report may hold text of the skill, of its programs and of a model: a
// caller that prints them to a terminal has to clean them.
//
// The functions are safe for concurrent use if the options of each call are its own.
package trial
