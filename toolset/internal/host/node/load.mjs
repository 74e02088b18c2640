// Turns entries such as toolsets/index:HelloToolset into tools. A failure concerns its own entry or tool only.

import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { explain, loadsTypeScript } from './modules.mjs';
import { collect } from './shapes.mjs';
import { Tool } from './tool.mjs';
import { describe, trim } from './trace.mjs';

const TYPESCRIPT = ['.ts', '.mts', '.cts', '.tsx'];
const JAVASCRIPT = ['.js', '.mjs', '.cjs', '.jsx'];
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

// Failure is why a toolset or one of its tools is not there. Its kind is shape (the entry or what it names cannot be used),
// import, package (a missing one), class (a missing export) or tool.
export class Failure extends Error {
  constructor(kind, message, facts = {}) {
    super(message);
    Object.assign(this, { kind, facts });
  }
}

// Toolsets are those of a skill: tools by their names on the wire, and what failed.
export class Toolsets {
  constructor(root) {
    this.root = root;
    this.tools = new Map();
    this.failures = [];
    this.objects = [];
    this.config = config(root);
  }

  async load(entries) {
    for (const entry of entries) {
      try {
        await this.#load(entry);
      } catch (error) {
        this.#fail(entry, error);
      }
    }
  }

  // close calls close() of the toolsets that have one.
  async close() {
    for (const object of this.objects) {
      try {
        await object.close?.();
      } catch (error) {
        console.error(`ending a toolset: ${describe(error)}`);
      }
    }
  }

  #fail(entry, error) {
    const facts = { toolset: entry, kind: error.kind ?? 'shape', message: error.kind ? error.message : describe(error) };
    const trace = trim(error.facts?.cause ?? error, this.root);
    if (error.facts?.package) facts.package = error.facts.package;
    if (trace && (error.facts?.cause || !error.kind)) facts.trace = trace;
    this.failures.push(facts);
  }

  async #load(entry) {
    const { path, name } = split(entry);
    const file = resolve(this.root, path);
    const module = await this.#import(file);
    const value = exported(module, name, file.slice(this.root.length + 1));
    let found;
    try {
      found = await collect(value, this.config);
    } catch (error) {
      throw new Failure('shape', `${name} cannot be used: ${describe(error)}`, { cause: error });
    }
    if (found.object) this.objects.push(found.object);
    for (const definition of found.tools) {
      try {
        await this.#add(entry, name, definition);
      } catch (error) {
        const tool = `${name}.${definition?.name ?? definition?.id ?? '?'}`;
        this.#fail(entry, error.kind ? error : new Failure('tool', `${tool} is left out: ${describe(error)}`, { cause: error }));
      }
    }
  }

  async #import(file) {
    try {
      return await import(pathToFileURL(file).href);
    } catch (error) {
      const { message, missing } = explain(error, file.slice(this.root.length + 1));
      throw new Failure(missing ? 'package' : 'import', message, { package: missing, cause: error });
    }
  }

  async #add(entry, set, definition) {
    const tool = await Tool.from(definition, this.config);
    if (!NAME.test(tool.short)) {
      throw new Failure('tool', `the name of the tool ${JSON.stringify(tool.short)} must be 1 to 64 of the characters A-Z a-z 0-9 _ -`);
    }
    tool.name = `${set}.${tool.short}`;
    tool.entry = entry;
    const before = this.tools.get(tool.name);
    if (before) throw new Failure('tool', `there are two tools ${tool.name}; the first is from ${before.entry}`);
    this.tools.set(tool.name, tool);
  }
}

// split reads "path:Export". The path may also be written with dots, as Python modules are.
function split(entry) {
  const at = entry.lastIndexOf(':');
  const name = entry.slice(at + 1);
  let path = entry.slice(0, Math.max(at, 0)).replace(/^\.\//, '');
  if (!path.includes('/') && !/\.[mc]?[jt]sx?$/.test(path)) path = path.replaceAll('.', '/');
  const parts = path.split('/');
  if (at < 1 || !/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) || parts.some((p) => p === '' || p === '.' || p === '..' || p.includes('\\'))) {
    throw new Failure('shape', `${JSON.stringify(entry)} is not an entry: write path:Export, such as toolsets/index:HelloToolset`);
  }
  return { path, name };
}

// resolve finds the file of an entry: as it is written, with the ending of a language, or as the index of a folder.
function resolve(root, path) {
  const endings = loadsTypeScript() ? [...TYPESCRIPT, ...JAVASCRIPT] : [...JAVASCRIPT, ...TYPESCRIPT];
  const base = join(root, path);
  const candidates = [base, ...endings.map((e) => base + e), ...endings.map((e) => join(base, 'index' + e))];
  const file = candidates.find((c) => existsSync(c) && statSync(c).isFile());
  if (!file) throw new Failure('import', `the skill has no file ${path}${basename(path).includes('.') ? '' : '.ts or ' + path + '.js'}`);
  if (TYPESCRIPT.some((e) => file.endsWith(e)) && !loadsTypeScript()) {
    throw new Failure('import', `${file.slice(root.length + 1)} is TypeScript, which node ${process.versions.node} cannot load: ` +
      'install node 22.18 or newer, bun or deno');
  }
  return file;
}

// exported is the value of an export. A CommonJS module has its exports in the default one, too.
function exported(module, name, file) {
  if (name in module) return module[name];
  if (module.default !== null && typeof module.default === 'object' && name in module.default) return module.default[name];
  const known = Object.keys(module).filter((k) => k !== 'module.exports' && k !== '__esModule');
  throw new Failure('class', `${file} has no export ${JSON.stringify(name)}; it has ${known.join(', ') || 'none'}`);
}

// config is what toolsets are told about where they run, from the variables that scripts get, too.
function config(root) {
  const env = process.env;
  return Object.freeze({
    skillName: env.AGENT_SKILL_NAME || basename(root),
    skillDir: root,
    workspace: env.AGENT_WORKSPACE ?? '',
    workDir: env.AGENT_SKILL_WORK_DIR ?? '',
    cacheDir: env.AGENT_SKILL_CACHE_DIR ?? '',
  });
}
