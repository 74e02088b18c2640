// Makes JSON Schema of a schema of zod 3, by its _def. zod 4 makes it itself.

const FORMATS = {
  email: 'email', url: 'uri', uuid: 'uuid', datetime: 'date-time', date: 'date', time: 'time', duration: 'duration', ipv4: 'ipv4', ipv6: 'ipv6',
};
const ENCODINGS = { base64: 'base64', base64url: 'base64url' };

// fromZod is the schema of what may be given: a transformed value is described as it is before.
export function fromZod(schema) {
  const state = { open: new Map(), definitions: {}, count: 0 };
  const result = convert(schema, state);
  return Object.keys(state.definitions).length > 0 ? { ...result, $defs: state.definitions } : result;
}

// isRequired reports whether a member of an object with this schema must be there.
export function isRequired(schema) {
  const { typeName, innerType, schema: inner, in: first, options, type } = schema._def ?? {};
  switch (typeName) {
    case 'ZodOptional': case 'ZodDefault': case 'ZodCatch': case 'ZodAny': case 'ZodUnknown': case 'ZodUndefined': case 'ZodVoid': return false;
    case 'ZodNullable': case 'ZodReadonly': return isRequired(innerType);
    case 'ZodBranded': return isRequired(type);
    case 'ZodEffects': return isRequired(inner);
    case 'ZodPipeline': return isRequired(first);
    case 'ZodUnion': return options.every(isRequired);
  }
  return true;
}

function convert(schema, state) {
  const converted = kinds[schema._def.typeName]?.(schema._def, state, schema) ?? {};
  const { description } = schema._def;
  return description ? { ...converted, description } : converted;
}

const kinds = {
  ZodString: string,
  ZodNumber: number,
  ZodObject: object,
  ZodTuple: tuple,
  ZodRecord: record,
  ZodMap: record,
  ZodLazy: lazy,
  ZodBigInt: () => ({ type: 'integer' }),
  ZodBoolean: () => ({ type: 'boolean' }),
  ZodDate: () => ({ type: 'string', format: 'date-time' }),
  ZodNull: () => ({ type: 'null' }),
  ZodNever: () => ({ not: {} }),
  ZodLiteral: (def) => choice(def.values ?? [def.value]),
  ZodEnum: (def) => choice(def.values),
  ZodNativeEnum: (def) => choice(enumValues(def.values)),
  ZodArray: (def, state) => list(convert(def.type, state), def.exactLength ?? def.minLength, def.exactLength ?? def.maxLength),
  ZodSet: (def, state) => ({ ...list(convert(def.valueType, state), def.minSize, def.maxSize), uniqueItems: true }),
  ZodUnion: (def, state) => union(def.options, state),
  ZodDiscriminatedUnion: (def, state) => union([...(def.options.values?.() ?? def.options)], state),
  ZodIntersection: (def, state) => intersection(convert(def.left, state), convert(def.right, state)),
  ZodOptional: (def, state) => convert(def.innerType, state),
  ZodReadonly: (def, state) => convert(def.innerType, state),
  ZodCatch: (def, state) => convert(def.innerType, state),
  ZodDefault: (def, state) => ({ ...convert(def.innerType, state), ...defaultOf(def) }),
  ZodNullable: (def, state) => nullable(convert(def.innerType, state)),
  ZodEffects: (def, state) => convert(def.schema, state),
  ZodPipeline: (def, state) => convert(def.in, state),
  ZodBranded: (def, state) => convert(def.type, state),
  ZodPromise: (def, state) => convert(def.type, state),
};

function string(def) {
  const schema = { type: 'string' };
  for (const check of def.checks ?? []) {
    const kind = check.version ? `ip${check.version}` : check.kind;
    if (kind === 'min' || kind === 'length') schema.minLength = check.value;
    if (kind === 'max' || kind === 'length') schema.maxLength = check.value;
    schema.pattern ??= pattern(kind, check);
    if (FORMATS[kind]) schema.format = FORMATS[kind];
    if (ENCODINGS[kind]) schema.contentEncoding = ENCODINGS[kind];
  }
  if (schema.pattern === undefined) delete schema.pattern;
  return schema;
}

// pattern is the regular expression of a check, or undefined. JSON Schema has no flags, such as that for any case.
function pattern(kind, check) {
  switch (kind) {
    case 'regex': return /[ims]/.test(check.regex.flags) ? undefined : check.regex.source;
    case 'includes': return escape(check.value);
    case 'startsWith': return `^${escape(check.value)}`;
    case 'endsWith': return `${escape(check.value)}$`;
  }
  return undefined;
}

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function number(def) {
  const schema = { type: 'number' };
  for (const check of def.checks ?? []) {
    if (check.kind === 'int') schema.type = 'integer';
    if (check.kind === 'min') schema[check.inclusive ? 'minimum' : 'exclusiveMinimum'] = check.value;
    if (check.kind === 'max') schema[check.inclusive ? 'maximum' : 'exclusiveMaximum'] = check.value;
    if (check.kind === 'multipleOf') schema.multipleOf = check.value;
  }
  return schema;
}

function object(def, state) {
  const shape = def.shape();
  const names = Object.keys(shape);
  const schema = { type: 'object', properties: Object.fromEntries(names.map((n) => [n, convert(shape[n], state)])) };
  const required = names.filter((n) => isRequired(shape[n]));
  if (required.length > 0) schema.required = required;
  const others = def.catchall && def.catchall._def.typeName !== 'ZodNever' ? convert(def.catchall, state) : def.unknownKeys === 'passthrough';
  schema.additionalProperties = typeof others === 'object' && Object.keys(others).length === 0 ? true : others;
  return schema;
}

function list(items, min, max) {
  const schema = { type: 'array' };
  if (Object.keys(items).length > 0) schema.items = items;
  if (min) schema.minItems = min.value;
  if (max) schema.maxItems = max.value;
  return schema;
}

function tuple(def, state) {
  const items = def.items.map((item) => convert(item, state));
  const schema = { type: 'array', minItems: items.length };
  if (!def.rest) schema.maxItems = items.length;
  const same = items.length > 0 && items.every((item) => JSON.stringify(item) === JSON.stringify(items[0]));
  if (same && !def.rest) return { ...schema, items: items[0] };
  return { ...schema, prefixItems: items, ...(def.rest ? { items: convert(def.rest, state) } : {}) };
}

function record(def, state) {
  const values = convert(def.valueType, state);
  const names = def.keyType ? convert(def.keyType, state) : {};
  const schema = { type: 'object', additionalProperties: Object.keys(values).length > 0 ? values : true };
  const { type, ...limits } = names;
  return type === 'string' && Object.keys(limits).length > 0 ? { ...schema, propertyNames: limits } : schema;
}

function choice(values) {
  const types = new Set(values.map((v) => (v === null ? 'null' : typeof v)));
  const type = types.size === 1 ? [...types][0] : '';
  if (type === 'null') return { type };
  return { ...(['string', 'number', 'boolean'].includes(type) ? { type } : {}), enum: values };
}

function union(options, state) {
  const schemas = options.map((option) => convert(option, state));
  if (schemas.some((s) => Object.keys(s).length === 0)) return {};
  const constants = schemas.every((s) => s.enum && Object.keys(s).every((k) => k === 'enum' || k === 'type'));
  return constants ? choice(schemas.flatMap((s) => s.enum)) : { anyOf: schemas };
}

function intersection(left, right) {
  if (!left.properties || !right.properties) return { allOf: [left, right] };
  const required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
  const merged = { type: 'object', properties: { ...left.properties, ...right.properties }, ...(required.length > 0 ? { required } : {}) };
  return { ...merged, additionalProperties: left.additionalProperties && right.additionalProperties };
}

function nullable(schema) {
  if (Object.keys(schema).length === 0) return schema;
  const { description, ...rest } = schema;
  return { anyOf: [rest, { type: 'null' }], ...(description ? { description } : {}) };
}

function defaultOf(def) {
  try {
    const value = JSON.parse(JSON.stringify(def.defaultValue()));
    return { default: value };
  } catch { // it is not JSON
    return {};
  }
}

// lazy refers to a definition if the schema contains itself.
function lazy(def, state) {
  const known = state.open.get(def.getter);
  if (known) {
    known.used = true;
    return { $ref: `#/$defs/${known.name}` };
  }
  const entry = { name: `Type${++state.count}`, used: false };
  state.open.set(def.getter, entry);
  const converted = convert(def.getter(), state);
  if (entry.used) {
    state.definitions[entry.name] = converted;
    return { $ref: `#/$defs/${entry.name}` };
  }
  state.open.delete(def.getter);
  return converted;
}

// enumValues are the values of an enum of TypeScript, which also has its numbers as names.
function enumValues(object) {
  return Object.keys(object).filter((key) => typeof object[object[key]] !== 'number').map((key) => object[key]);
}
