// Reads every skill of a server with the SkillsClient of the TypeScript SDK, which checks each file against what the server said of it.
// usage: node skills.mjs URL | node skills.mjs COMMAND [ARG...]; the SDK is found below the folder E2E
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const sdk = createRequire(process.env.E2E + '/');
const load = name => import(pathToFileURL(sdk.resolve('@modelcontextprotocol/client' + name)));
const {Client, StreamableHTTPClientTransport} = await load('');
const {StdioClientTransport} = await load('/stdio');
const {SkillsClient} = await load('/ext/skills');

const [target, ...args] = process.argv.slice(2);
const transport = /^http:/.test(target) ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport({command: target, args});
const client = new Client({name: 'skills-client', version: '1'}, {versionNegotiation: {mode: process.env.ERA || 'auto'}});
await client.connect(transport);
const skills = new SkillsClient(client);
const {skills: all} = await skills.list();
for (const one of all) {
	const got = await skills.get(one.uri);
	if (JSON.stringify(got.skill) !== JSON.stringify(one)) throw new Error('skills/get and skills/list differ about ' + one.uri);
	for (const file of one.resources) {
		const read = await skills.read(one, file.uri);
		console.log(read.verified ? 'verified' : 'NOT verified', file.uri, read.bytes.length);
	}
	const folder = await skills.readDirectory(one.uri.replace(/\/SKILL\.md$/, ''));
	console.log('folder', folder.resources.map(r => r.name).join(' '));
}
await client.close();
