// Checks values against the part of JSON Schema that tools use. What it does not know it does not check.

const KINDS = { string: 'text', integer: 'an integer', number: 'a number', boolean: 'true or false', array: 'a list', object: 'an object', null: 'null' };
const MAX_DEPTH = 100;

// problems returns what is wrong with a value, each with the path of the member that it is about.
export function problems(schema, value, path = [], root = schema, depth = 0) {
  if (schema === true || schema === undefined || depth > MAX_DEPTH) return [];
  if (schema === false) return [{ path, message: 'is not allowed' }];
  if (schema.$ref) return problems(referred(root, schema.$ref), value, path, root, depth + 1);
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => has(type, value))) {
    return [{ path, message: `must be ${types.map((t) => KINDS[t] ?? t).join(' or ')}, not ${got(value)}` }];
  }
  const found = [...choices(schema, value, path), ...combined(schema, value, path, root, depth)];
  if (typeof value === 'string') found.push(...text(schema, value, path));
  if (typeof value === 'number') found.push(...number(schema, value, path));
  if (Array.isArray(value)) found.push(...list(schema, value, path, root, depth));
  else if (value !== null && typeof value === 'object') found.push(...object(schema, value, path, root, depth));
  return found;
}

function has(type, value) {
  switch (type) {
    case 'null': return value === null;
    case 'array': return Array.isArray(value);
    case 'object': return value !== null && typeof value === 'object' && !Array.isArray(value);
    case 'integer': return Number.isInteger(value);
  }
  return typeof value === type;
}

function choices(schema, value, path) {
  const allowed = 'const' in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(allowed) || allowed.some((a) => JSON.stringify(a) === JSON.stringify(value))) return [];
  return [{ path, message: `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.map((a) => JSON.stringify(a)).join(', ')}, not ${got(value)}` }];
}

function combined(schema, value, path, root, depth) {
  const found = (schema.allOf ?? []).flatMap((s) => problems(s, value, path, root, depth + 1));
  const options = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(options) || options.length === 0) return found;
  const tries = options.map((s) => problems(s, value, path, root, depth + 1));
  if (tries.some((t) => t.length === 0)) return found;
  const deepest = tries.reduce((a, b) => (Math.max(...b.map((p) => p.path.length)) > Math.max(...a.map((p) => p.path.length)) ? b : a));
  return [...found, ...deepest];
}

function text(schema, value, path) {
  const found = [];
  if (value.length < schema.minLength) found.push({ path, message: `must have at least ${schema.minLength} characters` });
  if (value.length > schema.maxLength) found.push({ path, message: `must have at most ${schema.maxLength} characters` });
  if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern, 'u').test(value)) found.push({ path, message: `must match ${schema.pattern}` });
  return found;
}

function number(schema, value, path) {
  const found = [];
  if (value < schema.minimum) found.push({ path, message: `must be at least ${schema.minimum}, not ${value}` });
  if (value > schema.maximum) found.push({ path, message: `must be at most ${schema.maximum}, not ${value}` });
  if (value <= schema.exclusiveMinimum) found.push({ path, message: `must be more than ${schema.exclusiveMinimum}, not ${value}` });
  if (value >= schema.exclusiveMaximum) found.push({ path, message: `must be less than ${schema.exclusiveMaximum}, not ${value}` });
  return found;
}

function list(schema, value, path, root, depth) {
  const found = [];
  if (value.length < schema.minItems) found.push({ path, message: `must have at least ${schema.minItems} items` });
  if (value.length > schema.maxItems) found.push({ path, message: `must have at most ${schema.maxItems} items` });
  value.forEach((item, i) => found.push(...problems(schema.prefixItems?.[i] ?? schema.items, item, [...path, i], root, depth + 1)));
  return found;
}

function object(schema, value, path, root, depth) {
  const found = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name)).map((name) => ({ path: [...path, name], message: 'is missing' }));
  const known = schema.properties ?? {};
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(known, name)) {
      found.push(...problems(known[name], member, [...path, name], root, depth + 1));
    } else if (schema.additionalProperties === false) {
      found.push({ path, message: `there is no ${path.length > 0 ? 'member' : 'argument'} ${JSON.stringify(name)}; there is ${Object.keys(known).join(', ') || 'none'}` });
    } else {
      found.push(...problems(schema.additionalProperties, member, [...path, name], root, depth + 1));
    }
  }
  return found;
}

function referred(root, reference) {
  if (!reference.startsWith('#')) return true;
  return reference.slice(1).split('/').filter(Boolean).reduce((at, part) => at?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], root) ?? true;
}

// got names a value in an error.
export function got(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return value instanceof Date ? 'a date' : 'an object';
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return `${{ string: 'text', number: 'a number', boolean: 'a boolean' }[typeof value] ?? 'the value'} ${shown.length <= 80 ? shown : shown.slice(0, 77) + '...'}`;
}
