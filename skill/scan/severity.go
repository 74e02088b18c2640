package scan

import "slices"

// Severities returns the severities from the mildest.
func Severities() []Severity { return []Severity{Low, Medium, High, Critical} }

// AtLeast reports whether a severity is another one or worse. One that is none of Severities is milder than all.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

// Worse returns how much worse a severity is than another one: a number of steps, below 0 if it is milder.
func (s Severity) Worse(other Severity) int { return s.rank() - other.rank() }

// Milder returns the severity that is a step milder; Low stays.
func (s Severity) Milder() Severity { return Severities()[max(0, s.rank()-1)] }

func (s Severity) rank() int { return slices.Index(Severities(), s) }
