const { z } = require('zod');
const { Tool } = require('@agent/tools');
const helper = require('./folder');
module.exports = { Common: [Tool.define('common', { parameters: z.object({ a: z.string() }), execute: ({ a }) => helper.mark + a })] };
