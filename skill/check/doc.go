// Package check validates a skill's folder: its manifest, and whether its files agree with it. It runs nothing.
package check
