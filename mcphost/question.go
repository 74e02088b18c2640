package mcphost

import "encoding/json"

// Modes of a Question.
const (
	modeForm = "form" // the user fills in Fields
	ModeURL  = "url"  // the user does something at URL, in a browser
)

// Question is what a server asks the user. All its texts are the server's: show who asks, and sanitise them.
type Question struct {
	Label   string // of the server
	Mode    string // "form" or ModeURL
	Message string
	Fields  []Field // of a form, in their order
	URL     string  // of ModeURL: https, or http on this machine
	ID      string  // of ModeURL
}

// Field is one value that a form asks for.
type Field struct {
	Name        string
	Title       string // may be empty
	Description string // may be empty
	Type        string // "string", "number", "integer", "boolean", or "array" of strings of Enum
	Enum        []string
	EnumTitles  []string        // as long as Enum, or nil
	Default     json.RawMessage // nil without one
	Required    bool
	Format      string // of a string: "email", "uri", "date", "date-time" or ""
}

// Actions of an Answer.
const (
	ActionAccept  = "accept"
	ActionDecline = "decline" // the user says no
	ActionCancel  = "cancel"  // the user says nothing
)

// Answer is what the user answers.
type Answer struct {
	Action  string
	Content map[string]any // of a form that is accepted, by Field.Name
}
