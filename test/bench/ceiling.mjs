/** The ceiling: what bare node:http does with the same requests, canned bytes and nothing else. argv: port */
import http from 'node:http'

const json = value => Buffer.from(JSON.stringify(value))
const models = json({ object: 'list', data: [{ id: 'gpt-4o-mini', object: 'model', created: 0, owned_by: 'openai' }] })
const text = 'You can return any unused item within thirty days of delivery for a full refund.'
const reply = json({ id: 'chatcmpl-0', object: 'chat.completion', choices: [{ index: 0, message: { content: text } }] })
const event = content => `data: ${json({ id: 'chatcmpl-0', choices: [{ index: 0, delta: { content } }] })}\n\n`

const send = (response, body) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

http
  .createServer((request, response) => {
    if (request.method === 'GET') return send(response, models)
    const parts = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      if (!JSON.parse(Buffer.concat(parts).toString()).stream) return send(response, reply)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const word of text.split(' ')) response.write(event(word))
      response.end('data: [DONE]\n\n')
    })
  })
  .listen(Number(process.argv[2]), '127.0.0.1')
