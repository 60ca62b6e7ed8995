// The SDK `openai`: on both of its APIs, over a WebSocket, and with batches of one row.
import OpenAI, { toFile } from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
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

async function socket(question) {
  const tools = [{ type: "function", ...TOOL, parameters: SCHEMA, strict: false }];
  const connection = new ResponsesWS(client);
  const ask = async (body) => {
    connection.send({ type: "response.create", model, tools, store: false, ...body });
    for await (const { type, message, error } of connection.stream()) {
      if (type === "error") throw error;
      if (type === "message" && message.type === "response.completed") return message.response;
    }
    throw new Error("the connection was closed");
  };
  const first = await ask({ input: question });
  const call = only(first.output.filter((item) => item.type === "function_call"));
  const output = await runTool(call.name, JSON.parse(call.arguments));
  const input = [{ type: "function_call_output", call_id: call.call_id, output }];
  const last = await ask({ previous_response_id: first.id, input });
  connection.close();
  return last.output.flatMap((item) => item.content ?? []).map((part) => part.text).join("");
}

async function batch(question) {
  const tools = [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }];
  const messages = [{ role: "user", content: question }];
  const ask = async () => {
    const row = { custom_id: "one", method: "POST", url: "/v1/chat/completions", body: { model, messages, tools } };
    const file = await client.files.create({ file: await toFile(Buffer.from(JSON.stringify(row)), "rows.jsonl"), purpose: "batch" });
    const created = { input_file_id: file.id, endpoint: row.url, completion_window: "24h" };
    let job = await client.batches.create(created);
    while (["validating", "in_progress", "finalizing"].includes(job.status)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      job = await client.batches.retrieve(job.id);
    }
    const results = await (await client.files.content(job.output_file_id)).text();
    return JSON.parse(results).response.body.choices[0].message;
  };
  const message = await ask();
  const call = only(message.tool_calls ?? []);
  const result = await runTool(call.function.name, JSON.parse(call.function.arguments));
  messages.push(message, { role: "tool", tool_call_id: call.id, content: result });
  return (await ask()).content;
}

await goThrough(chat, responses, socket, batch);
