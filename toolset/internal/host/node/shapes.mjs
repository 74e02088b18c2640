// What an export can be: an array of tools, a tool, a class, an object or a function that makes one of these.

import { Unusable } from './trace.mjs';

const RESERVED = new Set(['constructor', 'getTools', 'close']);

// collect returns the definitions of the tools of an export, and the object to close at the end.
export async function collect(value, config) {
  if (value instanceof Promise) value = await value;
  if (Array.isArray(value)) return { tools: value };
  if (isTool(value)) return { tools: [value] };
  if (isClass(value)) return fromObject(new value(config), value);
  if (typeof value === 'function') return collect(await value(config), config);
  if (value !== null && typeof value === 'object') return fromObject(value, null);
  throw new Unusable(`an array of tools, an object or a class is needed, not ${value === null ? 'null' : typeof value}`);
}

// isTool reports whether a value defines a tool: it has a function to run, and says something about itself.
export function isTool(value) {
  return value !== null && typeof value === 'object' && (typeof runner(value) === 'function' || typeof value.init === 'function') &&
    ['name', 'id', 'description', 'parameters', 'inputSchema', 'schema'].some((key) => key in value);
}

// runner is the function that a tool runs.
export function runner(definition) {
  return definition.execute ?? definition.handler ?? definition.run ?? definition.func ?? definition.invoke;
}

function isClass(value) {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

async function fromObject(object, cls) {
  const own = await listed(object);
  if (own !== null) return { object, tools: Array.isArray(own) ? own : named(own) };
  const tools = named(object);
  if (cls) tools.push(...methods(object, cls));
  return { object, tools };
}

// listed is what an object says that its tools are, or null.
async function listed(object) {
  const tools = typeof object.getTools === 'function' ? await object.getTools() : object.tools;
  if (tools === undefined || tools === null) return null;
  if (typeof tools !== 'object') throw new Unusable(`getTools must return an array of tools, not a ${typeof tools}`);
  return tools;
}

// named makes tools of the members of an object. A tool without a name has that of its member.
function named(object) {
  const tools = [];
  for (const [key, value] of Object.entries(object)) {
    if (isTool(value)) tools.push({ ...value, name: value.name ?? value.id ?? key, execute: runner(value)?.bind(value) });
    else if (typeof value === 'function' && !key.startsWith('_') && !RESERVED.has(key)) tools.push(method(object, key, value, value));
  }
  return tools;
}

// methods makes tools of the public methods of a class. The class may say more about them in a static member "tools", by name.
function methods(object, cls) {
  const names = [];
  for (let proto = cls.prototype; proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    names.unshift(...Object.getOwnPropertyNames(proto).filter((n) => typeof Object.getOwnPropertyDescriptor(proto, n).value === 'function'));
  }
  const facts = cls.tools ?? {};
  return [...new Set(names)].filter((n) => !n.startsWith('_') && !RESERVED.has(n) && (!cls.tools || n in facts))
    .map((n) => method(object, n, object[n], facts[n] ?? object[n]));
}

function method(object, name, run, facts) {
  const { description, parameters, inputSchema } = facts;
  return { name, description, parameters: parameters ?? inputSchema ?? { type: 'object' }, execute: (args, ctx) => run.call(object, args, ctx) };
}
