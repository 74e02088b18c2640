// The MCP server: reads requests, runs tools at the same time, and writes results.

import { lines } from './streams.mjs';
import { describe, ExitError, trim } from './trace.mjs';
import { plain } from './values.mjs';

const PROTOCOL = '2025-06-18';
const GRACE = 2000; // milliseconds that calls and toolsets get to end when the input ends

export class Server {
  #wire;
  #toolsets;
  #options;
  #calls = new Map(); // the calls that run: id to AbortController
  #exit;

  // The constructor makes process.exit an exception, and failures that nothing catches a line on standard error.
  constructor(wire, toolsets, options) {
    this.#wire = wire;
    this.#toolsets = toolsets;
    this.#options = options;
    this.#exit = (globalThis.Deno?.exit ?? process.exit).bind(process);
    const refuse = (code) => { throw new ExitError(code); };
    process.exit = refuse;
    if (globalThis.Deno) globalThis.Deno.exit = refuse;
    for (const event of ['uncaughtException', 'unhandledRejection']) {
      process.on(event, (error) => console.error(`${event}: ${describe(error)}\n${trim(error, options.skill)}`));
    }
  }

  // serve answers requests until the input ends, and then ends the process.
  async serve() {
    for await (const line of lines(this.#wire.input)) {
      if (line.trim()) this.#receive(parse(line));
    }
    for (const controller of this.#calls.values()) controller.abort();
    this.#calls.clear();
    setTimeout(() => this.#exit(0), GRACE);
    await this.#toolsets.close();
    this.#exit(0);
  }

  #receive(message) {
    if (message === null) {
      this.#send({ id: null, error: { code: -32700, message: 'the line is not a JSON object' } });
      return;
    }
    const { id, method, params } = message;
    if (method === 'notifications/cancelled') this.#cancel(params?.requestId);
    if (id === undefined || method === undefined) return;
    if (method === 'tools/call') {
      void this.#call(id, params ?? {});
      return;
    }
    const result = this.#answer(method, params);
    this.#send(result ? { id, result } : { id, error: { code: -32601, message: `there is no method ${method}` } });
  }

  #answer(method, params) {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params?.protocolVersion ?? PROTOCOL,
          capabilities: { tools: {} },
          serverInfo: { name: 'agent-base-javascript-toolsets', version: '1' },
        };
      case 'ping':
        return {};
      case 'tools/list':
        return {
          tools: [...this.#toolsets.tools.values()].map((tool) => tool.describe()),
          _meta: { 'agent-base/failures': this.#toolsets.failures },
        };
    }
    return null;
  }

  async #call(id, params) {
    const tool = this.#toolsets.tools.get(params.name);
    if (!tool) {
      this.#send({ id, error: { code: -32602, message: `there is no tool ${JSON.stringify(params.name)}` } });
      return;
    }
    const controller = new AbortController();
    this.#calls.set(id, controller);
    let result;
    try {
      result = this.#result(await plain(await tool.call(params.arguments ?? {}, controller.signal)));
    } catch (error) {
      result = failed(error?.forModel ?? [describe(error), trim(error, this.#options.skill)].filter(Boolean).join('\n'));
    }
    if (this.#calls.get(id) !== controller) return; // cancelled: nobody waits
    this.#calls.delete(id);
    this.#send({ id, result });
  }

  #cancel(id) {
    const controller = this.#calls.get(id);
    this.#calls.delete(id);
    controller?.abort();
  }

  // #result is what a tool returned, as the result of tools/call.
  #result(value) {
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    const size = Buffer.byteLength(text);
    if (size > this.#options.maxResult) {
      return failed(`the result has ${size} bytes, more than ${this.#options.maxResult}: ` +
        'ask for less, or have the tool write a file');
    }
    const result = { content: [{ type: 'text', text }] };
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      result.structuredContent = value;
      result.isError = value.success === false;
    }
    return result;
  }

  #send(message) {
    try {
      this.#wire.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    } catch { // the engine is gone
      this.#exit(0);
    }
  }
}

function failed(text) {
  return { content: [{ type: 'text', text }], isError: true };
}

function parse(line) {
  try {
    const message = JSON.parse(line);
    return typeof message === 'object' && !Array.isArray(message) ? message : null;
  } catch {
    return null;
  }
}
