// Serves the JavaScript and TypeScript toolsets of one skill to the engine, as an MCP server on standard input and output.
//
//     node main.mjs --skill DIR ENTRY...        also: bun run main.mjs, deno run -A main.mjs
//
// An ENTRY is "path:Export", such as toolsets/index:HelloToolset for the export HelloToolset of DIR/toolsets/index.ts. TypeScript
// needs node 22.18 or newer, bun or deno; JavaScript runs with node 20 too. Nothing has to be installed.

import { realpathSync } from 'node:fs';

import { Toolsets } from './load.mjs';
import { provide } from './modules.mjs';
import { Server } from './serve.mjs';
import { take } from './streams.mjs';

if (!globalThis.Bun && !globalThis.Deno && Number(process.versions.node.split('.')[0]) < 20) {
  console.error(`toolsets need node 20 or newer, bun or deno; ${process.execPath} is node ${process.versions.node}`);
  process.exit(1);
}

const options = { skill: '', maxResult: 1 << 20, entries: [] };
const args = process.argv.slice(2);
while (args.length > 0) {
  const arg = args.shift();
  if (arg === '--skill') options.skill = realpathSync(args.shift());
  else if (arg === '--max-result') options.maxResult = Number(args.shift());
  else if (arg === '--') options.entries.push(...args.splice(0));
  else options.entries.push(arg);
}
if (!options.skill || options.entries.length === 0) {
  console.error('usage: main.mjs --skill DIR ENTRY...');
  process.exit(2);
}

const wire = await take();
const toolsets = new Toolsets(options.skill);
const server = new Server(wire, toolsets, options); // from here on nothing of the skill ends the process
await provide(options.skill);
await toolsets.load(options.entries);
await server.serve();
