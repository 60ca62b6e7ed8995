// The SDK `ollama`.
import { Ollama } from "ollama";
import { address, goThrough, model, only, runTool, SCHEMA, TOOL } from "./loop.mjs";

const client = new Ollama({ host: address });

async function chat(question, stream) {
  const tools = [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }];
  const messages = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model, messages, tools };
    if (!stream) return (await client.chat(body)).message;
    const message = { role: "assistant", content: "", tool_calls: [] };
    for await (const chunk of await client.chat({ ...body, stream: true })) {
      message.content += chunk.message.content;
      message.tool_calls.push(...(chunk.message.tool_calls ?? []));
    }
    return message;
  };
  const message = await ask();
  const call = only(message.tool_calls ?? []).function;
  const content = await runTool(call.name, call.arguments);
  messages.push(message, { role: "tool", tool_name: call.name, content });
  return (await ask()).content;
}

await goThrough(chat);
