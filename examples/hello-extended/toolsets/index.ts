// Greetings in several languages: an example of a toolset in TypeScript.
//
// The host that loads this file provides both modules. An exported array of tools is a toolset; the schema of a tool's
// parameters is what the model is told, and what its arguments are checked against.

import { Tool } from '@agent/tools';
import { z } from 'zod';

const greetings = {
  en: 'Hello, {}!',
  es: '¡Hola, {}!',
  fr: 'Bonjour, {}!',
  de: 'Guten Tag, {}!',
  ja: 'こんにちは, {}さん!',
  zh: '你好, {}!',
} as const;

type Language = keyof typeof greetings;

const language = z
  .enum(['en', 'es', 'fr', 'de', 'ja', 'zh'])
  .default('en')
  .describe('the language of the greeting');

function greeting(name: string, code: Language): string {
  return greetings[code].replace('{}', () => name);
}

export const greetInLanguage = Tool.define('greet_in_language', {
  description: 'Greet one person in a language.',
  parameters: z.object({
    name: z.string().min(1).describe('who is greeted, such as "Ada"'),
    language,
  }),
  execute: async (args: { name: string; language: Language }) => ({
    title: `Greeting in ${args.language}`,
    metadata: { language: args.language },
    output: greeting(args.name, args.language),
  }),
});

export const greetMultiple = Tool.define('greet_multiple', {
  description: 'Greet several people in a language.',
  parameters: z.object({
    names: z.array(z.string().min(1)).min(1).max(100).describe('who is greeted, such as ["Ada", "Alan"]'),
    language,
  }),
  execute: async (args: { names: string[]; language: Language }) => ({
    title: `${args.names.length} greetings in ${args.language}`,
    metadata: { language: args.language, count: args.names.length },
    output: args.names.map((name) => greeting(name, args.language)),
  }),
});

export const HelloToolset = [greetInLanguage, greetMultiple];
