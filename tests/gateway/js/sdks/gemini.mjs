// The SDK `@google/genai`.
import { GoogleGenAI } from "@google/genai";
import { address, goThrough, model, only, runTool, SCHEMA, TOOL } from "./loop.mjs";

const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: address } });

async function generate(question, stream) {
  const config = { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }] }] };
  const contents = [{ role: "user", parts: [{ text: question }] }];
  const ask = async () => {
    const body = { model, contents, config };
    const chunks = stream ? await client.models.generateContentStream(body) : [await client.models.generateContent(body)];
    const parts = [];
    for await (const chunk of chunks) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    return parts;
  };
  const parts = await ask();
  const { id, name, args } = only(parts.filter((part) => part.functionCall)).functionCall;
  const output = await runTool(name, args);
  contents.push({ role: "model", parts });
  contents.push({ role: "user", parts: [{ functionResponse: { id, name, response: { output } } }] });
  return (await ask()).map((part) => part.text ?? "").join("");
}

await goThrough(generate);
