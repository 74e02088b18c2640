import { execSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';

const tool = (name, execute) => ({ name, execute });
const waiting = [];
const seen = [];

export const Results = [
  tool('text', () => 'plain\ntext'),
  tool('nothing', () => undefined),
  tool('error', () => ({ success: false, error: 'not_found', message: 'no such thing' })),
  tool('success', () => ({ success: true, result: 1, message: 'done' })),
  tool('output', () => ({ title: 'T', metadata: { a: 1 }, output: 'o' })),
  tool('objects', () => [new Date(0), new Map([['a', 1]]), new Set([1]), new URL('http://x/'), { a: undefined, b: () => 1, __proto__: { c: 1 } }, new Error('inside'), new Float32Array([1.5])]),
  tool('numbers', () => [NaN, Infinity, -Infinity, 12345678901234567890n, 5n, -0, 1e300]),
  tool('unicode', () => 'é 你好 \ud800'),
  tool('bytes', () => Buffer.from('abc')),
  tool('function', () => () => 1),
  tool('itself', () => { const a = {}; a.a = a; return a; }),
  tool('generator', function* generate() { yield 1; yield 2; }),
  tool('asyncGenerator', async function* generate() { yield 1; yield 2; }),
  tool('endless', function* generate() { while (true) yield 1; }),
  tool('content', () => ({ content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] })),
  tool('contentError', () => ({ content: [{ type: 'text', text: 'went wrong' }], isError: true })),
  tool('response', () => new Response('x')),
  { name: 'big', parameters: { type: 'object', properties: { size: { type: 'integer' } } }, execute: ({ size }) => 'x'.repeat(size) },
  tool('fail', () => { throw new RangeError('not like this'); }),
  tool('failText', () => { throw 'only text'; }),
  tool('failNothing', () => Promise.reject()),
  tool('returnsError', () => new TypeError('returned')),
  tool('exit', () => process.exit(3)),
  tool('exitLater', async () => { setTimeout(() => process.exit(3), 1); setTimeout(() => { throw new Error('nobody catches it'); }, 1); Promise.reject(new Error('nobody awaits it')); await new Promise((r) => setTimeout(r, 20)); return 'still here'; }),
  tool('recursion', function recurse() { return 1 + recurse(); }),
  tool('missing', async () => import('nonexistent-package')),
  tool('prints', () => {
    console.log('{"jsonrpc":"2.0"}'); console.info('stray info'); console.table([{ stray: 1 }]);
    process.stdout.write('stray write\n');
    fs.writeSync(1, 'stray descriptor\n');
    spawnSync('sh', ['-c', 'echo stray child'], { stdio: 'inherit' });
    execSync('echo stray error >&2', { stdio: ['inherit', 'inherit', 'inherit'] });
    return 'printed';
  }),
  tool('printsMuch', () => {
    console.log('much '.repeat(1 << 18));
    process.stdout.write('the last line of much\n');
    return process.stdout.writableLength;
  }),
  tool('reads', () => JSON.stringify(execSync('cat', { stdio: ['inherit', 'pipe', 'inherit'] }).toString())),
  tool('config', (args, ctx) => { ctx.log('logged'); ctx.log.warn('warned'); return [ctx.config.skillName, ctx.config.workspace, ctx.config.cacheDir, ctx.config.skillDir.endsWith('node'), Object.isFrozen(ctx.config)]; }),
  tool('meet', () => new Promise((resolve) => { waiting.push(resolve); if (waiting.length === 2) waiting.splice(0).forEach((r) => r('met')); })),
  tool('cancelled', (args, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => { seen.push(signal.reason.name); reject(signal.reason); }))),
  tool('were', () => seen),
  tool('forever', () => new Promise(() => setInterval(() => {}, 1000))),
];
