// How node finds modules for toolsets. Old versions run resolve in a thread of its own, newer ones call resolveSync.

// TOOLS is the module that the host has.
export const TOOLS = '@agent/tools';
export const TOOLS_URL = new URL('./agent-tools.mjs', import.meta.url).href;

export function resolveSync(specifier, context, next) {
  if (specifier === TOOLS) return OURS;
  try {
    return next(specifier, context);
  } catch (error) {
    for (const other of alternatives(specifier, context.parentURL)) {
      try {
        return next(other, context);
      } catch { // the first error says what the file asked for
        continue;
      }
    }
    throw error;
  }
}

export async function resolve(specifier, context, next) {
  if (specifier === TOOLS) return OURS;
  try {
    return await next(specifier, context);
  } catch (error) {
    for (const other of alternatives(specifier, context.parentURL)) {
      try {
        return await next(other, context);
      } catch {
        continue;
      }
    }
    throw error;
  }
}

const OURS = { url: TOOLS_URL, format: 'module', shortCircuit: true };

// alternatives are the files that compilers of TypeScript find for a relative import: without an ending, or with that of the
// compiled file.
function alternatives(specifier, parent) {
  if (!/^\.{1,2}\//.test(specifier) || parent?.includes('/node_modules/')) return [];
  const compiled = /^(.*)\.([mc]?)js$/.exec(specifier);
  if (compiled) return [`${compiled[1]}.${compiled[2]}ts`];
  const endings = ['.ts', '.mts', '.js', '.mjs', '.cjs'];
  return [...endings.map((e) => specifier + e), ...endings.map((e) => `${specifier}/index${e}`)];
}
