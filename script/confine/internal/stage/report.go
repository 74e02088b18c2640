package stage

// The commands to a stage, one byte each.
const (
	Terminate = 'T' // sends the command's process group SIGTERM
	Kill      = 'K' // ends everything
)

// Kind says what a Report is about.
type Kind byte

// The kinds of reports.
const (
	SetupFailed    Kind = 'S' // operation N of Program.Setup failed with the error number V; nothing was started
	RestrictFailed Kind = 'R' // operation N of Program.Restrict failed
	StartFailed    Kind = 'P' // the command could not be started: error V
	Listening      Kind = 'L' // the message has the listener of the operation Listen
	LeftOut        Kind = 'O' // operation N was left out because of the error number V; those of Program.Restrict count after those of Program.Setup
	Started        Kind = 'C' // the command runs
	Ended          Kind = 'E' // the command has ended with the wait status V
	OverMemory     Kind = 'M' // the command was ended because it has more than Program.Memory
)

// ReportSize is the size of an encoded Report.
const ReportSize = 9

// Report is a message from a stage.
type Report struct {
	Kind Kind
	N, V uint32
}

// DecodeReport reads a report of ReportSize bytes.
func DecodeReport(b []byte) Report {
	return Report{Kind: Kind(b[0]), N: word(b[1:]), V: word(b[5:])}
}

func (r Report) encode() []byte {
	b := make([]byte, 0, ReportSize)
	return appendWord(appendWord(append(b, byte(r.Kind)), r.N), r.V)
}
