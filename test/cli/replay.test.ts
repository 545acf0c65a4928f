import path from 'node:path'
import { expect, test } from 'vitest'
import { folderWith, start } from '../command.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello } from '../scene.js'
import { missOf } from '../sentences.js'
import { DIR, filesOf, streamed } from './recorded.js'

/** A folder with one recording of "hello". */
async function recorded(): Promise<string> {
  const live = await liveWith(saying({ object: 'chat.completion', choices: [] }))
  const { recording, dir } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(hello)).text()
  await stop()
  return dir
}

/** Starts `standin replay` with these flags on that folder. `ask` sends a request, and `end` stops it. */
async function replaying(dir: string, flags: readonly string[]) {
  const args = ['replay', '--port', '0', '--state', 'memory', '--recordings', dir, ...flags]
  const command = start([...args, '--json'])
  const { url, apiKey } = JSON.parse(await command.stdout.next('"ready"'))
  const ask = (body: object) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const end = () => {
    command.send('SIGTERM')
    return command.ended
  }
  return { ...command, ask, end }
}

const another = { ...hello, messages: [{ role: 'user', content: 'goodbye' }] }

// exec.test.ts tests what counts as missed or unused, as exec ends in the same way.
test('with --strict a run with a miss exits with 1', async () => {
  const { ask, end } = await replaying(await recorded(), ['--strict'])
  for (const body of [hello, another]) await (await ask(body)).text()
  expect(await end()).toMatchObject({ code: 1 })
})

test('with --json misses and the receipt are events', async () => {
  const { ask, end, stdout } = await replaying(await recorded(), [])
  await (await ask(another)).text()
  expect(JSON.parse(await stdout.next('"event":"miss"'))).toMatchObject({
    ...{ method: 'POST', path: '/v1/chat/completions' },
    nearest: { differences: [{ field: 'messages[0].content', recorded: '"hello"', asked: '"goodbye"' }] },
  })
  const { stdout: printed } = await end()
  expect(JSON.parse(printed.trim().split('\n').at(-1) ?? '')).toMatchObject({
    ...{ event: 'receipt', served: 0, missed: 1, passed: 0 },
    unused: [expect.stringContaining('hello')],
  })
})

test('without --json a miss compares fields side by side on standard error, and the receipt is printed at the end', async () => {
  const dir = await recorded()
  const { stdout, stderr, send, ended } = start(['replay', '--port', '0', '--state', 'memory', '--recordings', dir])
  const url = (await stdout.next('PLATFORM_BASE_URL=')).split('=')[1] ?? ''
  const apiKey = (await stdout.next('OPENAI_API_KEY=')).split('=')[1] ?? ''
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(another),
  })
  expect(response.status).toBe(424)
  expect(await stderr.next(missOf('POST', '/v1/chat/completions'))).toMatch(
    /nearest is chat-completions\/hello-[0-9a-f]{8}\.yaml:$/,
  )
  expect(await stderr.next('field')).toMatch(/field +recorded +asked$/)
  expect(await stderr.next('messages[0].content')).toMatch(/"hello" +"goodbye"$/)
  send('SIGTERM')
  const { stdout: printed } = await ended
  expect(printed).toContain('Recordings: 0 served, 1 missed, 1 unused, 0 forwarded to the live platform.\n')
})

test('standin replay keeps the recorded rhythm', async () => {
  const pieces = ['data: {"choices":[{"index":0,"delta":{"content":"Now"}}]}\n\n', 'data: [DONE]\n\n']
  const late = streamed({ prompt: 'hello', pieces })
  const [now, end] = late.response.chunks
  const chunks = [
    { ...now, atMs: 0 },
    { ...end, atMs: 36_000_000 },
  ] as const
  const dir = folderWith(filesOf({ ...late, response: { ...late.response, headMs: 0, chunks } as never }))
  const { ask, end: stop } = await replaying(path.join(dir, DIR), [])
  const answer = await ask({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'hello' }] })
  const first = await answer.body?.getReader().read()
  expect(Buffer.from(first?.value ?? []).toString()).toBe(pieces[0])
  await stop()
})
