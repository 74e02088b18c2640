// Keeps the wire to the engine apart from the standard streams, which belong to the toolsets.

import fs from 'node:fs';

// take moves the wire away from descriptors 0 and 1. From then on 0 is empty and 1 is standard error: for console.log,
// for process.stdout and for programs that a tool starts.
export async function take() {
  const folder = process.platform === 'linux' ? '/proc/self/fd/' : '/dev/fd/';
  if (process.platform === 'win32') return patched();
  try {
    return globalThis.Deno ? fromDeno(folder) : moved(folder);
  } catch (error) {
    console.error(`standard output cannot be moved, so programs that tools start must not write to it: ${error.message}`);
    return patched();
  }
}

// moved opens the pipes a second time, and closes 0 and 1 for other files, which get the lowest free numbers.
function moved(folder) {
  const input = fs.openSync(folder + '0', 'r');
  const output = fs.openSync(folder + '1', 'a');
  fs.closeSync(0);
  fs.openSync('/dev/null', 'r');
  fs.closeSync(1);
  try {
    fs.openSync(folder + '2', 'a');
  } catch { // a socket cannot be opened so
    fs.openSync('/dev/null', 'w');
  }
  if (!globalThis.Bun) for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) atOnce(name, fd);
  return { input: fs.createReadStream(null, { fd: input }), write: (text) => writeAll(output, text) };
}

// atOnce has node write to a stream before the call returns, as bun and deno do. Otherwise what a tool prints in a loop is kept
// in memory until there is none left, and lost when it ends the process.
function atOnce(name, fd) {
  const { get, ...rest } = Object.getOwnPropertyDescriptor(process, name);
  let stream; // made when it is used first, which takes node a while
  const made = () => {
    stream ??= Object.assign(get.call(process), { _writev: null, _write: (bytes, _, done) => done(failure(() => writeAll(fd, bytes))) });
    return stream;
  };
  Object.defineProperty(process, name, { ...rest, get: made });
}

// failure is the error of a function, or null.
function failure(call) {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}

// fromDeno does the same with the system's dup2: numbers in deno are not those of the system, and deno has 0 and 1 twice.
function fromDeno(folder) {
  const { Deno } = globalThis;
  const copies = [sameFiles(folder, '0'), sameFiles(folder, '1')];
  const input = Deno.openSync(folder + '0', { read: true });
  const output = Deno.openSync(folder + '1', { append: true });
  const library = Deno.dlopen(Deno.build.os === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6', {
    dup2: { parameters: ['i32', 'i32'], result: 'i32' },
    open: { parameters: ['buffer', 'i32'], result: 'i32' },
  });
  const nothing = library.symbols.open(new TextEncoder().encode('/dev/null\0'), 0);
  for (const fd of copies[0]) library.symbols.dup2(nothing, fd);
  for (const fd of copies[1]) library.symbols.dup2(2, fd);
  const write = (text) => {
    for (let bytes = new TextEncoder().encode(text); bytes.length > 0;) bytes = bytes.subarray(output.writeSync(bytes));
  };
  return { input: input.readable, write };
}

// sameFiles are the descriptors that are open on the same file as one of them, where the system lists them.
function sameFiles(folder, fd) {
  if (process.platform !== 'linux') return [Number(fd)];
  const target = fs.readlinkSync(folder + fd);
  const same = fs.readdirSync(folder).filter((other) => {
    try {
      return Number(other) !== 2 && fs.readlinkSync(folder + other) === target;
    } catch { // closed since
      return false;
    }
  });
  return same.map(Number);
}

// patched leaves the wire where it is and redirects what JavaScript writes.
function patched() {
  const errors = process.stderr.write.bind(process.stderr);
  process.stdout.write = errors;
  for (const name of ['log', 'info', 'debug', 'dir', 'table', 'group']) console[name] = console.error.bind(console);
  return { input: process.stdin, write: (text) => writeAll(1, text) };
}

function writeAll(fd, text) {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += fs.writeSync(fd, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

// lines yields the lines of a stream of bytes.
export async function* lines(input) {
  const decoder = new TextDecoder();
  let parts = [];
  for await (const chunk of input) {
    let text = decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield parts.join('') + text.slice(0, end);
      parts = [];
      text = text.slice(end + 1);
    }
    parts.push(text);
  }
}
