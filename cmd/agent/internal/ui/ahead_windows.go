package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

func dropTyped(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
