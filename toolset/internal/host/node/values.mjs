// Turns what a tool returned into JSON.

const MAX_ITEMS = 10000; // items of a generator
const MAX_DEPTH = 200;

// NotJSON is thrown for a value that JSON cannot carry. Its text is for the model.
export class NotJSON extends TypeError {
  constructor(text) {
    super(text);
    this.forModel = text;
  }
}

// plain is a value in the types of JSON. Numbers that JSON does not have become "NaN", "Infinity" and "-Infinity".
export async function plain(value) {
  if (value instanceof Error) throw value;
  const text = contentText(value);
  if (text !== null) return text;
  if (isGenerator(value)) return json(await collect(value), 0);
  return json(value, 0);
}

function json(value, depth) {
  if (depth > MAX_DEPTH) throw new NotJSON('the result contains itself, or is nested too deeply');
  switch (typeof value) {
    case 'string': case 'boolean': return value;
    case 'number': return Number.isFinite(value) ? value : String(value);
    case 'bigint': return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'undefined': return null;
    case 'function': case 'symbol': throw new NotJSON(`a ${typeof value} is not JSON: return text, a number, an array or an object`);
  }
  if (value === null) return null;
  if (ArrayBuffer.isView(value) && (value instanceof Uint8Array || value instanceof DataView) || value instanceof ArrayBuffer) {
    throw new NotJSON('bytes are not JSON: return text, such as base64, or the path of a file');
  }
  if (typeof value.toJSON === 'function') return json(value.toJSON(), depth + 1);
  if (typeof value.then === 'function') throw new NotJSON('the result has a promise in it: await it');
  if (typeof Response !== 'undefined' && value instanceof Response) {
    throw new NotJSON('a Response is not JSON: return await response.json() or .text()');
  }
  if (Array.isArray(value) || value instanceof Set || ArrayBuffer.isView(value)) return Array.from(value, (v) => json(v, depth + 1));
  if (value instanceof Map) return members(value.entries(), depth);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return members(Object.entries(value), depth);
}

function members(entries, depth) {
  const object = {};
  for (const [name, value] of entries) {
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    Object.defineProperty(object, String(name), { value: json(value, depth + 1), enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function isGenerator(value) {
  return typeof value?.next === 'function' && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

async function collect(generator) {
  const items = [];
  for await (const item of generator) {
    items.push(item);
    if (items.length > MAX_ITEMS) throw new NotJSON(`the tool yields more than ${MAX_ITEMS} items`);
  }
  return items;
}

// contentText is the text of a result as handlers of MCP servers write it, {content: [{type: "text", text}]}, or null.
function contentText(value) {
  if (!Array.isArray(value?.content) || value.content.length === 0) return null;
  if (!value.content.every((part) => part?.type === 'text' && typeof part.text === 'string')) return null;
  const text = value.content.map((part) => part.text).join('\n');
  if (value.isError) throw Object.assign(new Error(text), { forModel: text });
  return text;
}
