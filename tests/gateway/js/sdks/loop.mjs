// The loop that every SDK runs: a question, the tool call, its result, the answer.
// node <sdk>.mjs <gateway URL> <model> <file>...   Each file is requested twice: whole and streamed.
import { writeFile } from "node:fs/promises";

const [address, model, ...files] = process.argv.slice(2);

export { address, model };

export const TOOL = { name: "write_file", description: "Write a text file" };

export const SCHEMA = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
};

export async function runTool(name, { path, content }) {
  if (name !== TOOL.name) throw new Error(`unknown tool ${name}`);
  await writeFile(path, content);
  return `wrote ${content.length} characters to ${path}`;
}

// `talk(question, stream)` resolves to the final answer's text; one line of JSON for each.
export async function goThrough(...talks) {
  for (const talk of talks)
    for (const file of files)
      for (const stream of [false, true]) {
        const path = `${talk.name}-${stream ? "streamed" : "whole"}-${file}`;
        const answer = await talk(`Write the file ${path}, please.`, stream);
        console.log(JSON.stringify({ path, answer }));
      }
}

export function only(calls) {
  if (calls.length !== 1) throw new Error(`expected one call, got ${JSON.stringify(calls)}`);
  return calls[0];
}
