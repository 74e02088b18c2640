// The base of all schemas: parsing, and what every schema can be wrapped in.
//
// This is a small module with the builders of zod's public interface that toolsets use. It stands in for zod where a skill does
// not bring the package. Like zod 3, a schema says what it is in _def, which the converter to JSON Schema reads for both.

import { got } from '../check.mjs';

// ZodError has the issues of a value: each with a code, a path and a message.
export class ZodError extends Error {
  constructor(issues) {
    super(issues.map((i) => (i.path.length > 0 ? `${i.path.join('.')}: ${i.message}` : i.message)).join('; '));
    this.name = 'ZodError';
    this.issues = issues;
  }

  get errors() {
    return this.issues;
  }

  flatten(map = (issue) => issue.message) {
    const flat = { formErrors: [], fieldErrors: {} };
    for (const issue of this.issues) {
      const list = issue.path.length > 0 ? (flat.fieldErrors[issue.path[0]] ??= []) : flat.formErrors;
      list.push(map(issue));
    }
    return flat;
  }

  format() {
    const tree = { _errors: [] };
    for (const issue of this.issues) {
      let at = tree;
      for (const part of issue.path) at = at[part] ??= { _errors: [] };
      at._errors.push(issue.message);
    }
    return tree;
  }
}

export const NEVER = Object.freeze({ status: 'aborted' });

// Context collects the issues of one parse. path is where the value is.
export class Context {
  constructor(issues = [], path = []) {
    this.issues = issues;
    this.path = path;
  }

  at(key) {
    return new Context(this.issues, [...this.path, key]);
  }

  // fail adds an issue and returns NEVER. The message of the schema's author comes first.
  fail(code, message, own, facts = {}) {
    this.issues.push({ code, path: this.path, message: words(own) ?? message, ...facts });
    return NEVER;
  }
}

// words is the text of what builders take as a message: text, {message}, {error} or a function.
export function words(own) {
  const text = typeof own === 'string' ? own : own?.message ?? own?.error;
  return typeof text === 'function' ? words(text({})) : text;
}

// then calls a function with a value that may be a promise.
export function then(value, f) {
  return value instanceof Promise ? value.then(f) : f(value);
}

// all is like Promise.all for values of which none may be a promise.
export function all(values) {
  return values.some((v) => v instanceof Promise) ? Promise.all(values) : values;
}

export class ZodType {
  constructor(def) {
    this._def = { typeName: new.target.name, ...def };
    this['~standard'] = {
      version: 1,
      vendor: 'zod',
      validate: (value) => then(this.#run(value), ({ issues, data }) => (issues.length > 0 ? { issues } : { value: data })),
    };
  }

  #run(value) {
    const context = new Context();
    return then(this._parse(value, context), (data) => ({ issues: context.issues, data }));
  }

  safeParse(value) {
    const result = this.#run(value);
    if (result instanceof Promise) throw new Error('the schema has async parts: use parseAsync or safeParseAsync');
    return outcome(result);
  }

  async safeParseAsync(value) {
    return outcome(await this.#run(value));
  }

  spa(value) {
    return this.safeParseAsync(value);
  }

  parse(value) {
    return unwrap(this.safeParse(value));
  }

  async parseAsync(value) {
    return unwrap(await this.safeParseAsync(value));
  }

  // _with is a copy of the schema with other facts.
  _with(def) {
    return new this.constructor({ ...this._def, ...def });
  }

  // _type fails for a value of another type.
  _type(context, wanted, value) {
    const own = value === undefined ? this._def.required_error ?? this._def : this._def.invalid_type_error ?? this._def;
    const message = value === undefined ? 'is missing' : `must be ${wanted}, not ${got(value)}`;
    return context.fail('invalid_type', message, own, { expected: wanted });
  }

  get description() {
    return this._def.description;
  }

  describe(description) {
    return this._with({ description });
  }

  meta(facts) {
    return facts === undefined ? { description: this.description, ...this._def.meta } : this._with({ description: facts.description ?? this.description, meta: facts });
  }

  isOptional() {
    return this.safeParse(undefined).success;
  }

  isNullable() {
    return this.safeParse(null).success;
  }

  optional() {
    return new ZodOptional({ innerType: this, description: this.description });
  }

  nullable() {
    return new ZodNullable({ innerType: this, description: this.description });
  }

  nullish() {
    return this.nullable().optional();
  }

  nonoptional() {
    return this.refine((v) => v !== undefined, 'is missing');
  }

  default(value) {
    return new ZodDefault({ innerType: this, defaultValue: typeof value === 'function' ? value : () => value, description: this.description });
  }

  prefault(value) {
    return this.default(value);
  }

  catch(value) {
    return new ZodCatch({ innerType: this, catchValue: typeof value === 'function' ? value : () => value, description: this.description });
  }

  refine(check, own) {
    return this.superRefine((value, context) => then(check(value), (good) => {
      if (good) return;
      const options = typeof own === 'function' ? own(value) : own;
      context.addIssue({ code: 'custom', message: words(options) ?? 'is not allowed', path: options?.path });
    }));
  }

  superRefine(refinement) {
    return new ZodEffects({ schema: this, effect: { type: 'refinement', refinement }, description: this.description });
  }

  check(...checks) {
    return checks.reduce((schema, check) => schema.superRefine((value, context) => check({ value, issues: { push: (i) => context.addIssue(i) } })), this);
  }

  transform(transform) {
    return new ZodEffects({ schema: this, effect: { type: 'transform', transform }, description: this.description });
  }

  overwrite(transform) {
    return this.transform(transform);
  }

  pipe(out) {
    return new ZodPipeline({ in: this, out, description: this.description });
  }

  brand() {
    return this;
  }

  readonly() {
    return new ZodReadonly({ innerType: this, description: this.description });
  }
}

function outcome({ issues, data }) {
  return issues.length > 0 ? { success: false, error: new ZodError(issues) } : { success: true, data };
}

function unwrap(result) {
  if (!result.success) throw result.error;
  return result.data;
}

class Wrapper extends ZodType {
  unwrap() {
    return this._def.innerType;
  }

  removeDefault() {
    return this._def.innerType;
  }

  _parse(value, context) {
    return this._def.innerType._parse(value, context);
  }
}

export class ZodOptional extends Wrapper {
  _parse(value, context) {
    return value === undefined ? undefined : super._parse(value, context);
  }
}

export class ZodNullable extends Wrapper {
  _parse(value, context) {
    return value === null ? null : super._parse(value, context);
  }
}

export class ZodDefault extends Wrapper {
  _parse(value, context) {
    return super._parse(value === undefined ? this._def.defaultValue() : value, context);
  }
}

export class ZodReadonly extends Wrapper {}

export class ZodCatch extends Wrapper {
  _parse(value, context) {
    const own = new Context([], context.path);
    return then(super._parse(value, own), (data) => (own.issues.length > 0 ? this._def.catchValue({ input: value }) : data));
  }
}

export class ZodPipeline extends ZodType {
  _parse(value, context) {
    const before = context.issues.length;
    return then(this._def.in._parse(value, context), (middle) => (context.issues.length > before ? NEVER : this._def.out._parse(middle, context)));
  }
}

// ZodEffects runs a function of the author's: before the schema (preprocess) or after it.
export class ZodEffects extends ZodType {
  innerType() {
    return this._def.schema;
  }

  sourceType() {
    return this._def.schema;
  }

  _parse(value, context) {
    const { schema, effect } = this._def;
    const before = context.issues.length;
    const author = { path: context.path, addIssue: (issue) => add(context, issue), issues: { push: (issue) => add(context, issue) } };
    if (effect.type === 'preprocess') {
      return then(effect.transform(value, author), (ready) => (context.issues.length > before ? NEVER : schema._parse(ready, context)));
    }
    return then(schema._parse(value, context), (data) => {
      if (context.issues.length > before) return NEVER;
      if (effect.type === 'transform') return effect.transform(data, author);
      return then(effect.refinement(data, author), () => data);
    });
  }
}

function add(context, issue) {
  const facts = typeof issue === 'string' ? { message: issue } : issue;
  context.issues.push({ code: 'custom', ...facts, message: words(facts) ?? 'is not allowed', path: [...context.path, ...(facts.path ?? [])] });
}
