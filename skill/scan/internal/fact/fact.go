// Package fact has the types of what a skill does, as package scan finds it.
package fact

// Kind is what is done.
type Kind string

// The kinds of facts.
const (
	Reads   Kind = "reads"   // a file, a variable, a store
	Writes  Kind = "writes"  // a file
	Sends   Kind = "sends"   // a host is contacted: the values of From go there, and what comes back is a value
	Listens Kind = "listens" // a port is opened
	Runs    Kind = "runs"    // a program is started, or code is executed
	Decodes Kind = "decodes" // a text becomes another: base64, hex, gzip, xor
	Imports Kind = "imports" // a module is loaded
	Needs   Kind = "needs"   // a package is installed or declared
	Tells   Kind = "tells"   // a text is said to the model
	Holds   Kind = "holds"   // a file has something in it: a secret, invisible text, bytes that nothing here can read
)

// Object is what a fact is about.
type Object string

// The objects.
const (
	File     Object = "file"     // Name is a path as written, with ~ and variables: "~/.ssh/id_rsa"
	Store    Object = "store"    // Name is what is no file: "input", "clipboard", "screen", "keyboard", "key store", "browser cookies"
	Variable Object = "variable" // Name is its name, "*" for all
	Host     Object = "host"     // Name is a host name or an address, without scheme and port; Detail is the whole address
	Port     Object = "port"
	Program  Object = "program"  // Name is the name that is called, without its folder; Detail is the command
	Code     Object = "code"     // Detail is its beginning
	Module   Object = "module"   // Name is the module as written, Detail what of it is imported if that is not all
	Package  Object = "package"  // Name is the package, Detail its registry and version: "pypi requests==2.32"
	Secret   Object = "secret"   // Name is its kind: "an AWS access key"
	Hidden   Object = "hidden"   // Name is its kind: "tag characters"
	Opaque   Object = "opaque"   // Name says what cannot be read: "Python byte code"
	Saying   Object = "saying"   // Name is the kind of phrase: "conceal", "override", "judge"
	Encoding Object = "encoding" // Name is "base64", Detail the beginning of the text that it hides, if that is known

	// Lookalike is a package whose name is nearly that of a popular one, which is Name; Detail has both names.
	Lookalike Object = "lookalike"
)

// Role is what the text around a fact is for.
type Role string

// The roles. A file that can be run has no role.
const (
	Instruction Role = ""         // the model is to follow it, or a program does it
	Example     Role = "example"  // an example of what something looks like
	Against     Role = "against"  // an example of what not to do, or an attack that is quoted
	TestData    Role = "test"     // in a folder of tests or fixtures
	Legal       Role = "licence"  // a licence or a notice
	Reference   Role = "document" // a document that no instruction names
)

// Place is where a fact stands.
type Place struct {
	File   string   `json:"file"`             // slash path below the skill
	Inside []string `json:"inside,omitempty"` // the members of archives on the way to it
	Line   int      `json:"line,omitempty"`   // from 1; 0 for the whole file
	Block  string   `json:"block,omitempty"`  // the language of the fenced code, "command" of an inline one, "string" of code in a text
}

// Fact is one thing that a skill does, or that is in it.
type Fact struct {
	Kind   Kind   `json:"kind"`
	Object Object `json:"object"`
	Name   string `json:"name,omitempty"`   // "" if it is only known when it runs
	Detail string `json:"detail,omitempty"` // at most 200 bytes
	Place  Place  `json:"place"`
	Role   Role   `json:"role,omitempty"`
	From   []int  `json:"from,omitempty"`  // positions in Report.Facts of what its value is made from
	Maybe  bool   `json:"maybe,omitempty"` // a guess: the value may reach it, or the name may be another's
}
