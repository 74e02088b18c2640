// Schemas of values without parts: text, numbers, dates, choices.

import { got } from '../check.mjs';
import { NEVER, words, ZodType } from './base.mjs';

// FORMATS are the kinds of text that have a name: what they match, and how an error names them.
export const FORMATS = {
  email: [/^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}$/, 'an email address'],
  url: [(text) => URL.canParse(text), 'a URL'],
  uuid: [/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, 'a UUID'],
  cuid: [/^c[^\s-]{8,}$/i, 'a cuid'],
  cuid2: [/^[0-9a-z]+$/, 'a cuid2'],
  ulid: [/^[0-9A-HJKMNP-TV-Z]{26}$/i, 'a ULID'],
  nanoid: [/^[A-Za-z0-9_-]{21}$/, 'a nanoid'],
  emoji: [/^(?:\p{Extended_Pictographic}|\p{Emoji_Component})+$/u, 'an emoji'],
  date: [(text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), 'a date such as 2026-01-31'],
  time: [/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/, 'a time of day such as 09:30:00'],
  datetime: [(text, check) => moment(text, check), 'a time such as 2026-01-31T09:30:00Z'],
  duration: [/^P(?=.)(\d+(\.\d+)?Y)?(\d+(\.\d+)?M)?(\d+(\.\d+)?W)?(\d+(\.\d+)?D)?(T(?=.)(\d+(\.\d+)?H)?(\d+(\.\d+)?M)?(\d+(\.\d+)?S)?)?$/, 'a duration such as PT1H30M'],
  ipv4: [/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/, 'an IPv4 address'],
  ipv6: [(text) => text.includes(':') && URL.canParse(`http://[${text}]`), 'an IPv6 address'],
  ip: [(text) => FORMATS.ipv4[0].test(text) || FORMATS.ipv6[0](text), 'an IP address'],
  base64: [/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'base64'],
  base64url: [/^[A-Za-z0-9_-]*={0,2}$/, 'base64url'],
  jwt: [/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/, 'a JWT'],
  e164: [/^\+[1-9]\d{6,14}$/, 'a phone number such as +493012345'],
};

function moment(text, { offset = false, local = false } = {}) {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  if (!form || Number.isNaN(Date.parse(text.slice(0, 10)))) return false;
  return form[1] === 'Z' || (form[1] === undefined ? local : offset);
}

// CHECKS say what is wrong with a text, or "" if nothing is.
const CHECKS = {
  min: (text, c) => (text.length < c.value ? `must have at least ${c.value} characters` : ''),
  max: (text, c) => (text.length > c.value ? `must have at most ${c.value} characters` : ''),
  length: (text, c) => (text.length !== c.value ? `must have ${c.value} characters` : ''),
  regex: (text, c) => (text.search(c.regex) < 0 ? `must match ${c.regex.source}` : ''),
  includes: (text, c) => (text.includes(c.value) ? '' : `must have ${JSON.stringify(c.value)} in it`),
  startsWith: (text, c) => (text.startsWith(c.value) ? '' : `must begin with ${JSON.stringify(c.value)}`),
  endsWith: (text, c) => (text.endsWith(c.value) ? '' : `must end with ${JSON.stringify(c.value)}`),
};

const CHANGES = { trim: (s) => s.trim(), toLowerCase: (s) => s.toLowerCase(), toUpperCase: (s) => s.toUpperCase(), normalize: (s) => s.normalize() };

export class ZodString extends ZodType {
  constructor(def) {
    super({ checks: [], ...def });
  }

  _parse(value, context) {
    let text = this._def.coerce && value !== undefined ? String(value) : value;
    if (typeof text !== 'string') return this._type(context, 'text', value);
    let good = true;
    for (const check of this._def.checks) {
      if (CHANGES[check.kind]) {
        text = CHANGES[check.kind](text);
        continue;
      }
      const problem = this.#problem(text, check);
      if (problem) {
        context.fail('invalid_string', problem, check.message ?? (this._def.format === check.kind ? this._def : undefined), { validation: check.kind });
        good = false;
      }
    }
    return good ? text : NEVER;
  }

  #problem(text, check) {
    if (CHECKS[check.kind]) return CHECKS[check.kind](text, check);
    const [test, name] = FORMATS[check.version ? `ip${check.version}` : check.kind];
    const good = test instanceof RegExp ? test.test(text) : test(text, check);
    return good ? '' : `must be ${name}, not ${got(text)}`;
  }

  _check(kind, facts, own) {
    return this._with({ checks: [...this._def.checks, { kind, ...facts, message: words(own) }] });
  }

  min(value, own) { return this._check('min', { value }, own); }
  max(value, own) { return this._check('max', { value }, own); }
  length(value, own) { return this._check('length', { value }, own); }
  nonempty(own) { return this.min(1, own); }
  regex(regex, own) { return this._check('regex', { regex }, own); }
  includes(value, own) { return this._check('includes', { value }, own); }
  startsWith(value, own) { return this._check('startsWith', { value }, own); }
  endsWith(value, own) { return this._check('endsWith', { value }, own); }
  lowercase(own) { return this.regex(/^[^A-Z]*$/, own); }
  uppercase(own) { return this.regex(/^[^a-z]*$/, own); }
  ip(options) { return this._check('ip', { version: options?.version }, options); }
}

for (const kind of Object.keys(FORMATS)) {
  ZodString.prototype[kind] ??= function format(options) {
    return this._check(kind, typeof options === 'object' ? options : {}, options);
  };
}
ZodString.prototype.guid = ZodString.prototype.uuid;
for (const kind of Object.keys(CHANGES)) {
  ZodString.prototype[kind] = function change() {
    return this._check(kind, {});
  };
}

export class ZodNumber extends ZodType {
  constructor(def) {
    super({ checks: [], ...def });
  }

  _parse(value, context) {
    const number = this._def.coerce && value !== undefined ? Number(value) : value;
    if (typeof number !== 'number' || Number.isNaN(number)) return this._type(context, this.isInt ? 'an integer' : 'a number', value);
    let good = true;
    for (const check of this._def.checks) {
      const problem = outside(number, check);
      if (problem) {
        context.fail('out_of_range', `must be ${problem}, not ${got(number)}`, check.message);
        good = false;
      }
    }
    return good ? number : NEVER;
  }

  get isInt() {
    return this._def.checks.some((c) => c.kind === 'int');
  }

  _check(kind, facts, own) {
    return this._with({ checks: [...this._def.checks, { kind, ...facts, message: words(own) }] });
  }

  min(value, own) { return this._check('min', { value, inclusive: true }, own); }
  max(value, own) { return this._check('max', { value, inclusive: true }, own); }
  gte(value, own) { return this.min(value, own); }
  lte(value, own) { return this.max(value, own); }
  gt(value, own) { return this._check('min', { value, inclusive: false }, own); }
  lt(value, own) { return this._check('max', { value, inclusive: false }, own); }
  int(own) { return this._check('int', {}, own); }
  positive(own) { return this.gt(0, own); }
  negative(own) { return this.lt(0, own); }
  nonnegative(own) { return this.min(0, own); }
  nonpositive(own) { return this.max(0, own); }
  multipleOf(value, own) { return this._check('multipleOf', { value }, own); }
  step(value, own) { return this.multipleOf(value, own); }
  finite(own) { return this._check('finite', {}, own); }
  safe(own) { return this.min(Number.MIN_SAFE_INTEGER, own).max(Number.MAX_SAFE_INTEGER, own); }
}

function outside(number, check) {
  switch (check.kind) {
    case 'int': return Number.isInteger(number) ? '' : 'an integer';
    case 'finite': return Number.isFinite(number) ? '' : 'finite';
    case 'min': return number > check.value || check.inclusive && number === check.value ? '' : `${check.inclusive ? 'at least' : 'more than'} ${check.value}`;
    case 'max': return number < check.value || check.inclusive && number === check.value ? '' : `${check.inclusive ? 'at most' : 'less than'} ${check.value}`;
  }
  const steps = number / check.value;
  return Math.abs(steps - Math.round(steps)) < 1e-9 * Math.max(1, Math.abs(steps)) ? '' : `a multiple of ${check.value}`;
}

// ZodBigInt takes integers, and text with the digits of one that JavaScript's numbers do not hold.
export class ZodBigInt extends ZodType {
  _parse(value, context) {
    if (typeof value === 'bigint') return value;
    if (Number.isInteger(value) || typeof value === 'string' && /^-?\d{1,1000}$/.test(value)) return BigInt(value);
    return this._type(context, 'an integer', value);
  }
}

export class ZodBoolean extends ZodType {
  _parse(value, context) {
    const truth = this._def.coerce && value !== undefined ? Boolean(value) : value;
    return typeof truth === 'boolean' ? truth : this._type(context, 'true or false', value);
  }
}

// ZodDate takes a Date, or the text of one, because JSON has no dates.
export class ZodDate extends ZodType {
  constructor(def) {
    super({ checks: [], ...def });
  }

  _parse(value, context) {
    const text = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value);
    const date = value instanceof Date ? value : text || this._def.coerce && value !== undefined ? new Date(value) : null;
    if (date === null || Number.isNaN(date.getTime())) return this._type(context, 'a time such as 2026-01-31T09:30:00Z', value);
    for (const check of this._def.checks) {
      if (check.kind === 'min' ? date < check.value : date > check.value) {
        const word = check.kind === 'min' ? 'not be before' : 'not be after';
        return context.fail('out_of_range', `must ${word} ${check.value.toISOString()}`, check.message);
      }
    }
    return date;
  }

  min(value, own) { return this._with({ checks: [...this._def.checks, { kind: 'min', value: new Date(value), message: words(own) }] }); }
  max(value, own) { return this._with({ checks: [...this._def.checks, { kind: 'max', value: new Date(value), message: words(own) }] }); }
}

export class ZodNull extends ZodType {
  _parse(value, context) {
    return value === null ? null : this._type(context, 'null', value);
  }
}

export class ZodUndefined extends ZodType {
  _parse(value, context) {
    return value === undefined ? undefined : this._type(context, 'left out', value);
  }
}

export class ZodVoid extends ZodUndefined {}

export class ZodAny extends ZodType {
  _parse(value) {
    return value;
  }
}

export class ZodUnknown extends ZodAny {}

export class ZodNever extends ZodType {
  _parse(value, context) {
    return context.fail('invalid_type', 'is not allowed', this._def);
  }
}

// Choice is the base of schemas with a list of values.
class Choice extends ZodType {
  _parse(value, context) {
    const offered = this._offered();
    if (offered.includes(value)) return value;
    if (value === undefined) return this._type(context, 'a value', value);
    const list = `must be ${offered.length > 1 ? 'one of ' : ''}${offered.map((v) => JSON.stringify(v)).join(', ')}, not ${got(value)}`;
    return context.fail('invalid_enum_value', list, this._def, { options: offered });
  }
}

export class ZodLiteral extends Choice {
  get value() {
    return this._def.value;
  }

  _offered() {
    return this._def.values ?? [this._def.value];
  }
}

export class ZodEnum extends Choice {
  get options() {
    return this._def.values;
  }

  get enum() {
    return Object.fromEntries(this._def.values.map((v) => [v, v]));
  }

  get Values() { return this.enum; }
  get Enum() { return this.enum; }
  extract(values) { return this._with({ values }); }
  exclude(values) { return this._with({ values: this._def.values.filter((v) => !values.includes(v)) }); }
  _offered() { return this._def.values; }
}

export class ZodNativeEnum extends Choice {
  get enum() {
    return this._def.values;
  }

  get options() {
    return this._offered();
  }

  _offered() {
    return enumValues(this._def.values);
  }
}

// enumValues are the values of an enum of TypeScript, which also has its numbers as names.
export function enumValues(object) {
  return Object.keys(object).filter((key) => typeof object[object[key]] !== 'number').map((key) => object[key]);
}
