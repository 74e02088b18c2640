// Package chat is the conversation with an agent in a terminal: the face of `agent` without arguments.
//
// Everything that has to do with models and skills is handed in: a function that answers a prompt step by step, the
// commands, and what the status line tells. The package refuses to decide anything: it asks no model, runs no tool and
// knows no skill, and a question to the user ([Prompter]) that nobody can answer is answered with no.
//
// It has two faces over one core. In a terminal, finished text goes into the normal scrollback, and only the row that is
// being written, the input and a status line are redrawn. Without one, each line of the input is a prompt and the
// answers come out as plain lines, without an escape sequence. Every string that comes from elsewhere, the model's
// answers first of all, is shown through cmd/agent/internal/ui's sanitiser: security 2.14 #184.
//
// Run is called by one goroutine; the functions of its options are called from others, as their comments say. The core
// itself (state) belongs to one goroutine, knows no terminal, reads no clock and is what the tests drive.
package chat
