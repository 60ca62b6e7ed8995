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

// A stored conversation; of a stream, the steps are put together from their events.
async function interact(question, stream) {
  const tools = [{ type: "function", ...TOOL, parameters: SCHEMA }];
  const ask = async (body) => {
    const reply = await client.interactions.create({ model, tools, stream, ...body });
    if (!stream) return reply;
    const steps = [];
    let last;
    for await (const event of reply) {
      if (event.event_type === "step.start") steps.push({ content: [], written: "", ...event.step });
      else if (event.event_type === "step.stop" && steps[event.index].written) {
        steps[event.index].arguments = JSON.parse(steps[event.index].written);
      } else if (event.event_type === "step.delta" && event.delta.type === "arguments_delta") {
        steps[event.index].written += event.delta.arguments;
      } else if (event.event_type === "step.delta") steps[event.index].content.push(event.delta);
      else if (event.event_type === "interaction.completed") last = event.interaction;
    }
    return { ...last, steps };
  };
  const first = await ask({ input: question });
  if (first.status !== "requires_action") throw new Error(first.status);
  const call = only(first.steps.filter((step) => step.type === "function_call"));
  const result = await runTool(call.name, call.arguments);
  const input = [{ type: "function_result", call_id: call.id, name: call.name, result }];
  const second = await ask({ input, previous_interaction_id: first.id });
  const stored = await client.interactions.get(second.id);
  return stored.steps.flatMap((step) => step.content ?? []).map((part) => part.text ?? "").join("");
}

await goThrough(generate, interact);
