// Reads what a tool says about its arguments: zod, other libraries with a standard interface, or JSON Schema.

import { problems } from './check.mjs';
import { skillModule } from './modules.mjs';
import { Unusable } from './trace.mjs';
import { fromZod, isRequired } from './zod3.mjs';

// inputOf returns the JSON Schema of a tool's arguments, and check, which returns the arguments that the tool gets.
export async function inputOf(input) {
  if (input === undefined || input === null) {
    return withRoot({ type: 'object', properties: {}, additionalProperties: false });
  }
  const form = await read(input);
  return withRoot(form.schema, form.check);
}

// withRoot makes sure that the schema is that of an object, which is what a call has.
function withRoot({ $schema, ...schema }, check) {
  void $schema; // it says nothing to a model
  const composed = schema.anyOf || schema.oneOf || schema.allOf || schema.$ref;
  if (composed || schema.properties || Object.keys(schema).length === 0) schema.type ??= 'object';
  if (schema.type !== 'object') throw new Unusable('parameters must describe an object, such as z.object({ name: z.string() })');
  if (!composed) schema.properties ??= {};
  return { schema, check: check ?? ((value) => checked(schema, value)) };
}

async function read(input) {
  const standard = input['~standard'];
  if (input._def?.typeName) return { schema: fromZod(input), check: (value) => standardCheck(input, value) };
  if (input._zod) return { schema: await fromZod4(input), check: (value) => standardCheck(input, value) };
  if (standard) return { schema: await fromStandard(input), check: (value) => standardCheck(input, value) };
  if (input.jsonSchema && typeof input.jsonSchema === 'object') return wrapped(await input.jsonSchema, input.validate);
  if (isShape(input)) return shape(input);
  if (typeof input !== 'object') throw new Unusable(`parameters must be a schema, not a ${typeof input}`);
  return { schema: JSON.parse(JSON.stringify(input)) };
}

// fromZod4 asks zod 4 itself. Its schemas are those of the skill's own package.
async function fromZod4(input) {
  const options = { io: 'input', unrepresentable: 'any', target: 'draft-2020-12', override: tidy };
  if (typeof input.toJSONSchema === 'function') return input.toJSONSchema(options);
  const zod = await skillModule('zod');
  const toJSONSchema = zod.toJSONSchema ?? zod.z?.toJSONSchema ?? (await skillModule('zod/v4')).toJSONSchema;
  return toJSONSchema(input, options);
}

// tidy says how dates are given, and leaves out the limits that all integers of JavaScript have.
function tidy({ zodSchema, jsonSchema }) {
  if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

async function fromStandard(input) {
  const make = input['~standard'].jsonSchema?.input ?? input.toJsonSchema?.bind(input) ?? input.toJSONSchema?.bind(input);
  if (!make) throw new Unusable(`${input['~standard'].vendor} cannot make a JSON Schema: use zod, or write parameters as JSON Schema`);
  return make({ target: 'draft-2020-12' });
}

// wrapped is a JSON Schema that another library holds, with a function validate that it may have.
function wrapped(schema, validate) {
  if (typeof validate !== 'function') return { schema };
  return {
    schema,
    check: async (value) => {
      const result = await validate(value);
      if (result.success === false) throw refused(result.error?.message ?? 'the arguments are refused');
      return result.value ?? value;
    },
  };
}

// isShape reports whether a value is an object whose members are schemas, as z.object takes it.
function isShape(input) {
  const members = typeof input === 'object' && !Array.isArray(input) ? Object.values(input) : [];
  return members.length > 0 && members.every((m) => m && typeof m === 'object' && (m._def || m._zod || m['~standard']));
}

async function shape(members) {
  const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
  for (const [name, member] of Object.entries(members)) {
    const { $schema, ...property } = (await read(member)).schema;
    void $schema;
    schema.properties[name] = property;
    if (member._def?.typeName ? isRequired(member) : await refusesNothing(member)) schema.required.push(name);
  }
  return {
    schema,
    check: async (value) => {
      checked({ type: 'object', additionalProperties: false, properties: Object.fromEntries(Object.keys(members).map((n) => [n, {}])) }, value);
      const args = {};
      for (const [name, member] of Object.entries(members)) {
        const built = await standardCheck(member, value[name], [name]);
        if (built !== undefined) args[name] = built;
      }
      return args;
    },
  };
}

// refusesNothing reports whether a member must be there.
async function refusesNothing(member) {
  return standardCheck(member, undefined).then(() => false, () => true);
}

// standardCheck has the library itself check the arguments.
async function standardCheck(input, value, at = []) {
  const result = input['~standard'] ? await input['~standard'].validate(value) : await fromSafeParse(input, value);
  if (!result.issues) return result.value;
  const words = result.issues.slice(0, 5).map((issue) => {
    const path = [...at, ...(issue.path ?? []).map((p) => (p !== null && typeof p === 'object' ? p.key : p))];
    return sentence(path, issue.message);
  });
  throw refused(words.join('; '));
}

async function fromSafeParse(input, value) { // zod before 3.24
  const result = await input.safeParseAsync(value);
  return result.success ? { value: result.data } : { issues: result.error.issues };
}

function checked(schema, value) {
  const found = problems(schema, value);
  if (found.length > 0) throw refused(found.slice(0, 5).map(({ path, message }) => sentence(path, message)).join('; '));
  return value;
}

function sentence(path, message) {
  if (path.length === 0) return message;
  const name = path.map((p, i) => (typeof p === 'number' ? `[${p}]` : i === 0 ? p : `.${String(p)}`)).join('');
  return `argument ${JSON.stringify(name)}${/^(must|is|has|cannot) /.test(message) ? ' ' : ': '}${message}`;
}

function refused(text) {
  return Object.assign(new TypeError(text), { forModel: text });
}
