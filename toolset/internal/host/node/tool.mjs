// One tool: what the engine is told about it, and how it is called.

import { inputOf } from './schema.mjs';
import { runner } from './shapes.mjs';
import { Unusable } from './trace.mjs';

export class Tool {
  // from makes a tool of a definition. It throws if a model cannot call it.
  static async from(definition, config) {
    if (definition === null || typeof definition !== 'object') throw new Unusable(`${String(definition)} is not a tool`);
    if (typeof definition.init === 'function') definition = { ...definition, ...(await definition.init()) };
    const tool = new Tool();
    tool.short = String(definition.name ?? definition.id ?? '');
    tool.description = String(definition.description ?? '').trim();
    tool.config = config;
    tool.run = runner(definition);
    if (typeof tool.run !== 'function') throw new Unusable('it has no function execute');
    const input = definition.parameters ?? definition.inputSchema ?? definition.input_schema ?? definition.schema ?? definition.args;
    ({ schema: tool.schema, check: tool.check } = await inputOf(input));
    tool.definition = definition;
    return tool;
  }

  // describe is the tool as MCP's tools/list has it.
  describe() {
    const facts = { name: this.name, inputSchema: this.schema, _meta: { 'agent-base/toolset': this.entry } };
    if (this.description) facts.description = this.description;
    return facts;
  }

  // call checks the arguments and runs the tool.
  async call(given, signal) {
    const args = await this.check(given);
    signal.throwIfAborted();
    const log = (...words) => console.error(`[${this.name}]`, ...words);
    for (const level of ['debug', 'info', 'warn', 'error']) log[level] = log;
    // abort, abortSignal and metadata are the names that tools of other programs use
    const ctx = { signal, config: this.config, log, abort: signal, abortSignal: signal, metadata() {}, toolCallId: '', messages: [] };
    return this.run.call(this.definition, args, ctx);
  }
}
