// Package app holds what the commands of `agent` share: one small type for each service, made by New and handed to a
// command's options.
//
//   - Library opens the catalogue of skills.
//   - Consent says what an approval is about, and asks for it.
//   - TerminalApprover asks the person. Nothing else asks questions.
//   - Models finds a model.
//
// The package refuses to guess: without a terminal it asks nothing and approves nothing.
package app
