/** An agent: it asks the model, calls the tools that the model requests, and asks again. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'

/** Connects to the platform's tools with the same key as to its model. */
async function connectTools() {
  const { PLATFORM_BASE_URL, OPENAI_API_KEY } = process.env
  const requestInit = { headers: { authorization: `Bearer ${OPENAI_API_KEY}` } }
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', PLATFORM_BASE_URL), { requestInit }))
  return client
}

/** Returns the model's answer to a question, after calling the tools that it requests. */
export async function answer(question) {
  const openai = new OpenAI()
  const client = await connectTools()
  const { tools } = await client.listTools()
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
  const messages = [{ role: 'user', content: question }]
  for (;;) {
    const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages, tools: functions })
    const { message } = choices[0]
    messages.push(message)
    if (!message.tool_calls) break
    for (const call of message.tool_calls) {
      const { name, arguments: written } = call.function
      const { content } = await client.callTool({ name, arguments: JSON.parse(written) })
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
  await client.close()
  return messages.at(-1).content
}
