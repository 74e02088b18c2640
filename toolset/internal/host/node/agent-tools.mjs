// The module "@agent/tools" that toolsets import.
//
//     import { z } from 'zod';
//     import { Tool } from '@agent/tools';
//
//     export const greet = Tool.define('greet', {
//       description: 'Greet somebody.',
//       parameters: z.object({ name: z.string() }),
//       execute: async ({ name }, ctx) => ({ title: 'Greeted', metadata: {}, output: `Hello, ${name}!` }),
//     });
//     export const Greetings = [greet];
//
// execute gets the checked arguments, and ctx: signal (an AbortSignal), config (skillName, skillDir, workspace, workDir, cacheDir)
// and log(...). What it returns is the result: text, or anything that JSON can carry.

// Tool.define names a tool. The definition may also be a function that returns it, or a promise of it.
export const Tool = {
  define(name, definition) {
    return typeof definition === 'function' ? { name, init: definition } : { ...definition, name };
  },
};

// tool returns a definition that has its name in it.
export function tool(definition) {
  return definition;
}

export default { Tool, tool };
