//go:build !linux

package cli_test

import "github.com/rogpeppe/go-internal/testscript"

// The scripts that need a terminal begin with "[!linux] skip".
func poor() {}

func ontty(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no terminal to ask on here") }

func ctrlc(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no terminal to ask on here") }

func ahead(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no terminal to ask on here") }
