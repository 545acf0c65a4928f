/** The same as bare.mjs with fastify, if that is installed. argv: port */
import Fastify from 'fastify'

const text = 'You can return any unused item within thirty days of delivery for a full refund.'
const events = text
  .split(' ')
  .map(content => `data: ${JSON.stringify({ id: 'chatcmpl-0', choices: [{ index: 0, delta: { content } }] })}\n\n`)
const app = Fastify()
app.get('/health', () => ({ status: 'ok' }))
app.get('/v1/models', () => ({
  object: 'list',
  data: [{ id: 'gpt-4o-mini', object: 'model', created: 0, owned_by: 'openai' }],
}))
app.post('/v1/chat/completions', (request, reply) => {
  if (!request.body.stream)
    return reply.send({
      id: 'chatcmpl-0',
      object: 'chat.completion',
      choices: [{ index: 0, message: { content: text } }],
    })
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) reply.raw.write(event)
  reply.raw.end('data: [DONE]\n\n')
})
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
