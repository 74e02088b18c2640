// A toolset in TypeScript: an array of tools. The host of toolsets provides both packages.
import { Tool } from '@agent/tools'
import { z } from 'zod'

const GREETINGS: Record<string, string> = {
  en: 'Hello, {}!',
  es: '¡Hola, {}!',
  fr: 'Bonjour, {}!',
  de: 'Guten Tag, {}!',
  ja: 'こんにちは, {}さん!',
  zh: '你好, {}!',
}

const language = z.string().default('en').describe('en, es, fr, de, ja or zh')

function greet(name: string, code: string): string {
  const pattern = GREETINGS[code]
  if (pattern === undefined) {
    throw new Error(`unsupported_language: '${code}'. Available: ${Object.keys(GREETINGS).join(', ')}`)
  }
  return pattern.replace('{}', () => name)
}

export const HelloToolset = [
  Tool.define('greet_in_language', {
    description: 'Greet one person in a language.',
    parameters: z.object({ name: z.string().describe('who is greeted, such as "Ada"'), language }),
    async execute(args: { name: string; language: string }) {
      return { title: `Greeting in ${args.language}`, metadata: { language: args.language }, output: greet(args.name, args.language) }
    },
  }),
  Tool.define('greet_multiple', {
    description: 'Greet several people in a language.',
    parameters: z.object({ names: z.array(z.string()).describe('who is greeted, such as ["Ada", "Alan"]'), language }),
    async execute(args: { names: string[]; language: string }) {
      return { title: `${args.names.length} greetings`, metadata: { language: args.language }, output: args.names.map((n) => greet(n, args.language)).join('\n') }
    },
  }),
]
