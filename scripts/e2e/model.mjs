// A model for agents of other people: it makes the calls that it was given, one after another, and then says the result of the last one. It
// speaks what agents speak with the vendors: Messages, Responses, Chat Completions and Gemini.
// usage: node model.mjs PREFIX LOG CALLS
//   PREFIX  what the agent writes before the name of a tool of the server
//   LOG     the file that gets every request
//   CALLS   [{"tool": NAME, "args": {…}}, …]
// It prints its port. Requests that show no such tool, as those for a title, are answered with a word.
import fs from 'node:fs';
import http from 'node:http';

const [prefix, log, calls] = process.argv.slice(2);
const steps = JSON.parse(calls);

// next returns the call that comes after so many results, as the agent names it; undefined at the end, or where it has no such tool.
function next(done, names) {
	const step = steps[done];
	if (!step) return undefined;
	const name = prefix + step.tool;
	if (names.includes(name)) return {name, args: step.args};
	// Qwen Code shows the tools of servers on demand, and has one that calls them.
	if (names.includes('tool_call')) return {name: 'tool_call', args: {name, arguments: step.args}};
	return undefined;
}

const said = result => result === undefined ? 'hello' : 'The tool said: ' + (typeof result === 'string' ? result : JSON.stringify(result));
const parts = message => Array.isArray(message.content) ? message.content : [];

// wires has a function for each path: it returns the whole answer and the events of a stream.
const wires = {
	messages(q) {
		const results = q.messages.flatMap(parts).filter(p => p.type === 'tool_result');
		const call = next(results.length, (q.tools ?? []).map(t => t.name));
		const block = call ? {type: 'tool_use', id: `toolu_${results.length}`, name: call.name, input: call.args} : {type: 'text', text: said(results.at(-1)?.content)};
		const stop = {stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null};
		const message = {id: 'msg_1', type: 'message', role: 'assistant', model: q.model, content: [], stop_reason: null, stop_sequence: null, usage: {input_tokens: 1, output_tokens: 1}};
		return [{...message, content: [block], ...stop}, [
			{type: 'message_start', message},
			{type: 'content_block_start', index: 0, content_block: call ? {...block, input: {}} : {type: 'text', text: ''}},
			{type: 'content_block_delta', index: 0, delta: call ? {type: 'input_json_delta', partial_json: JSON.stringify(call.args)} : {type: 'text_delta', text: block.text}},
			{type: 'content_block_stop', index: 0},
			{type: 'message_delta', delta: stop, usage: {output_tokens: 1}},
			{type: 'message_stop'},
		]];
	},
	responses(q) {
		const results = [q.input].flat().filter(i => i?.type === 'function_call_output');
		// Codex puts the tools of a server into a space of their own.
		const tools = (q.tools ?? []).flatMap(t => t.type === 'namespace' ? t.tools.map(u => ({name: u.name, namespace: t.name})) : [{name: t.name}]);
		const call = next(results.length, tools.map(t => t.name));
		const item = call
			? {type: 'function_call', id: `fc_${results.length}`, call_id: `call_${results.length}`, status: 'completed', arguments: JSON.stringify(call.args), ...tools.find(t => t.name === call.name)}
			: {type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{type: 'output_text', text: said(results.at(-1)?.output), annotations: []}]};
		const usage = {input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: {cached_tokens: 0}, output_tokens_details: {reasoning_tokens: 0}};
		const response = {id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: q.model, output: [item], usage};
		const events = [
			{type: 'response.created', response: {...response, status: 'in_progress', output: []}},
			{type: 'response.output_item.added', output_index: 0, item: {...item, status: 'in_progress', ...(call ? {arguments: ''} : {content: []})}},
			call ? {type: 'response.function_call_arguments.done', item_id: item.id, output_index: 0, arguments: item.arguments}
				: {type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: item.content[0].text},
			{type: 'response.output_item.done', output_index: 0, item},
			{type: 'response.completed', response},
		];
		return [response, events.map((e, i) => ({...e, sequence_number: i}))];
	},
	completions(q) {
		const results = q.messages.filter(m => m.role === 'tool');
		const call = next(results.length, (q.tools ?? []).map(t => t.function.name));
		const message = call
			? {role: 'assistant', content: null, tool_calls: [{index: 0, id: `call_${results.length}`, type: 'function', function: {name: call.name, arguments: JSON.stringify(call.args)}}]}
			: {role: 'assistant', content: said(results.at(-1)?.content)};
		const answer = {id: 'chat_1', object: 'chat.completion', created: 1, model: q.model};
		const usage = {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}, finish_reason = call ? 'tool_calls' : 'stop';
		const chunk = {...answer, object: 'chat.completion.chunk'};
		return [{...answer, choices: [{index: 0, message, finish_reason}], usage}, [
			{...chunk, choices: [{index: 0, delta: message, finish_reason: null}]},
			{...chunk, choices: [{index: 0, delta: {}, finish_reason}], usage},
			'[DONE]',
		]];
	},
	gemini(q) {
		const results = q.contents.flatMap(c => c.parts).filter(p => p.functionResponse);
		const call = next(results.length, (q.tools ?? []).flatMap(t => t.functionDeclarations ?? []).map(f => f.name));
		const part = call ? {functionCall: {id: `call_${results.length}`, ...call}} : {text: said(results.at(-1)?.functionResponse.response)};
		const answer = {candidates: [{index: 0, finishReason: 'STOP', content: {role: 'model', parts: [part]}}], modelVersion: 'fake', responseId: 'answer_1',
			usageMetadata: {promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2}};
		return [answer, [answer]];
	},
};

// wireOf returns what a path asks for, and whether it wants a stream whatever the request says.
function wireOf(path) {
	const [, method] = /:(generateContent|streamGenerateContent)$/.exec(path) ?? [];
	if (method) return [wires.gemini, method === 'streamGenerateContent'];
	return [wires[/\/(messages|responses|completions)$/.exec(path)?.[1]], false];
}

function answer(req, res, body) {
	const path = req.url.split('?')[0], [wire, stream] = wireOf(path);
	const q = body ? JSON.parse(body) : {};
	fs.appendFileSync(log, JSON.stringify({path, q}) + '\n');
	const json = value => res.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(value));
	if (!wire) return json(path.endsWith('/models') ? {object: 'list', data: [{id: 'fake', object: 'model'}]} : {input_tokens: 1, totalTokens: 1});
	const [whole, events] = wire(q);
	if (!stream && !q.stream) return json(whole);
	res.writeHead(200, {'content-type': 'text/event-stream'});
	for (const e of events) res.write((wire === wires.messages || wire === wires.responses ? `event: ${e.type}\n` : '') + `data: ${typeof e === 'string' ? e : JSON.stringify(e)}\n\n`);
	res.end();
}

http.createServer((req, res) => {
	let body = '';
	req.setEncoding('utf8').on('data', d => { body += d; }).on('end', () => answer(req, res, body));
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
