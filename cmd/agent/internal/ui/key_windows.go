package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

func dropTyped(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }

func oneKey(f *os.File) (back func(), ok bool) {
	console := windows.Handle(f.Fd())
	var was uint32
	if windows.GetConsoleMode(console, &was) != nil {
		return nil, false
	}
	if windows.SetConsoleMode(console, was&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT)) != nil {
		return nil, false
	}
	return func() { _ = windows.SetConsoleMode(console, was) }, true
}
