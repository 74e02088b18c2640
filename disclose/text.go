package disclose

// Text is a text for a model and its cost.
type Text struct {
	Body     string   // without a newline at the end
	Tokens   int      // estimate for Body
	Skills   []Cost   // cost of each skill in Body, in the order of the text
	Cut      []Cut    // skills that were shortened or left out, by name
	Warnings []string // for the user, see Instructions
}

// Cost is the share of one skill in a text.
type Cost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // estimate for its lines, markup included
}

// Cut reports what a limit did to one skill.
type Cut struct {
	Name string `json:"name"`
	What string `json:"what"` // Shortened, NameOnly, Truncated or LeftOut
}

// The values of Cut.What, mildest first.
const (
	Shortened = "description shortened"
	NameOnly  = "name only"
	Truncated = "instructions cut" // by Carry
	LeftOut   = "left out"
)
