// Schemas of values with parts: objects, lists, records, unions.

import { got } from '../check.mjs';
import { all, Context, NEVER, then, words, ZodOptional, ZodType } from './base.mjs';
import { ZodEnum, ZodLiteral, ZodNever } from './scalars.mjs';

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

export class ZodObject extends ZodType {
  constructor(def) {
    super({ unknownKeys: 'strip', catchall: new ZodNever({}), ...def });
  }

  get shape() {
    return this._def.shape();
  }

  _parse(value, context) {
    if (!isObject(value)) return this._type(context, 'an object', value);
    const before = context.issues.length;
    const { shape } = this;
    const names = Object.keys(shape);
    const values = names.map((name) => shape[name]._parse(Object.hasOwn(value, name) ? value[name] : undefined, context.at(name)));
    const others = Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
    const rest = this.#rest(value, others, names, context);
    return then(all([...values, ...rest.map(([, v]) => v)]), (built) => {
      if (context.issues.length > before) return NEVER;
      const object = {};
      [...names, ...rest.map(([name]) => name)].forEach((name, i) => {
        if (built[i] !== undefined || Object.hasOwn(value, name)) put(object, name, built[i]);
      });
      return object;
    });
  }

  // #rest has the members that the shape does not name.
  #rest(value, others, names, context) {
    const { catchall, unknownKeys } = this._def;
    if (!(catchall instanceof ZodNever)) return others.map((name) => [name, catchall._parse(value[name], context.at(name))]);
    if (unknownKeys === 'strict' && others.length > 0) {
      context.fail('unrecognized_keys', `there is no member ${JSON.stringify(others[0])}; there is ${names.join(', ') || 'none'}`, this._def.strictMessage, { keys: others });
    }
    return unknownKeys === 'passthrough' ? others.map((name) => [name, value[name]]) : [];
  }

  #map(change) {
    const { shape } = this;
    return this._with({ shape: () => Object.fromEntries(Object.entries(shape).flatMap(([name, s]) => change(name, s))) });
  }

  extend(more) {
    const shape = { ...this.shape, ...more };
    return this._with({ shape: () => shape });
  }

  augment(more) { return this.extend(more); }
  safeExtend(more) { return this.extend(more); }
  merge(other) { return other._with({ shape: () => ({ ...this.shape, ...other.shape }) }); }
  setKey(name, schema) { return this.extend({ [name]: schema }); }
  strict(own) { return this._with({ unknownKeys: 'strict', strictMessage: words(own) }); }
  strip() { return this._with({ unknownKeys: 'strip' }); }
  passthrough() { return this._with({ unknownKeys: 'passthrough' }); }
  loose() { return this.passthrough(); }
  nonstrict() { return this.passthrough(); }
  catchall(catchall) { return this._with({ catchall }); }
  pick(mask) { return this.#map((name, s) => (mask[name] ? [[name, s]] : [])); }
  omit(mask) { return this.#map((name, s) => (mask[name] ? [] : [[name, s]])); }
  partial(mask) { return this.#map((name, s) => [[name, mask && !mask[name] ? s : s.optional()]]); }
  deepPartial() { return this.#map((name, s) => [[name, (s instanceof ZodObject ? s.deepPartial() : s).optional()]]); }
  required(mask) { return this.#map((name, s) => [[name, (!mask || mask[name]) && s instanceof ZodOptional ? s.unwrap() : s]]); }
  keyof() { return new ZodEnum({ values: Object.keys(this.shape) }); }
}

// put sets a member, also one with the name __proto__.
function put(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

export class ZodArray extends ZodType {
  get element() {
    return this._def.type;
  }

  _parse(value, context) {
    if (!Array.isArray(value)) return this._type(context, 'a list', value);
    const before = context.issues.length;
    const { minLength, maxLength, exactLength } = this._def;
    counted(value.length, minLength, maxLength, exactLength, context);
    return then(all(value.map((item, i) => this._def.type._parse(item, context.at(i)))), (items) => (context.issues.length > before ? NEVER : items));
  }

  min(value, own) { return this._with({ minLength: { value, message: words(own) } }); }
  max(value, own) { return this._with({ maxLength: { value, message: words(own) } }); }
  length(value, own) { return this._with({ exactLength: { value, message: words(own) } }); }
  nonempty(own) { return this.min(1, own); }
}

function counted(count, min, max, exact, context) {
  if (min && count < min.value) context.fail('too_small', `must have at least ${min.value} items, not ${count}`, min);
  if (max && count > max.value) context.fail('too_big', `must have at most ${max.value} items, not ${count}`, max);
  if (exact && count !== exact.value) context.fail('too_small', `must have ${exact.value} items, not ${count}`, exact);
}

// ZodSet takes a Set, or a list, because JSON has no sets.
export class ZodSet extends ZodType {
  _parse(value, context) {
    if (!Array.isArray(value) && !(value instanceof Set)) return this._type(context, 'a list', value);
    const before = context.issues.length;
    const items = [...new Set(value)];
    counted(items.length, this._def.minSize, this._def.maxSize, undefined, context);
    return then(all(items.map((item, i) => this._def.valueType._parse(item, context.at(i)))), (built) => (context.issues.length > before ? NEVER : new Set(built)));
  }

  min(value, own) { return this._with({ minSize: { value, message: words(own) } }); }
  max(value, own) { return this._with({ maxSize: { value, message: words(own) } }); }
  size(value, own) { return this.min(value, own).max(value, own); }
  nonempty(own) { return this.min(1, own); }
}

export class ZodTuple extends ZodType {
  constructor(def) {
    super({ rest: null, ...def });
  }

  _parse(value, context) {
    if (!Array.isArray(value)) return this._type(context, 'a list', value);
    const { items, rest } = this._def;
    if (value.length < items.length || value.length > items.length && rest === null) {
      return context.fail('too_small', `must have ${items.length} items, not ${value.length}`, this._def);
    }
    const before = context.issues.length;
    return then(all(value.map((item, i) => (items[i] ?? rest)._parse(item, context.at(i)))), (built) => (context.issues.length > before ? NEVER : built));
  }

  rest(rest) {
    return this._with({ rest });
  }
}

// ZodRecord has members of one kind. makeMap makes a Map of them (z.map).
export class ZodRecord extends ZodType {
  _parse(value, context) {
    if (!isObject(value)) return this._type(context, 'an object', value);
    const before = context.issues.length;
    const names = Object.keys(value);
    const keys = names.map((name) => this._def.keyType._parse(name, context.at(name)));
    const values = names.map((name) => this._def.valueType._parse(value[name], context.at(name)));
    return then(all([...keys, ...values]), (built) => {
      if (context.issues.length > before) return NEVER;
      if (this._def.makeMap) return new Map(names.map((_, i) => [built[i], built[names.length + i]]));
      const object = {};
      names.forEach((_, i) => put(object, String(built[i]), built[names.length + i]));
      return object;
    });
  }
}

export class ZodUnion extends ZodType {
  get options() {
    return this._def.options;
  }

  _parse(value, context) {
    const contexts = this.options.map(() => new Context([], context.path));
    return then(all(this.options.map((option, i) => option._parse(value, contexts[i]))), (built) => {
      const first = contexts.findIndex((c) => c.issues.length === 0);
      if (first >= 0) return built[first];
      context.issues.push(...this.#explain(contexts.map((c) => c.issues), value, context));
      return NEVER;
    });
  }

  // #explain prefers the option that got furthest into the value.
  #explain(tries, value, context) {
    const depth = (issues) => Math.max(...issues.map((i) => i.path.length));
    const own = words(this._def);
    const deepest = tries.reduce((a, b) => (depth(b) > depth(a) ? b : a));
    if (!own && (depth(deepest) > context.path.length || tries.length === 1)) return deepest;
    const wanted = [...new Set(tries.map((issues) => issues[0].message.replace(/^must be /, '').replace(/, not .*$/s, '')))];
    return [{ code: 'invalid_union', path: context.path, message: own ?? `must be ${wanted.join(' or ')}, not ${got(value)}`, unionErrors: tries }];
  }
}

export class ZodDiscriminatedUnion extends ZodType {
  get options() {
    return this._def.options;
  }

  _parse(value, context) {
    if (!isObject(value)) return this._type(context, 'an object', value);
    const { discriminator } = this._def;
    const known = this.options.flatMap((option) => offered(option.shape?.[discriminator]));
    const option = this.options.find((o) => offered(o.shape?.[discriminator]).includes(value[discriminator]));
    if (option) return option._parse(value, context);
    const list = known.map((v) => JSON.stringify(v)).join(', ');
    return context.at(discriminator).fail('invalid_union_discriminator', `must be one of ${list}, not ${got(value[discriminator])}`, this._def);
  }
}

function offered(schema) {
  if (schema?._def.innerType) return offered(schema._def.innerType);
  return schema instanceof ZodLiteral || schema?._offered ? schema._offered() : [];
}

export class ZodIntersection extends ZodType {
  _parse(value, context) {
    const before = context.issues.length;
    return then(all([this._def.left._parse(value, context), this._def.right._parse(value, context)]), ([left, right]) => {
      if (context.issues.length > before) return NEVER;
      return isObject(left) && isObject(right) ? { ...left, ...right } : right;
    });
  }
}

export class ZodLazy extends ZodType {
  get schema() {
    return this._def.getter();
  }

  _parse(value, context) {
    return this.schema._parse(value, context);
  }
}

export class ZodPromise extends ZodType {
  _parse(value, context) {
    return Promise.resolve(value).then((v) => this._def.type._parse(v, context));
  }
}

ZodType.prototype.array = function array() {
  return new ZodArray({ type: this });
};
ZodType.prototype.or = function or(other) {
  return new ZodUnion({ options: [this, other] });
};
ZodType.prototype.and = function and(other) {
  return new ZodIntersection({ left: this, right: other });
};
