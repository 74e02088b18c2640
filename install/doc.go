// Package install adds skills from other places, and updates, verifies and removes them.
//
// A Fetcher turns a reference (package source) into files; an Installer copies the chosen skills into its store and records
// them in the registry (package registry). Installing executes nothing of a skill.
package install
