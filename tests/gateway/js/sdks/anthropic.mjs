// The SDK `@anthropic-ai/sdk`.
import Anthropic from "@anthropic-ai/sdk";
import { address, goThrough, model, only, runTool, SCHEMA, TOOL } from "./loop.mjs";

const client = new Anthropic({ baseURL: address, apiKey: "none", maxRetries: 0 });

async function messages(question, stream) {
  const tools = [{ ...TOOL, input_schema: SCHEMA }];
  const messages = [{ role: "user", content: question }];
  const ask = () => {
    const body = { model, max_tokens: 1000, messages, tools };
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const first = await ask();
  if (first.stop_reason !== "tool_use") throw new Error(`stop_reason ${first.stop_reason}`);
  const call = only(first.content.filter((block) => block.type === "tool_use"));
  const content = await runTool(call.name, call.input);
  messages.push({ role: "assistant", content: first.content });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content }] });
  const second = await ask();
  return second.content.map((block) => block.text ?? "").join("");
}

await goThrough(messages);
