// A hook of Claude Code that says yes to every question of an MCP server, and writes the question into a file.
import { appendFileSync, readFileSync } from "node:fs";

const { message, requested_schema: schema } = JSON.parse(readFileSync(0, "utf8"));
appendFileSync(process.argv[2], message.replaceAll("\n", " ") + "\n");
const first = (field) => field.enum?.[0] ?? field.oneOf?.[0]?.const ?? true;
const fields = Object.entries(schema?.properties ?? {});
const content = Object.fromEntries(fields.map(([name, field]) => [name, first(field)]));
console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "Elicitation", action: "accept", content } }));
