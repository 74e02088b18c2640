// The tools of this skill: an example to replace. The host provides the package; zod schemas are parameters too.
import { Tool } from "@agent/tools";

export const HelloTools = [
  Tool.define("{{tool}}_hello", {
    description: "Greet somebody by name.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: 'who is greeted, such as "Ada"' },
        times: { type: "integer", minimum: 1, description: "how often, at least 1" },
      },
      required: ["name"],
    },
    async execute({ name, times = 1 }) {
      const greeting = Array(times).fill(`Hello, ${name}!`).join(" ");
      return { title: `Greeted ${name}`, metadata: { times }, output: greeting };
    },
  }),
];
