// A server of the SDK for TypeScript: over stdio, or over HTTP with its address on standard output: node server.mjs [http].
import { createServer } from 'node:http'
import { createMcpHandler, inputRequired, acceptedContent, McpServer, completable } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { z } from 'zod'

const skills = await SkillsExtension.load(memorySkillFiles({ 'tea/SKILL.md': '---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n' }))

function build() {
	const s = new McpServer({ name: 'typescript', version: '1' }, { instructions: 'Be kind.' })
	const text = (t) => ({ content: [{ type: 'text', text: t }] })
	s.registerTool('greet', { description: 'Greets', inputSchema: z.object({ name: z.string() }), annotations: { readOnlyHint: true } }, async ({ name }) => text(`hello ${name}`))
	s.registerTool('fail', { description: 'Fails', inputSchema: z.object({}) }, async () => ({ ...text('no tea today'), isError: true }))
	s.registerTool('slow', { description: 'Tells how far it is', inputSchema: z.object({}) }, async (_, ctx) => {
		const token = ctx.mcpReq._meta?.progressToken
		if (token !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress: 1, total: 2, message: 'half' } })
		await new Promise((r) => setTimeout(r, 300))
		return text('done')
	})
	s.registerTool('ask', { description: 'Asks', inputSchema: z.object({}) }, async (_, ctx) => {
		const got = acceptedContent(ctx.mcpReq.inputResponses, 'who', z.object({ name: z.string() }))
		if (!got) return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: z.object({ name: z.string() }) }) } })
		return text(`you are ${got.name}`)
	})
	s.registerTool('more', { description: 'Adds a tool', inputSchema: z.object({}) }, async () => {
		s.registerTool('late', { description: 'Came late', inputSchema: z.object({}) }, async () => text('late'))
		return text('added')
	})
	s.registerPrompt('hello', { description: 'Begins', argsSchema: z.object({ who: completable(z.string(), () => ['Ada', 'Adam']) }) }, ({ who }) => ({
		messages: [{ role: 'user', content: { type: 'text', text: `Say hello to ${who}` } }],
	}))
	s.registerResource('note', 'demo://note', { mimeType: 'text/plain' }, async (uri) => ({ contents: [{ uri: uri.href, text: 'a note' }] }))
	skills.attach(s)
	return s
}

if (process.argv[2] !== 'http') {
	serveStdio(build)
} else {
	const handler = createMcpHandler(build)
	const server = createServer(async (req, res) => {
		const chunks = []
		for await (const c of req) chunks.push(c)
		const gone = new AbortController()
		res.on('close', () => gone.abort())
		const headers = new Headers(Object.entries(req.headers).map(([k, v]) => [k, String(v)]))
		const body = req.method === 'GET' || req.method === 'HEAD' ? undefined : Buffer.concat(chunks)
		const answer = await handler.fetch(new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers, body, signal: gone.signal }))
		res.writeHead(answer.status, Object.fromEntries(answer.headers))
		res.flushHeaders()
		try {
			if (answer.body) for await (const c of answer.body) res.write(c)
		} catch {}
		res.end()
	})
	server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))
}
