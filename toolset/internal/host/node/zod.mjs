// The module "zod" for skills that do not bring the package. See zod/base.mjs.

import * as base from './zod/base.mjs';
import * as parts from './zod/parts.mjs';
import * as scalars from './zod/scalars.mjs';
import { fromZod } from './zod/schema.mjs';

export { NEVER, ZodCatch, ZodDefault, ZodEffects, ZodError, ZodNullable, ZodOptional, ZodPipeline, ZodReadonly, ZodType } from './zod/base.mjs';
export {
  ZodArray, ZodDiscriminatedUnion, ZodIntersection, ZodLazy, ZodObject, ZodPromise, ZodRecord, ZodSet, ZodTuple, ZodUnion,
} from './zod/parts.mjs';
export {
  ZodAny, ZodBigInt, ZodBoolean, ZodDate, ZodEnum, ZodLiteral, ZodNativeEnum, ZodNever, ZodNull, ZodNumber, ZodString, ZodUndefined,
  ZodUnknown, ZodVoid,
} from './zod/scalars.mjs';
export { ZodType as Schema, ZodType as ZodSchema, ZodType as ZodTypeAny } from './zod/base.mjs';

const facts = (options) => (typeof options === 'string' ? { message: options } : options ?? {});

export const string = (options) => new scalars.ZodString(facts(options));
export const number = (options) => new scalars.ZodNumber(facts(options));
export const bigint = (options) => new scalars.ZodBigInt(facts(options));
export const boolean = (options) => new scalars.ZodBoolean(facts(options));
export const date = (options) => new scalars.ZodDate(facts(options));
export const any = () => new scalars.ZodAny({});
export const unknown = () => new scalars.ZodUnknown({});
export const never = (options) => new scalars.ZodNever(facts(options));
export const literal = (value, options) => new scalars.ZodLiteral({ ...facts(options), value, ...(Array.isArray(value) ? { values: value } : {}) });
export const nativeEnum = (values, options) => new scalars.ZodNativeEnum({ ...facts(options), values });
export const object = (shape = {}, options = undefined) => new parts.ZodObject({ ...facts(options), shape: () => shape });
export const strictObject = (shape, options) => object(shape, options).strict();
export const looseObject = (shape, options) => object(shape, options).passthrough();
export const array = (type, options) => new parts.ZodArray({ ...facts(options), type });
export const set = (valueType, options) => new parts.ZodSet({ ...facts(options), valueType });
export const tuple = (items, rest) => new parts.ZodTuple({ items, ...(rest instanceof base.ZodType ? { rest } : {}) });
export const union = (options, own) => new parts.ZodUnion({ ...facts(own), options });
export const intersection = (left, right) => new parts.ZodIntersection({ left, right });
export const lazy = (getter) => new parts.ZodLazy({ getter });
export const promise = (type) => new parts.ZodPromise({ type });
export const optional = (schema) => schema.optional();
export const nullable = (schema) => schema.nullable();
export const nullish = (schema) => schema.nullish();
export const toJSONSchema = (schema) => fromZod(schema);
export const int = (options) => number(options).int();
export const nan = () => any().refine((v) => Number.isNaN(v), 'must be NaN');

const enumeration = (values, options) => (Array.isArray(values) ? new scalars.ZodEnum({ ...facts(options), values }) : nativeEnum(values, options));
const nothing = () => new scalars.ZodNull({});
const left_out = () => new scalars.ZodUndefined({});
const nowhere = () => new scalars.ZodVoid({});
export { enumeration as enum, left_out as undefined, nothing as null, nowhere as void };

export function record(key, value) {
  return new parts.ZodRecord(value === undefined ? { keyType: string(), valueType: key } : { keyType: key, valueType: value });
}

export const partialRecord = record;
export const map = (keyType, valueType) => new parts.ZodRecord({ keyType, valueType, makeMap: true });

export function discriminatedUnion(discriminator, options, own) {
  return new parts.ZodDiscriminatedUnion({ ...facts(own), discriminator, options });
}

export function preprocess(transform, schema) {
  return new base.ZodEffects({ schema, effect: { type: 'preprocess', transform } });
}

export const custom = (check, own) => (check ? any().refine(check, own) : any());

function instance(cls, own) {
  return any().refine((value) => value instanceof cls, own ?? `must be a ${cls.name}`);
}
export { instance as instanceof };

export function stringbool({ truthy = ['true', '1', 'yes', 'on', 'y', 'enabled'], falsy = ['false', '0', 'no', 'off', 'n', 'disabled'] } = {}) {
  return string().toLowerCase().refine((s) => truthy.includes(s) || falsy.includes(s), 'must be true or false').transform((s) => truthy.includes(s));
}

export const coerce = {
  string: (options) => new scalars.ZodString({ ...facts(options), coerce: true }),
  number: (options) => new scalars.ZodNumber({ ...facts(options), coerce: true }),
  boolean: (options) => new scalars.ZodBoolean({ ...facts(options), coerce: true }),
  date: (options) => new scalars.ZodDate({ ...facts(options), coerce: true }),
  bigint: (options) => new scalars.ZodBigInt({ ...facts(options), coerce: true }),
};

const format = (kind) => (options) => string()[kind](options);
export const email = format('email');
export const url = format('url');
export const httpUrl = format('url');
export const uuid = format('uuid');
export const guid = format('uuid');
export const cuid = format('cuid');
export const cuid2 = format('cuid2');
export const ulid = format('ulid');
export const nanoid = format('nanoid');
export const emoji = format('emoji');
export const ipv4 = format('ipv4');
export const ipv6 = format('ipv6');
export const base64 = format('base64');
export const base64url = format('base64url');
export const jwt = format('jwt');
export const e164 = format('e164');
export const iso = { date: format('date'), time: format('time'), datetime: format('datetime'), duration: format('duration') };

export const ZodIssueCode = {
  custom: 'custom', invalid_type: 'invalid_type', invalid_string: 'invalid_string', too_small: 'too_small', too_big: 'too_big',
  invalid_union: 'invalid_union', unrecognized_keys: 'unrecognized_keys', invalid_enum_value: 'invalid_enum_value',
};

import * as z from './zod.mjs';

export { z };
export default z;
