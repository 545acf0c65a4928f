import fc from 'fast-check'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod/v4'
import { type ChatRequest, chatRequest } from '../../src/chat/request.js'
import { check } from '../../src/check/check.js'
import { PlatformError } from '../../src/core/errors.js'
import { sourceInWords } from '../../src/core/reply.js'
import { defaultReply } from '../../src/replies/default-reply.js'
import { fakeReplies } from '../../src/replies/fake.js'
import { runs } from '../runs.js'
import { hello, platformWith } from '../scene.js'
import { AN_OBJECT, isMissing, mustBe, NO_VALUE_FITS, NOT_EMPTY, oneOf } from '../sentences.js'

/** A request that has passed the check. */
function requestOf(more: object, said = 'What is the weather in Berlin?'): ChatRequest {
  const checked = check(chatRequest, { ...hello, messages: [{ role: 'user', content: said }], ...more })
  if ('value' in checked) return checked.value
  throw new Error(checked.mistakes[0]?.sentence)
}

const said = (more: object, message?: string, seed = 0) => defaultReply(requestOf(more, message), seed)

const location = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] }
const weather = { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: location } }
const mail = {
  type: 'function',
  function: {
    name: 'sendEmail',
    description: 'Sends an email to somebody.',
    parameters: { type: 'object', properties: { to: { type: 'string', format: 'email' } }, required: ['to'] },
  },
}
const now = { type: 'function', function: { name: 'now' } }
const code = { type: 'custom', custom: { name: 'run_code', description: 'Runs python code.' } }
const tools = [weather, mail, now, code, { type: 'web_search', anything: 1 }]

/** The one call that the model makes. */
async function callOf(more: object, message?: string, seed?: number) {
  const { choices, answeredBy } = await said(more, message, seed)
  expect(sourceInWords(answeredBy)).toBe('canned tool call')
  const [{ text, toolCalls, finishReason } = { text: 'nothing' }] = choices
  expect(text).toBeNull()
  expect(toolCalls).toHaveLength(1)
  return { ...toolCalls?.[0], finishReason }
}

describe('text', () => {
  test('a plain request is answered with the canned text', async () => {
    const request = requestOf({})
    expect(await defaultReply(request, 7)).toEqual({
      choices: [{ text: (await fakeReplies(request, 7, 1))[0] ?? '' }],
      answeredBy: { kind: 'canned', form: 'reply' },
    })
  })

  test('tool results are repeated with the names of their tools, and long ones are cut', async () => {
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
    const result = (tool_call_id: string, content: string) => ({ role: 'tool', tool_call_id, content })
    const calls = { role: 'assistant', content: null, tool_calls: [call('a', 'get_weather'), call('b', 'get_time')] }
    const messages = [{ role: 'user', content: 'x' }, calls, result('a', '{"sky":"rain"}'), result('b', '12:00')]
    const { choices } = await said({ tools, messages })
    expect(choices).toEqual([{ text: 'get_weather says: {"sky":"rain"}\nget_time says: 12:00' }])
    const long = await said({ messages: [...messages.slice(0, 3), result('c', 'y'.repeat(5000))] })
    expect(long.choices[0]?.text).toMatch(/\nThe tool says: y{2000}…$/)
    const later = await said({ messages: [...messages, { role: 'user', content: 'And now?' }] })
    expect(later.choices[0]?.text).not.toContain('says:')
  })

  test('n choices are n different texts, and the first is the same as for n = 1', async () => {
    const { choices } = await said({ n: 5 })
    const texts = choices.map(({ text }) => text)
    expect(new Set(texts).size).toBe(5)
    expect(texts[0]).toBe((await said({})).choices[0]?.text)
  })

  test.each([
    { tools },
    { tools, tool_choice: 'none' },
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    { tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [weather] } } },
    { tools: null, tool_choice: null, response_format: null, functions: null, function_call: null, n: null },
  ])('a request that requires no tool call is answered with text: %j', async more => {
    expect(await said(more)).toMatchObject({
      answeredBy: { kind: 'canned', form: 'reply' },
      choices: [{ text: expect.stringMatching(/\w/) }],
    })
  })
})

describe('tools', () => {
  test('a named function is called with arguments that fit its schema', async () => {
    const call = await callOf({ tools, tool_choice: { type: 'function', function: { name: 'sendEmail' } } })
    expect(call).toMatchObject({ kind: 'function', name: 'sendEmail', finishReason: undefined })
    expect(JSON.parse(call.arguments ?? '')).toEqual({ to: expect.stringMatching(/^\S+@\S+$/) })
  })

  test('a function without parameters is called with an empty object', async () => {
    const call = await callOf({ tools, tool_choice: { type: 'function', function: { name: 'now' } } })
    expect(call.arguments).toBe('{}')
  })

  test('a named custom tool is called with text', async () => {
    const call = await callOf({ tools, tool_choice: { type: 'custom', custom: { name: 'run_code' } } })
    expect(call).toMatchObject({ kind: 'custom', name: 'run_code', arguments: expect.stringMatching(/\w/) })
  })

  test.each([
    ['What is the weather in Berlin?', 'get_weather'],
    ['Please send an e-mail: an email to Ada', 'sendEmail'],
    ['Run this Python code for me', 'run_code'],
    ['Nothing of the kind', 'get_weather'],
  ])('when any tool is required, %j calls %s', async (message, name) => {
    expect(await callOf({ tools, tool_choice: 'required' }, message)).toMatchObject({ name })
  })

  test('only allowed tools are called', async () => {
    const allowed_tools = { mode: 'required', tools: [mail, { type: 'function', function: { name: 'now' } }] }
    expect(await callOf({ tools, tool_choice: { type: 'allowed_tools', allowed_tools } })).toMatchObject({
      name: 'sendEmail',
    })
  })

  test('the deprecated function_call calls the function that it names', async () => {
    const functions = [{ name: 'a' }, { name: 'b', parameters: location }]
    const call = await callOf({ functions, function_call: { name: 'b' } })
    expect(call).toMatchObject({ kind: 'function', name: 'b' })
    expect(JSON.parse(call.arguments ?? '')).toEqual({ location: expect.any(String) })
  })

  test('each of n choices calls the tool with arguments of its own', async () => {
    const { choices } = await said({ tools, tool_choice: 'required', n: 4 })
    const given = choices.map(({ toolCalls }) => toolCalls?.[0]?.arguments)
    expect(given).toHaveLength(4)
    expect(new Set(given).size).toBeGreaterThan(1)
  })

  test('the arguments depend on the request and the seed, but not on streaming', async () => {
    const ask = async (more: object, seed: number) =>
      (await callOf({ tools, tool_choice: 'required', ...more }, undefined, seed)).arguments
    expect(await ask({ stream: true }, 1)).toBe(await ask({}, 1))
    const answers = await Promise.all([1, 2, 3, 4, 5].map(seed => ask({}, seed)))
    expect(new Set(answers).size).toBeGreaterThan(1)
  })

  test('parameters that no value fits are an error with their place', async () => {
    const tool = {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object', required: ['a'], properties: { a: false } } },
    }
    const failed = await said({ tools: [now, tool], tool_choice: { type: 'function', function: { name: 'f' } } }).catch(
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(PlatformError)
    expect(failed).toMatchObject({
      status: 400,
      message: `tools[1].function.parameters cannot be answered: ${NO_VALUE_FITS}.`,
    })
  })
})

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const personFormat = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } }

/** The answer of the platform over HTTP, parsed as JSON. */
async function jsonOver(body: object) {
  const { chat } = await platformWith()
  const response = await chat({ ...hello, ...body })
  expect(response.status).toBe(200)
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  return JSON.parse(choices[0]?.message.content ?? '')
}

describe('JSON', () => {
  test('a schema is answered with a value that fits it', async () => {
    expect(await jsonOver({ response_format: personFormat })).toEqual({
      name: expect.stringMatching(/^\S+ \S+/),
      age: expect.any(Number),
    })
  })

  test("OpenAI's client parses the answer to a zod schema", async () => {
    const { url, apiKey } = await platformWith()
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
    const Event = z.object({ name: z.string(), date: z.iso.date(), participants: z.array(z.string()).min(1) })
    const { choices } = await client.chat.completions.parse({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Alice and Bob are going to a science fair on Friday.' }],
      response_format: zodResponseFormat(Event, 'event'),
    })
    expect(choices[0]?.message.parsed).toMatchObject({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
  })

  test('any prompt is answered with an object', async () => {
    const bits = fc.constantFrom(
      '{',
      '}',
      '"',
      '"a":',
      '"__proto__":',
      ',',
      '[',
      ']',
      '1',
      'null',
      '\\',
      "'b'",
      '`c d`',
      ' ',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.array(bits, { maxLength: 30 }).map(some => some.join('')),
        ),
        async content => {
          const { choices } = await said({ response_format: { type: 'json_object' } }, content)
          expect(JSON.parse(choices[0]?.text ?? '')).toBeTypeOf('object')
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('a schema that cannot be answered is a 400 that names the field', async () => {
    const { chat } = await platformWith()
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/gone' } } }
    const response = await chat({
      ...hello,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error:
        'response_format.json_schema.schema cannot be answered: it refers to "#/$defs/gone", which is not in the schema.',
    })
  })
})

describe('an invalid request is a 400 that names the field', () => {
  const functionNamed = (name: unknown) => ({ type: 'function', function: { name } })
  test.each<readonly [object, string]>([
    [{ tools: [{ type: 'function' }] }, isMissing('tools[0].function', AN_OBJECT)],
    [{ tools: [functionNamed('')] }, mustBe('tools[0].function.name', NOT_EMPTY, '')],
    [
      { tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] },
      mustBe('tools[0].function.parameters', 'an object, true or false', []),
    ],
    [{ tools, tool_choice: 'always' }, mustBe('tool_choice', oneOf('none', 'auto', 'required'), 'always')],
    [{ tool_choice: 'required' }, mustBe('tool_choice', 'none or auto if no tools are offered', 'required')],
    [
      { tools, tool_choice: functionNamed('get_wether') },
      mustBe('tool_choice.function.name', 'the name of a function that is offered', 'get_wether'),
    ],
    [
      { tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [functionNamed('x')] } } },
      mustBe('tool_choice.allowed_tools.tools[0].function.name', 'the name of a function that is offered', 'x'),
    ],
    [{ function_call: { name: 'f' } }, mustBe('function_call.name', 'the name of a function that is offered', 'f')],
    [
      { response_format: { type: 'xml' } },
      mustBe('response_format.type', oneOf('text', 'json_object', 'json_schema'), 'xml'),
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: [] } } },
      mustBe('response_format.json_schema.schema', AN_OBJECT, []),
    ],
  ])('%j', async (more, error) => {
    const { chat } = await platformWith()
    const response = await chat({ ...hello, ...more })
    expect({ status: response.status, ...((await response.json()) as object) }).toEqual({ status: 400, error })
  })
})
