// Package disclose renders a catalogue for a model in steps: that there are skills, which ones, the instructions of one,
// and its files.
//
//   - [Catalog] renders the list of skills in one of nine styles, within a token budget, and reports what it cut.
//   - [NewIndex] makes an [Index] that finds skills for a query: [Index.Match] by triggers, [Index.Search] by words;
//     [Index.Choose] decides how much a turn shows.
//   - [Instructions] renders the body of one skill with its arguments filled in.
//   - [NewPlan] combines these for one conversation: a fixed prefix, and a text for each turn.
//   - [Prompt] renders paragraphs on how to work with skills, [Carry] the active skills for a conversation that is
//     shortened.
//   - [Tokens] estimates what a text costs.
//
// The same catalogue gives the same bytes, which keeps prompt caches valid. Every string of a skill is foreign text: it is
// escaped, its white space is collapsed where it must stay on one line, and no body can close the frame around it. The
// package runs nothing, and reads files only in Index.Choose, Instructions and Carry.
//
// All types are immutable after creation and safe for concurrent use.
package disclose
