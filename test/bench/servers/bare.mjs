/**
 * Bare node:http with canned bytes for the same requests. argv: port, and optionally the pieces per second of streams, which otherwise come all
 * at once
 */
import http from 'node:http'

const json = value => Buffer.from(JSON.stringify(value))
const health = json({ status: 'ok', version: '1.0.0' })
const models = json({ object: 'list', data: [{ id: 'gpt-4o-mini', object: 'model', created: 0, owned_by: 'openai' }] })
const text = 'You can return any unused item within thirty days of delivery for a full refund.'
const common = { id: 'chatcmpl-0', created: 0, model: 'gpt-4o-mini' }
const message = { role: 'assistant', content: text, refusal: null }
const usage = { prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 }
const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
const reply = json({ ...common, object: 'chat.completion', choices, usage })
const event = content => {
  const choices = [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]
  return `data: ${json({ ...common, object: 'chat.completion.chunk', choices })}\n\n`
}

const send = (response, body) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

const [port, piecesPerSecond = 0] = process.argv.slice(2).map(Number)
const periodMs = piecesPerSecond > 0 ? 1000 / piecesPerSecond : 0
const paced = text.split(' ').concat(text.split(' '))
const open = new Set()

/** One timer for all streams. */
function pace(response) {
  open.add({ response, startMs: performance.now(), sent: 0 })
  response.write(event(paced[0]))
}

if (periodMs > 0)
  setInterval(() => {
    const nowMs = performance.now()
    for (const stream of open) {
      while (stream.sent < paced.length - 1 && nowMs >= stream.startMs + (stream.sent + 1) * periodMs)
        stream.response.write(event(paced[++stream.sent]))
      if (stream.sent < paced.length - 1) continue
      stream.response.end('data: [DONE]\n\n')
      open.delete(stream)
    }
  }, 5)

http
  .createServer((request, response) => {
    if (request.method === 'GET') return send(response, request.url === '/health' ? health : models)
    const parts = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      if (!JSON.parse(Buffer.concat(parts).toString()).stream) return send(response, reply)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (periodMs > 0) return pace(response)
      for (const word of text.split(' ')) response.write(event(word))
      response.end('data: [DONE]\n\n')
    })
  })
  .listen({ port, host: '127.0.0.1', backlog: 4096 })
