// Toolsets in the shapes that people export.
import { z, ZodError } from 'zod';
import zod from 'zod';
import * as all from 'zod';
import { Tool, tool } from '@agent/tools';

export class WithTools {
  constructor(config) {
    this.name = config.skillName;
  }

  getTools() {
    return [{ name: 'name', description: 'The name', inputSchema: { type: 'object', properties: {} }, handler: () => this.name }];
  }

  close() {
    console.log('closed');
  }
}

export class Methods {
  static tools = { greet: { description: 'Greet.', parameters: z.object({ name: z.string() }) } };

  constructor() {
    this.count = 0;
  }

  greet({ name }, ctx) {
    this.count++;
    return `${this.count} ${name} ${ctx.signal instanceof AbortSignal}`;
  }

  hidden() {}
}

export class Plain {
  one() { return 1; }
  async two(args) { return args; }
  _private() {}
  get three() { throw new Error('getters are not read'); }
}

export class Fields {
  greet = Tool.define('greet', { parameters: z.object({}), execute: () => 'field' });
}

export const Sdk = { // as other kits have it: names are those of the members
  weather: { description: 'Weather', parameters: z.object({ city: z.string() }), execute: async ({ city }, { toolCallId, abortSignal }) => `${city} ${typeof toolCallId} ${abortSignal.aborted}` },
  forecast: tool({ inputSchema: z.object({ days: z.number() }), execute: async ({ days }) => ({ days }) }),
  schema: { inputSchema: { jsonSchema: { type: 'object', properties: { a: { type: 'string' } } }, validate: (v) => (v.a ? { success: true, value: { a: v.a + '!' } } : { success: false, error: new Error('a is needed') }) }, execute: ({ a }) => a },
};

export const Raw = [
  { name: 'json', parameters: { type: 'object', properties: { a: { type: 'string', minLength: 2 }, b: { type: 'array', items: { type: 'integer' } }, c: { enum: ['x'] }, d: { anyOf: [{ type: 'number' }, { type: 'null' }] } }, required: ['a'], additionalProperties: false }, execute: (args) => args },
  { name: 'shape', inputSchema: { a: z.string().describe('an a'), b: z.number().optional() }, execute: (args) => args },
  { name: 'none', execute: () => 'none' },
  { id: 'with_id', parameters: z.object({}), run: () => 'id' },
  Tool.define('lazy', async () => ({ description: 'Later', parameters: z.object({}), execute: () => 'lazy' })),
  { name: 'standard', parameters: { '~standard': { version: 1, vendor: 'own', validate: (v) => (v.a === 1 ? { value: v } : { issues: [{ message: 'Expected one', path: ['a'] }] }), jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'number' } } }) } } }, execute: (args) => args },
];

export const factory = (config) => [{ name: 'made', execute: () => config.skillName }];
export const later = Promise.resolve([{ name: 'later', execute: () => 'later' }]);
export const One = Tool.define('one', { parameters: z.object({}), execute: () => 'one' });
export default [{ name: 'main', execute: () => [zod === z, all.object === z.object, typeof ZodError] }];

// What cannot be used.
export const Number = 3;
export const Empty = null;
export const Wrong = [3, { name: 'no function' }, { name: 'bad name', execute() {} }, { name: 'list', parameters: z.array(z.string()), execute() {} }, { name: 'twice', execute: () => 1 }, { name: 'twice', execute: () => 2 }, { name: 'foreign', parameters: { '~standard': { vendor: 'valibot', validate() {} } }, execute() {} }];
export class Throws {
  constructor() {
    throw new RangeError('no key');
  }
}
