package disclose

import "strings"

// stopWords are the words that say nothing about a skill: function words, the words of any request and of any chat, and
// those with which descriptions say when to use a skill. The pairs of characters are their like in Chinese.
const stopWords = "a about all also am an and any are as at be been but by can could d did do does don doesn for from get got had has have " +
	"help how i if in into is isn it its just let lets like ll m me more most my need needs no not of on or our out over please re s should so " +
	"some t than that the their them then there these they this those to too up us use used user users uses using ve want wants " +
	"was we were what when where which who why will with would you your " +
	"ask asks mention mentions say says whenever " +
	"again evening good great hello here hey hi morning much nice now ok okay really thank thanks very yes " +
	"一下 一个 一些 一份 不要 什么 以及 使用 包括 可以 哪些 如何 帮我 当用 怎么 怎样 想要 我们 或者 支持 你们 他们 " +
	"是否 有没 根据 没有 现在 用于 用户 目前 给我 能否 触发 说明 请帮 还有 这个 这些 进行 适用 通过 那个 那些 需要 时使 发词 要不 我想"

// plainVerbs are the verbs of requests about anything. Unlike stop words they count in a search. A skill that is called by one is
// not meant by every request that has it.
const plainVerbs = "add apply build change check clean copy create delete do edit find fix generate go improve install list make move open " +
	"print read remove replace run save search send set show start stop test try update view watch work write"

// stopSet returns the set of stopWords.
func stopSet() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(stopWords) {
		m[w] = true
	}
	return m
}
