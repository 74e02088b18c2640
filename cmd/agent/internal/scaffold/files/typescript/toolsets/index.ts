// The tools of this skill: an example to replace. The host provides both packages.
import { Tool } from "@agent/tools";
import { z } from "zod";

export const HelloTools = [
  Tool.define("{{tool}}_hello", {
    description: "Greet somebody by name.",
    parameters: z.object({
      name: z.string().describe('who is greeted, such as "Ada"'),
      times: z.number().int().min(1).default(1).describe("how often, at least 1"),
    }),
    async execute({ name, times }) {
      const greeting = Array(times).fill(`Hello, ${name}!`).join(" ");
      return { title: `Greeted ${name}`, metadata: { times }, output: greeting };
    },
  }),
];
