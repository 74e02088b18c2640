// An MCP server that publishes the skills of a folder, made with the TypeScript SDK.
// usage: node served.mjs DIR; the SDK is found below the folder E2E
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const sdk = createRequire(process.env.E2E + '/');
const load = name => import(pathToFileURL(sdk.resolve('@modelcontextprotocol/server' + name)));
const {McpServer} = await load('');
const {serveStdio} = await load('/stdio');
const {loadSkills} = await load('/ext/skills/node');

const skills = await loadSkills(process.argv[2]);
serveStdio(() => {
	const server = new McpServer({name: 'served', version: '1'});
	skills.attach(server);
	return server;
});
