package runner

import "fmt"

// Signals that end a process that passed a limit, as Output.Signal has them.
const (
	OutOfCPU     = "CPU time limit exceeded"
	FileTooLarge = "file size limit exceeded"
)

// Passed says which limit of a command the process passed, such as "it wrote a file of more than 1024 bytes"; "" for none.
func (o *Output) Passed(l *Limits) string {
	switch {
	case o.Filled:
		return fmt.Sprintf("its home and the other folders of its own hold more than %d bytes or %d files together", l.Disk, l.Files)
	case o.Outgrown:
		return fmt.Sprintf("it was ended: it and its processes took more than %d bytes of memory", l.Memory)
	case o.Crowded:
		return fmt.Sprintf("it had all of the %d processes that it may have, and asked for more", l.Processes)
	case o.Signal == OutOfCPU:
		return fmt.Sprintf("it used more than %gs of processor time", l.CPU.Seconds())
	case o.Signal == FileTooLarge:
		return fmt.Sprintf("it wrote a file of more than %d bytes", l.FileSize)
	}
	return ""
}
