// The SDK `openai`, on both of its APIs.
import OpenAI from "openai";
import { address, goThrough, model, only, runTool, SCHEMA, TOOL } from "./loop.mjs";

const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "none", maxRetries: 0 });

async function chat(question, stream) {
  const tools = [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }];
  const messages = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model, messages, tools };
    const completions = client.chat.completions;
    const whole = stream ? await completions.stream(body).finalChatCompletion() : await completions.create(body);
    return whole.choices[0];
  };
  const { message, finish_reason } = await ask();
  if (finish_reason !== "tool_calls") throw new Error(`finish_reason ${finish_reason}`);
  const call = only(message.tool_calls ?? []);
  const result = await runTool(call.function.name, JSON.parse(call.function.arguments));
  messages.push(message, { role: "tool", tool_call_id: call.id, content: result });
  return (await ask()).message.content;
}

async function responses(question, stream) {
  const tools = [{ type: "function", ...TOOL, parameters: SCHEMA, strict: false }];
  const ask = (body) =>
    stream ? client.responses.stream({ model, tools, ...body }).finalResponse() : client.responses.create({ model, tools, ...body });
  const first = await ask({ input: question });
  const call = only(first.output.filter((item) => item.type === "function_call"));
  const output = await runTool(call.name, JSON.parse(call.arguments));
  const input = [{ type: "function_call_output", call_id: call.call_id, output }];
  return (await ask({ previous_response_id: first.id, input })).output_text;
}

await goThrough(chat, responses);
