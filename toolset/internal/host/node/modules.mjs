// Gives toolsets the modules "@agent/tools" and, if the skill has no zod of its own, "zod".

import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { OURS, resolveSync } from './hooks.mjs';
import { describe } from './trace.mjs';

let skill = '';

// provide makes the host's modules known to the runtime.
export async function provide(root) {
  skill = root;
  if (globalThis.Bun) {
    await plugIn(root);
  } else if (globalThis.Deno) { // deno.json does this for import
    patchRequire();
  } else if (module.registerHooks) {
    module.registerHooks({ resolve: resolveSync });
  } else { // node before 22.15
    module.register('./hooks.mjs', import.meta.url);
    patchRequire();
  }
}

// plugIn registers the modules with bun. It asks no plugin about a package that it finds, so whether the skill has one is looked up.
async function plugIn(root) {
  for (const [name, file] of Object.entries(OURS)) {
    if (name !== '@agent/tools' && hasPackage(root, name.split('/')[0])) continue;
    const exports = await import(file);
    globalThis.Bun.plugin({
      name: `agent-base ${name}`,
      setup: (build) => build.module(name, () => ({ exports, loader: 'object' })),
    });
  }
}

function hasPackage(folder, name) {
  for (; ; folder = dirname(folder)) {
    for (const place of [folder, join(folder, 'toolsets')]) {
      if (existsSync(join(place, 'node_modules', name, 'package.json'))) return true;
    }
    if (dirname(folder) === folder) return false;
  }
}

// patchRequire does for require what the hooks of old versions of node, and deno.json, do for import only.
function patchRequire() {
  const Module = module.Module ?? module.default;
  const original = Module._resolveFilename;
  Module._resolveFilename = function resolve(name, ...rest) {
    if (name === '@agent/tools') return new URL(OURS[name]).pathname;
    try {
      return original.call(this, name, ...rest);
    } catch (error) {
      if (OURS[name]) return new URL(OURS[name]).pathname;
      throw error;
    }
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
