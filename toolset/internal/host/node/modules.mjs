// Gives toolsets the module "@agent/tools".

import * as module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { resolveSync, TOOLS, TOOLS_URL } from './hooks.mjs';
import { describe } from './trace.mjs';

let skill = '';

// provide makes the host's module known to the runtime.
export async function provide(root) {
  skill = root;
  if (globalThis.Bun) {
    await plugIn();
  } else if (globalThis.Deno) { // deno.json does this for import
    patchRequire();
  } else if (module.registerHooks) {
    module.registerHooks({ resolve: resolveSync });
  } else { // node before 22.15
    module.register('./hooks.mjs', import.meta.url);
    patchRequire();
  }
}

// plugIn registers the module with bun.
async function plugIn() {
  const exports = await import(TOOLS_URL);
  globalThis.Bun.plugin({
    name: `agent-base ${TOOLS}`,
    setup: (build) => build.module(TOOLS, () => ({ exports, loader: 'object' })),
  });
}

// patchRequire does for require what the hooks of old versions of node, and deno.json, do for import only.
function patchRequire() {
  const Module = module.Module ?? module.default;
  const original = Module._resolveFilename;
  Module._resolveFilename = function resolve(name, ...rest) {
    return name === TOOLS ? new URL(TOOLS_URL).pathname : original.call(this, name, ...rest);
  };
}

// skillModule loads a package as the skill's own code would.
export async function skillModule(name) {
  const require = module.createRequire(join(skill, 'toolsets', 'index.js'));
  return import(pathToFileURL(require.resolve(name)).href);
}

// loadsTypeScript reports whether this runtime loads .ts files.
export function loadsTypeScript() {
  return Boolean(globalThis.Bun || globalThis.Deno || process.features.typescript);
}

// explain says why a file could not be imported, and names the package that is missing.
export function explain(error, file) {
  const text = String(error?.message ?? error).replace(/\u001b\[[0-9;]*m/g, '');
  const missing = missingPackage(text);
  if (missing) return { message: `it needs the package ${JSON.stringify(missing)}, which is not installed`, missing };
  if (error?.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return { message: `${file} cannot be imported: ${text}. node only leaves types out; bun and deno run all of TypeScript` };
  }
  if (error?.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[mc]?tsx?/.test(text)) {
    return { message: `${file} imports TypeScript, which ${runtime()} cannot load: ${text}. Install node 22.18 or newer, bun or deno` };
  }
  return { message: `${file} cannot be imported: ${describe(error)}` };
}

function runtime() {
  return globalThis.Bun ? 'bun' : globalThis.Deno ? 'deno' : `node ${process.versions.node}`;
}

// missingPackage is the name of a package in the errors of node, bun and deno, or "".
function missingPackage(text) {
  const found = /Cannot find (?:package|module) ['"]([^'"]+)['"]/.exec(text) ??
    /^Import "([^"]+)" not a dependency/.exec(text) ?? /Could not resolve "(?:npm:)?([^"]+)"/.exec(text);
  const name = found?.[1] ?? '';
  if (name === '' || /^(?:\.|\/|file:|node:|[A-Za-z]:\\)/.test(name)) return '';
  return name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/');
}
