import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Generation, ToolCall } from '../../src/replies/index.js'
import { modelReplying } from '../chat/replying.js'
import { eventsOf, hello, platformWith } from '../scene.js'

const root = path.join(import.meta.dirname, '../..')

/** OpenAI's own types, and what they lack: reasoning, and calls of custom tools in a stream. */
const header = `
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'

type Thoughts = { reasoning_content: string }
type ThinkingCompletion = Omit<ChatCompletion, 'choices'> & {
  choices: (ChatCompletion.Choice & { message: Thoughts })[]
}
type Delta = Omit<ChatCompletionChunk.Choice.Delta, 'tool_calls'>
type CustomCall = { index: number; id?: string; type?: 'custom'; custom: { name?: string; input: string } }
type ChunkOf<D> = Omit<ChatCompletionChunk, 'choices'> & {
  choices: (Omit<ChatCompletionChunk.Choice, 'delta'> & { delta: D })[]
}
type ThinkingChunk = ChunkOf<ChatCompletionChunk.Choice.Delta & Thoughts>
type CustomChunk = ChunkOf<Delta & { tool_calls: CustomCall[] }>
`

type Type = 'ChatCompletion' | 'ChatCompletionChunk' | 'ThinkingCompletion' | 'ThinkingChunk' | 'CustomChunk'
type Typed = readonly [type: Type, body: unknown]

/** Type-checks bodies: the indexes of those that the compiler refuses, and its output. */
function compiled(bodies: readonly Typed[]) {
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-types-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'))
  writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }')
  const head = header.trim().split('\n')
  const lines = bodies.map(([type, body], i) => `export const a${i}: ${type} = ${JSON.stringify(body)}`)
  writeFileSync(path.join(dir, 'answers.ts'), [...head, ...lines].join('\n'))
  const options =
    '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --singleThreaded --module nodenext --target es2023'
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, ...options.split(' '), 'answers.ts'], {
    cwd: dir,
    encoding: 'utf8',
  })
  const refused = [...stdout.matchAll(/^answers\.ts\((\d+),/gm)].map(([, line]) => Number(line) - head.length - 1)
  return { status, output: stdout + stderr, refused: [...new Set(refused)] }
}

/** The type of a chunk, by its content. */
function chunkType(chunk: { choices: readonly { delta: object }[] }): Type {
  const json = JSON.stringify(chunk.choices[0]?.delta ?? {})
  if (json.includes('"reasoning_content"')) return 'ThinkingChunk'
  return json.includes('"custom"') ? 'CustomChunk' : 'ChatCompletionChunk'
}

const weather: ToolCall = { kind: 'function', name: 'weather', arguments: '{"city": "Paris"}' }
const shell: ToolCall = { kind: 'custom', name: 'shell', arguments: 'ls -l' }
const usage = { promptTokens: 100, completionTokens: 50, cachedTokens: 80, reasoningTokens: 20 }

const variants: readonly (readonly [name: string, said: Partial<Generation>, request?: object])[] = [
  ['a plain text', {}],
  ['a text with stops', {}, { stop: ['there'] }],
  ['a text that is cut', {}, { max_tokens: 1 }],
  ['an empty text', { choices: [{ text: '' }] }],
  ['several choices', { choices: [{ text: 'One.' }, { text: 'Two, longer.' }] }, { n: 3 }],
  ['logprobs', {}, { logprobs: true, top_logprobs: 3 }],
  ['logprobs of a refusal', { choices: [{ text: null, refusal: 'No.' }] }, { logprobs: true }],
  ['a refusal', { choices: [{ text: null, refusal: 'I will not.' }] }],
  ['calls', { choices: [{ text: null, toolCalls: [weather, weather] }] }],
  ['a text and a call', { choices: [{ text: 'Let me see.', toolCalls: [weather] }] }],
  ['one call only', { choices: [{ text: null, toolCalls: [weather, weather] }] }, { parallel_tool_calls: false }],
  ['a custom tool', { choices: [{ text: null, toolCalls: [shell] }] }],
  ['a function', { choices: [{ text: null, toolCalls: [weather] }] }, { functions: [{ name: 'weather' }] }],
  ['thoughts', { choices: [{ text: 'Four.', reasoning: 'Two and two.' }] }],
  ['a filter', { choices: [{ text: 'Well', finishReason: 'content_filter' }] }],
  ['an overridden usage', { usage }],
]

test("every form of an answer compiles with OpenAI's types", async () => {
  const bodies: Typed[] = variants.flatMap(([, said, request]): Typed[] => {
    const { whole, chunks } = modelReplying(said)
    const body = whole(request)
    const thinks = said.choices?.[0]?.reasoning !== undefined
    const streams = [chunks(request), chunks({ ...request, stream_options: { include_usage: true } })]
    return [
      [thinks ? 'ThinkingCompletion' : 'ChatCompletion', body],
      ...streams.flat().map((chunk): Typed => [chunkType(chunk), chunk]),
    ]
  })
  const { chat } = await platformWith()
  bodies.push(['ChatCompletion', await (await chat(hello)).json()])
  const { chunks } = eventsOf(await (await chat({ ...hello, stream: true })).text())
  bodies.push(...chunks.map((chunk): Typed => ['ChatCompletionChunk', chunk]))

  const { status, output } = compiled(bodies)
  expect(output).toBe('')
  expect(status).toBe(0)
  expect(new Set(bodies.map(([type]) => type)).size).toBe(5)
})

test('a body that is not an answer of OpenAI does not compile', () => {
  const { whole, chunks } = modelReplying({})
  const right = whole()
  const [choice] = right.choices
  const [chunk] = chunks()
  const delta = (delta: object) => ({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })
  const bodies: Typed[] = [
    ['ChatCompletion', right],
    ['ChatCompletion', { ...right, object: 'completion' }],
    ['ChatCompletion', { ...right, choices: [{ ...choice, message: { role: 'assistant', content: 'x' } }] }],
    ['ChatCompletion', { ...right, choices: [{ ...choice, message: { ...choice?.message, thoughts: 'x' } }] }],
    ['ChatCompletionChunk', chunk],
    ['ChatCompletionChunk', delta({ tool_calls: [{ id: 'call_1' }] })],
    ['ThinkingChunk', delta({ reasoning_content: 'x', thoughts: 'x' })],
    ['CustomChunk', delta({ tool_calls: [{ index: 0, custom: { input: 'x', output: 'y' } }] })],
  ]
  const { status, refused } = compiled(bodies)
  expect(refused).toEqual([1, 2, 3, 5, 6, 7])
  expect(status).not.toBe(0)
})
