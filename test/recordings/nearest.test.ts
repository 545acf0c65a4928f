import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { processName } from '../../src/recordings/process.js'
import { run } from '../command.js'
import { eventsOf, textOfChunks } from '../scene.js'
import { liveWith, tape } from './live.js'

/** A question with a system message, and other fields. */
const asking = (system: string, question = 'hello', more: object = {}) => ({
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ],
  ...more,
})

/** Requests that have been recorded; each answer is numbered. */
async function recordedWith(
  bodies: readonly object[],
  options: PlatformOptions = {},
  headers: Record<string, string> = {},
) {
  const live = await liveWith((_request, response) => {
    const message = { role: 'assistant', content: `answer ${live.seen.length}` }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'm', choices }))
  })
  const scene = tape(live.url)
  const { chat, stop } = await scene.recording(options)
  for (const body of bodies) await (await chat(body, { headers })).text()
  await stop()
  const recordings = scene.files
  const nearest = () => scene.replaying({ ...options, recordings: { ...options.recordings, onMiss: 'nearest' } })
  return {
    ...scene,
    recordings,
    nearest,
    /** Sends requests with `onMiss: nearest`, and returns what the answers say. */
    async drifting(...bodies: readonly object[]) {
      const platform = await nearest()
      const texts: string[] = []
      for (const body of bodies) texts.push(await said(await platform.chat(body)))
      await platform.stop()
      return texts
    },
    /** The statuses of requests in plain replay. */
    async statuses(...bodies: readonly object[]) {
      const platform = await scene.replaying(options)
      return Promise.all(bodies.map(async body => (await platform.chat(body)).status))
    },
    accept: (...flags: readonly string[]) => run(['recordings', 'accept', '--recordings', scene.dir, ...flags]),
    /** The texts of all recordings, by name. */
    texts: () => Object.fromEntries(recordings().map(file => [file, readFileSync(path.join(scene.dir, file), 'utf8')])),
    notes: () =>
      readdirSync(path.join(scene.dir, '.standin/runs')).map(name => path.join(scene.dir, '.standin/runs', name)),
  }
}

const said = async (response: Response) => {
  const { choices } = (await response.json()) as { choices: readonly { message: { content: string } }[] }
  return choices[0]?.message.content ?? ''
}

test('with onMiss any, a changed message of a test gets the answer at its place, and accept --any adopts it', async () => {
  const ofTest = { headers: { 'x-standin-scope': 'facts.test.ts > looks it up' } }
  const found = (text: string) => asking('Be brief.', `From the documents: ${text}`)
  const scene = await recordedWith([found('one'), found('two')], {}, ofTest.headers)
  const platform = await scene.replaying({ recordings: { onMiss: 'any' } })
  const ask = async (body: object, more = ofTest) => platform.chat(body, more)
  expect(await said(await ask(found('first')))).toBe('answer 1')
  expect(await said(await ask(found('second')))).toBe('answer 2')
  expect((await platform.journal.last())?.source).toContain('(changed message)')
  expect((await ask(found('third'), { headers: { 'x-standin-scope': '' } })).status).toBe(424)
  await platform.stop()
  expect((await scene.accept()).code).toBe(1)
  expect((await scene.accept('--any')).code).toBe(0)
  const again = await scene.replaying({})
  expect(await said(await again.chat(found('second'), ofTest))).toBe('answer 2')
})

test('a changed system message is answered and marked as a changed prompt; another question is a miss', async () => {
  const { nearest, recordings } = await recordedWith([asking('Answer briefly.')])
  const platform = await nearest()
  const [file] = recordings()
  expect(await said(await platform.chat(asking('Answer in French.')))).toBe('answer 1')
  expect((await platform.chat(asking('Answer briefly.', 'goodbye'))).status).toBe(424)
  const change = {
    field: 'messages[0].content',
    recorded: '"Answer briefly."',
    asked: '"Answer in French."',
    tokens: 1,
  }
  expect(await platform.journal.find({ source: 'changed prompt' })).toMatchObject([
    {
      answeredBy: { kind: 'recording', file, changed: 'prompt' },
      source: `recording ${file} (changed prompt)`,
      nearest: { file, differences: [change], sameConversation: true },
    },
  ])
  expect((await platform.misses()).map(({ changed }) => changed)).toEqual([undefined, 'prompt'])
  expect(await platform.receipt()).toMatchObject({ served: 1, changedPrompts: 1, missed: 1 })
  await expect(platform.expectNoMisses()).rejects.toThrow(
    /^The nearest recordings answered changed requests:\n1 request differs in messages\[0\]\.content: .*\n→ Accept the change/,
  )
})

test('the nearest of several prompts answers, in the requested format and in the recorded order', async () => {
  const chef = asking('You are a chef. Answer briefly.')
  const { nearest } = await recordedWith([asking('You are a pilot. Answer briefly.'), chef, chef])
  const platform = await nearest()
  const changed = asking('You are a chef. Answer at length.')
  expect(await said(await platform.chat(changed))).toBe('answer 2')
  const { chunks, done } = eventsOf(await (await platform.chat({ ...changed, stream: true, temperature: 0.2 })).text())
  expect([textOfChunks(chunks), done]).toEqual(['answer 2', true])
  expect(await said(await platform.chat(changed))).toBe('answer 3')
})

test('what is ignored, secret or in another format stays as it was recorded', async () => {
  const body = (system: string, runId: string, more = {}) =>
    asking(system, 'My password is sk-proj-0123456789abcdefghij.', { metadata: { runId, team: 'a' }, n: 1, ...more })
  const options = { recordings: { ignore: ['metadata.runId'] } }
  const { drifting, accept, texts, recordings, statuses, dir } = await recordedWith(
    [body('Be brief.', 'one', { stream: false })],
    options,
  )
  const [before] = Object.values(texts())
  expect(await drifting(body('Be kind.', 'two', { n: null }), body('Be kind.', 'three'))).toEqual([
    'answer 1',
    'answer 1',
  ])
  const config = path.join(dir, 'platform.config.json')
  writeFileSync(config, JSON.stringify(options))
  expect(await accept('--config', config)).toMatchObject({ code: 0, stderr: '' })
  expect(recordings()).toHaveLength(2) // and the configuration
  const [after = ''] = Object.values(texts())
  expect(after).toBe(before?.replace('Be brief.', 'Be kind.'))
  expect(after).not.toContain('sk-proj-0')
  expect(await statuses(body('Be kind.', 'four'))).toEqual([200])
})

test('a recording that still answers its own request, or two new ones, is copied', async () => {
  const [old, one, other] = [asking('Old.'), asking('New.'), asking('Newer.')]
  const { drifting, accept, statuses, recordings } = await recordedWith([old])
  await drifting(one, old, other)
  const { code, stdout } = await accept()
  expect([code, stdout.match(/is copied to/g)]).toEqual([0, ['is copied to', 'is copied to']])
  expect(recordings()).toHaveLength(3)
  expect(await statuses(old, one, other)).toEqual([200, 200, 200])
})

test('of several runs, the last says what is accepted', async () => {
  const { drifting, accept, statuses } = await recordedWith([asking('Old.')])
  await Promise.all([drifting(asking('Old?')), drifting(asking('Old?'))])
  await drifting(asking('Final.'))
  expect(await accept()).toMatchObject({ code: 0, stdout: expect.stringContaining('1 recording changed.') })
  expect(await statuses(asking('Final.'), asking('Old?'))).toEqual([200, 424])
})

test('recordings that would become one are both named and stay, until one of them is removed', async () => {
  const { drifting, accept, statuses, recordings, texts, recording, dir } = await recordedWith([asking('Old.')])
  const [old = ''] = recordings()
  await drifting(asking('New.'))
  const platform = await recording()
  await (await platform.chat(asking('New.'))).text()
  await platform.stop()
  const fresh = recordings().find(file => file !== old) ?? ''
  const before = texts()
  const { code, stderr } = await accept()
  expect([code, stderr.trim()]).toEqual([
    1,
    `${old}: would get the same request as ${fresh}. Remove the one whose answer you do not need, then accept again.`,
  ])
  expect(texts()).toEqual(before)
  rmSync(path.join(dir, fresh))
  expect(await accept()).toMatchObject({ code: 0 })
  expect(await statuses(asking('New.'))).toEqual([200])
})

test('recordings that were edited or removed since the run, and broken notes, are named, and the rest is accepted', async () => {
  const questions = ['edited', 'gone', 'broken', 'fine']
  const { drifting, accept, recordings, dir, statuses, notes } = await recordedWith(
    questions.map(question => asking('Old.', question)),
  )
  await drifting(...questions.map(question => asking('New.', question)))
  const fileOf = (word: string) => recordings().find(file => file.includes(word)) ?? ''
  const [edited, gone, broken] = [fileOf('edited'), fileOf('gone'), fileOf('broken')]
  const at = (file: string) => path.join(dir, file)
  writeFileSync(at(edited), readFileSync(at(edited), 'utf8').replace('Old.', 'By hand.'))
  rmSync(at(gone))
  writeFileSync(at(broken), 'nothing: here\n')
  appendFileSync(
    notes()[0] ?? '',
    '{"file":"../../outside-0123456789ab.yaml","key":"k","test":"","changed":"prompt","request":{"method":"GET","path":"/"}}\n{"fi',
  )
  const { code, stderr, stdout } = await accept()
  expect(code).toBe(1)
  expect(stderr.trim().split('\n')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/\.jsonl:\d:1: is not a line of a note about a run/),
      '../../outside-0123456789ab.yaml: is gone since the run.',
      expect.stringMatching(`^${broken}: was left as it is: request is missing`),
      `${edited}: was left as it is: its request has changed since the run.`,
      `${gone}: is gone since the run.`,
    ]),
  )
  expect(stdout).toContain('1 recording changed.')
  expect(await statuses(asking('New.', 'fine'))).toEqual([200])
})

test('a folder that cannot be written is an error, nothing is lost, and accepting again works', async () => {
  const { drifting, accept, dir, texts, statuses } = await recordedWith([asking('Old.')])
  await drifting(asking('New.'))
  const before = texts()
  // Where the file would be written first; the users of containers may write anywhere.
  const unfinished = path.join(dir, `chat-completions/.recording.${processName()}-${threadId}.tmp`)
  mkdirSync(unfinished)
  const { code, stderr } = await accept()
  expect([code, stderr]).toEqual([1, `${dir}: cannot be written (EISDIR). Accept again when it can.\n`])
  rmSync(unfinished, { recursive: true })
  expect(texts()).toEqual(before)
  expect(await accept()).toMatchObject({ code: 0 })
  expect(await statuses(asking('New.'))).toEqual([200])
})

test('without a run there is nothing to accept', async () => {
  const { accept } = await recordedWith([asking('Old.')])
  expect(await accept()).toEqual({
    code: 0,
    signal: null,
    stderr: '',
    stdout: expect.stringMatching(/^Nothing to accept: /),
  })
})
