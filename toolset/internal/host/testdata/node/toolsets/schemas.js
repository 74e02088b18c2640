// Tools whose arguments have the kinds of zod schemas that toolsets use.
import * as four from 'zod';
import * as three from 'zod/v3';
import { Tool } from '@agent/tools';

const show = (value) => JSON.stringify(value, (k, v) => (v instanceof Set ? { set: [...v] } : v instanceof Map ? { map: [...v] } : typeof v === 'bigint' ? `${v}n` : v));
const echo = (name, parameters, description) => Tool.define(name, { description, parameters, execute: async (args) => show(args) });
const Color = { Red: 'red', Blue: 'blue' };
const Level = { 1: 'Low', 2: 'High', Low: 1, High: 2 }; // an enum of TypeScript
// Schemas has what zod 3 and zod 4 have.
function schemas(z) {
  const Address = z.object({ street: z.string(), zip: z.string().regex(/^\d{5}$/, 'must be five digits').optional() }).describe('where');
  const Category = z.object({ name: z.string(), children: z.lazy(() => z.array(Category)).optional() });
  const Node = z.lazy(() => z.object({ value: z.number(), next: Node.optional() }));

  return [
    echo('scalars', z.object({ a: z.string(), b: z.number(), c: z.number().int(), d: z.boolean(), e: z.null(), f: z.any(), g: z.unknown() }), '  Echo.  '),
    echo('text', z.object({
      a: z.string().min(2).max(4), b: z.string().email().optional(), c: z.string().url().optional(), d: z.string().uuid().optional(),
      e: z.string().regex(/^a.c$/i).optional(), f: z.string().startsWith('x.').endsWith('y').optional(), g: z.string().datetime().optional(),
      h: z.string().trim().toLowerCase().optional(), i: z.string().length(3).optional(), j: z.string().nonempty('say something').optional(),
    })),
    echo('numbers', z.object({ a: z.number().min(1).max(10).default(5), b: z.number().positive().optional(), c: z.number().multipleOf(0.1).optional(), d: z.number().int().gte(0).lt(3).optional() })),
    echo('choices', z.object({ a: z.enum(['x', 'y']), b: z.nativeEnum(Color).optional(), c: z.nativeEnum(Level).optional(), d: z.literal('only').optional(), e: z.union([z.literal(1), z.literal('one')]).optional() })),
    echo('lists', z.object({ a: z.array(z.string()).min(1).max(2), b: z.tuple([z.string(), z.number()]).optional(), c: z.tuple([z.number(), z.number()]).optional(), e: z.string().array().nonempty().optional() })),
    echo('records', z.object({ a: z.record(z.string(), z.number()), b: z.record(z.string(), z.boolean()).optional() })),
    echo('objects', z.object({ a: Address, b: Address.partial().optional(), c: z.object({}).passthrough().optional(), d: z.object({ x: z.number() }).strict().optional(), e: Address.pick({ street: true }).extend({ n: z.number() }).optional(), f: z.object({ x: z.number() }).catchall(z.string()).optional() })),
    echo('unions', z.object({ a: z.union([z.string(), z.number()]), b: z.string().nullable(), c: z.string().nullish(), d: z.string().or(z.boolean()).optional(), e: z.object({ x: z.string() }).and(z.object({ y: z.number() })).optional() })),
    echo('shapes', z.discriminatedUnion('kind', [z.object({ kind: z.literal('circle'), r: z.number() }), z.object({ kind: z.enum(['square', 'box']), side: z.number() })])),
    echo('effects', z.object({
      a: z.string().transform((s) => s.length), b: z.preprocess((v) => Number(v), z.number()).optional(), c: z.string().refine((s) => s !== 'no', { message: 'must not be no' }).optional(),
      d: z.coerce.number().optional(), f: z.date().optional(), g: z.string().pipe(z.coerce.number()).optional(), h: z.string().catch('caught').optional(),
      i: z.string().refine(async (s) => s !== 'late', 'must not be late').optional(),
    }).superRefine((value, ctx) => { if (value.c === 'both' && value.d) ctx.addIssue({ code: 'custom', path: ['d'], message: 'must not be there with c' }); })),
    echo('tree', Category),
    echo('chain', z.object({ node: Node })),
    echo('strict', z.object({ a: z.string() }).strict()),
    echo('described', z.object({ a: z.string().describe('inner').optional(), b: z.string().optional().describe('outer'), c: z.number().default(3).describe('with default') })),
  ];
}

export const Schemas = schemas(four);
export const Old = schemas(three);
