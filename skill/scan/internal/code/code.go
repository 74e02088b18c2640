// Package code is a program as the grammars of a scan give it: statements over values, with as much of it as the flow of texts needs.
// It has no types, no conditions and no loops: what stands in a branch or a loop stands in the list of statements, in the order of the
// source, and both branches are taken.
//
// Each grammar of skill/scan reads a language into a Program, and skill/scan/internal/flow reads what a Program does. The Python
// grammar writes a Program as JSON, with the names below.
//
// A value that is taken apart, as in a, b = f(), is first Set to a name of the grammar's own that begins with #. One element of a value,
// as in a loop, is an Index at Other without Args. What changes a part of a value is a Set of the whole to Other "[]=" of the value as
// it was, the keys and the new part. A slice is an Index at Other ":" of its bounds and its step, a spread is Other "*", and of a
// keyword or a key "**". Do has what calls something, and the texts of a program that no grammar can read.
package code

// Limits of a Program. A grammar that passes one stops there and says so in Partly.
const (
	MaxSource = 4 << 20 // bytes of one file
	MaxNodes  = 400_000 // statements and values of one file
	MaxDepth  = 200     // statements and values inside of each other; what is deeper is Other without Args
)

// Program is one file, or one piece of code in a text.
type Program struct {
	Body   []Statement `json:"body,omitempty"`
	Partly string      `json:"partly,omitempty"` // why not all of it is here, a clause: "line 3 is no Python"
	Broken bool        `json:"broken,omitempty"` // Partly says where it is not of its language; Body has all that is
}

// Op is what a statement does.
type Op string

// The statements.
const (
	Do     Op = "do"     // Value is computed
	Set    Op = "set"    // Name gets Value; also of a for loop, a with statement, a pattern, a default, and += (then Value is a Join with Name)
	Import Op = "import" // Name is Member of Module, or Module itself if Member is ""
	Define Op = "def"    // Name is a function with Params and Body; methods are named Class.method
	Return Op = "return" // of the function around it; also yield
)

// Statement is one step of a program.
type Statement struct {
	Op     Op          `json:"op"`
	Line   int         `json:"line,omitempty"` // from 1, in the file that the program was read from
	Name   string      `json:"name,omitempty"` // dotted as written: "x", "self.key", "process.env.X"
	Value  *Value      `json:"value,omitempty"`
	Module string      `json:"module,omitempty"` // as written: "os.path", "node:fs", "./lib", ".util"
	Member string      `json:"member,omitempty"` // "*" for all
	Params []string    `json:"params,omitempty"` // with the mark of one that takes several: *args, **options, ...rest; then Body begins with a Set of the name without it
	Body   []Statement `json:"body,omitempty"`
}

// Form is the form of a value.
type Form string

// The values.
const (
	Text   Form = "text"   // Text, a literal; bytes as the code points 0 to 255
	Number Form = "number" // Text, in decimal
	Name   Form = "name"   // Text, dotted if only names are in it: "os.environ"
	Member Form = "member" // Text, of Args[0]
	Index  Form = "index"  // Args[0] at Args[1]
	Join   Form = "join"   // the texts of Args one after the other: +, %, a format string, a template, a word of a shell
	Call   Form = "call"   // Func with Args
	List   Form = "list"   // Args, in order; also a tuple or a set
	Map    Form = "map"    // Args by Keys
	Func   Form = "func"   // a function without a name: Params and Body
	Other  Form = "other"  // anything else that is made of Args: an operator (Text), a comparison, both values of a condition
)

// Value is an expression.
//
// In a shell, a command is a Call whose Func is a Name, or what else stands first. Its Input is the command before the pipe, or the text
// of a here document. A redirection is a Call of the Name ">", ">>" or "<" with the file as its argument: `a > f` is a Call of ">" with
// Input a, and `a < f` is a with the Input Call of "<". A variable is a Name without its dollar sign, and `$(a)` is the Call itself.
type Value struct {
	Form   Form        `json:"form"`
	Line   int         `json:"line,omitempty"`
	Text   string      `json:"text,omitempty"`
	Func   *Value      `json:"func,omitempty"`
	Args   []Value     `json:"args,omitempty"`
	Keys   []string    `json:"keys,omitempty"` // of Args: the name of a keyword argument or the key of a map, "" for none; nil if there is no key at all
	Input  *Value      `json:"input,omitempty"`
	Params []string    `json:"params,omitempty"`
	Body   []Statement `json:"body,omitempty"`
}
