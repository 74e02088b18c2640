package failure

import (
	"slices"
	"strconv"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// CodeRow is a code of an error that --json prints, the exit codes that come with it, and what it means.
type CodeRow struct {
	Code  string
	Exits []Exit
	About string
}

// ExitTexts returns the exit codes as text.
func (r *CodeRow) ExitTexts() (out []string) {
	for _, e := range r.Exits {
		out = append(out, strconv.Itoa(int(e)))
	}
	return out
}

// Codes returns the codes of errors in groups, for the reference. A code never changes its meaning.
func Codes() []CodeRow { return slices.Concat(commandCodes(), toolCodes(), modelCodes()) }

func commandCodes() []CodeRow {
	return []CodeRow{
		{"usage", exits(ExitUsage), "the command line or a setting is wrong"},
		{"failed", exits(ExitFailure), "anything that has no code of its own"},
		{"interrupted", exits(ExitInterrupted), "the user ended it"},
		{"conflict", exits(ExitConflict), "something exists already, or was changed by another command"},
		{"locked", exits(ExitConflict), "another command writes the same file, and held its lock for ten seconds"},
		{"invalid_skill", exits(ExitInvalid), "a skill that cannot be used, or does not pass `agent skill validate`"},
		{"skill_changed", exits(ExitDenied), "a skill changed while it was read, so it was not approved"},
		{"not_installed", exits(ExitNotFound), "no installed skill has the name"},
		{"no_previous", exits(ExitNotFound), "no former content is kept, so there is nothing to go back to"},
		{"server", exits(ExitFailure), "an MCP server could not be started, ended, or answered with an error"},
		{"elsewhere", exits(ExitNotFound), "the source no longer has the content that was installed"},
		{"integrity", exits(ExitIntegrity), "content is not what its digest, the lock file or the audit log says"},
		{"signature", exits(ExitIntegrity), "the signature of a skill does not hold"},
		{"registry_damaged", exits(ExitIntegrity), "the list of installed skills cannot be read"},
		{"newer", exits(ExitInvalid), "a newer version of the program wrote a conversation"},
		{"unreadable", exits(ExitInvalid), "the file of a conversation is refused"},
		{"disk_full", exits(ExitFailure), "there is no room on the disk; what was there is still there"},
		{"policy", exits(ExitDenied, ExitInvalid), "the policy of your organisation refuses it; exit code 4 for a policy, or examples for one, that cannot be used"},
		{"audit", exits(ExitFailure), "the audit log cannot be written, and the settings require it"},
	}
}

func toolCodes() []CodeRow {
	return []CodeRow{
		{string(tool.NotFound), exits(ExitNotFound), "no such skill, script, file, source or tool"},
		{string(tool.InvalidName), exits(ExitUsage), "a name or a path that is missing or cannot be one"},
		{string(tool.ArgsTooLarge), exits(ExitUsage), "too many arguments for a script, or too long ones"},
		{string(tool.Timeout), exits(ExitTimeout), "a script, or another step, was out of time"},
		{string(tool.ParseError), exits(ExitFailure), "a script printed something other than JSON"},
		{string(tool.ExecutionFailed), exits(ExitFailure, ExitUsage), "a script failed or could not be started; exit code 2 if its arguments do not fit"},
		{string(tool.PermissionDenied), exits(ExitDenied), "not trusted, not approved or not allowed"},
	}
}

func modelCodes() []CodeRow {
	return []CodeRow{
		{string(llm.NoModel), exits(ExitNotFound, ExitUsage), "no model is set, or the provider has no such model; exit code 2 if it cannot be the name of one"},
		{string(llm.BadKey), exits(ExitDenied), "no key of the provider, or a wrong one"},
		{string(llm.BadRequest), exits(ExitFailure), "the provider rejects the request"},
		{string(llm.TooLong), exits(ExitFailure), "the conversation does not fit the model"},
		{string(llm.RateLimit), exits(ExitFailure), "the provider wants fewer requests"},
		{string(llm.Overloaded), exits(ExitFailure), "the provider fails for now"},
		{string(llm.Network), exits(ExitFailure), "a server, or the provider of the model, could not be reached or was silent"},
		{string(llm.Cut), exits(ExitFailure), "the answer ended in the middle"},
		{string(llm.Malformed), exits(ExitFailure), "the answer is not what the provider documents"},
		{string(llm.TimedOut), exits(ExitTimeout), "the provider was silent for too long"},
		{"empty", exits(ExitFailure), "the model gave no answer"},
		{"length", exits(ExitFailure), "the answer was cut off at the model's limit"},
		{"refused", exits(ExitDenied), "the model declined to answer"},
		{"turns", exits(ExitFailure), "the limit of turns was reached"},
		{"tokens", exits(ExitFailure), "the limit of tokens was reached"},
		{"time", exits(ExitTimeout), "the limit of time was reached"},
		{"replay_stopped", exits(ExitFailure), "a replay does not fit the conversation"},
	}
}

func exits(codes ...Exit) []Exit { return codes }
