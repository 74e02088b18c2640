// Package disclose renders a catalogue for a model in steps: that there are skills, which ones, the instructions of one,
// and its files.
//
//   - [Catalog] renders the list of skills in one of nine styles, within a token budget, and reports what it cut.
//   - [NewIndex] makes an [Index] that finds skills for a query: [Index.Match] by triggers, [Index.Search] by words,
//     [Index.About] for a request that may be about none; [Index.Choose] decides how much a turn shows. [Indexes] shares it
//     among conversations.
//   - [Instructions] renders the body of one skill with its arguments filled in.
//   - [NewPlan] combines these for one conversation: a fixed prefix, and a text for each turn.
//   - [renderBlocks] renders paragraphs on how to work with skills, [Carry] the active skills for a conversation that is
//     shortened.
//   - [Tokens] estimates what a text costs.
//
// # Ranking
//
// Search, About, the lists that are made for a query and the skills that a turn describes share one ranking. Its index is
// made by the first query and kept with the Index: about 800 bytes for each skill. It reads the names (which count three
// times), tags and trigger words (twice), descriptions and when_to_use, at most 4 KiB of each:
//
//   - Words are runs of letters and digits in lower case. Words of any request, such as "please", are left out, endings of
//     English words are cut, and "GitHubAPI" is also "git", "hub" and "api". Chinese, Japanese and Korean, and other scripts
//     without spaces, are read in pairs of characters.
//   - What follows "do not use for" and its like does not count, nor does a sentence that sends the reader to another skill
//     of the catalogue ("For paid ads, see ads.").
//   - A skill's score is BM25 with k1 = 1.6 and b = 0.75. Words of a request count half, unless they are in its first
//     sentence or in a question; so does a long quotation.
//   - Among the twenty best, a skill scores more for two words of the request that stand together in its texts.
//   - Equal scores are ordered by name.
//
// Without a query, a list that is cut keeps skills by priority, recent use, precedence of their layer, and name.
//
// # Text
//
// The same catalogue gives the same bytes, which keeps prompt caches valid. Every string of a skill is foreign text: it is
// escaped, its white space is collapsed where it must stay on one line, and no body can close the frame around it. The
// package runs nothing, and reads files only in Index.Choose, Instructions and Carry.
//
// All types are immutable after creation and safe for concurrent use.
package disclose
