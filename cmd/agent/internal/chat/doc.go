// Package chat is the conversation with an agent in a terminal, which `agent` without arguments starts.
//
// [Run] reads prompts and commands, shows answers and calls, and asks the questions of tools. The caller hands in
// everything about models and skills: a function that answers a prompt step by step, the commands, and the content of
// the status line. The package decides nothing: it asks no model, runs no tool and knows no skill.
//
// There are two forms. In a terminal, finished text goes to the normal scrollback, and only the row that is being
// written, the input and a status line are redrawn. Elsewhere each line of the input is a prompt, and answers are plain
// lines without escape sequences. All foreign text, such as the model's answers, passes the sanitiser of package ui.
//
// A question of a tool ([Prompter]) is redrawn as well. While it waits it is the last thing on the screen, whole, and
// whatever the model sends is printed above it. A question that does not fit is shown in pages, and a yes counts only
// after the last one. Each row of a question begins with a character that foreign text cannot contain. Where nobody can
// be asked, the answer is no.
//
// Run is called by one goroutine. It calls the functions of its options from others, as their comments say. The core
// (state) belongs to one goroutine, knows no terminal and reads no clock; most tests drive it directly.
package chat
