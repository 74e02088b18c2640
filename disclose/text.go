package disclose

// Text is a text for a model and what it costs.
type Text struct {
	Body     string   // the text; no newline at its end
	Tokens   int      // estimate for Body
	Skills   []Cost   // what each skill in it costs, in the order of the text
	Cut      []Cut    // what was shortened or left out to keep a limit, by name
	Warnings []string // what a person should know about it, see Instructions
}

// Cost is the share of one skill in a text.
type Cost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // estimate for its lines, markup included
}

// Cut says what a limit did to one skill.
type Cut struct {
	Name string `json:"name"`
	What string `json:"what"` // Shortened, NameOnly, Truncated or LeftOut
}

// What a limit can do to a skill, mildest first.
const (
	Shortened = "description shortened"
	NameOnly  = "name only"
	Truncated = "instructions cut" // by Carry
	LeftOut   = "left out"
)
