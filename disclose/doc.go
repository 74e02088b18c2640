// Package disclose turns a catalogue into what a model reads, step by step: that there are skills,
// which ones, the instructions of one, its files.
//
//   - [Catalog] renders the list of skills in one of nine styles, within a token budget, and says
//     what had to be cut.
//   - [NewIndex] makes an [Index] that finds skills for a query: [Index.Match] by their triggers,
//     [Index.Search] by words, [Index.Choose] picks how much to tell.
//   - [Instructions] renders the body of one skill with its arguments filled in.
//   - [NewPlan] puts these together for one conversation: a prefix that stays, a text for each turn.
//   - [Prompt] renders the paragraphs that tell a model how to work with skills, [Carry] what of the
//     active ones survives when a conversation is shortened.
//   - [Tokens] estimates what a text costs.
//
// The same catalogue gives the same bytes, so that prompt caches hold. Every string of a skill is
// foreign text: it is escaped, its white space is collapsed where a line must stay a line, and no
// body can close the frame around it. The package runs nothing, and it reads files only in
// Index.Choose and Instructions.
//
// Everything here is immutable after it was made and safe for concurrent use.
package disclose
