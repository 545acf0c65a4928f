/** Random chat completions, as platforms of many vendors send them. */
import fc from 'fast-check'
import { cutAt } from './responses.js'

/** Characters of every length in UTF-8, line breaks, lone surrogates, and text that looks like the framing of an event. */
export const text = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
      fc.constantFrom(' ', '\n\n', '\r\n', 'data: [DONE]', ',"usage":null', '\u2028', 'a longer word without meaning'),
      fc.constantFrom('\ud83d', '\ude00', '👩‍👩‍👧', '日本語'),
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''))

export const someText = text.filter(written => written !== '')

/** Vendor fields, under names that OpenAI will not use. */
const vendorFields = fc.dictionary(
  fc.stringMatching(/^x_[a-z]{1,5}$/),
  fc.oneof(text, fc.nat(), fc.constant(null), fc.constant({ usage: null })),
  { maxKeys: 2 },
)

const called = fc.record({ name: someText, arguments: text })
const call = fc
  .tuple(
    someText,
    fc.oneof(
      called.map(called => ({ type: 'function', function: called })),
      fc.record({ name: someText, input: text }).map(custom => ({ type: 'custom', custom })),
    ),
    vendorFields,
  )
  .map(([id, by, others]) => ({ id, ...by, ...others }))

/** A text as tokens, which may end in the middle of a character. */
const tokensOf = (content: string) =>
  fc.array(fc.nat(), { maxLength: 9 }).map(places =>
    cutAt(Buffer.from(content), places).map((bytes, i) => ({
      ...{ token: bytes.toString('utf8'), logprob: -1 / (i + 7) },
      ...{ bytes: [...bytes], top_logprobs: [] },
    })),
  )

const message = fc
  .record(
    {
      ...{ content: fc.option(text), refusal: fc.option(text) },
      ...{ reasoning_content: fc.option(text), reasoning: text },
      tool_calls: fc.oneof(fc.array(call, { maxLength: 3 }), fc.constant(null)),
      function_call: called,
      annotations: fc.array(fc.record({ type: fc.constant('url_citation'), url: text }), { maxLength: 2 }),
      audio: fc.record({ id: someText, data: fc.base64String(), expires_at: fc.nat(), transcript: text }),
      vendor: vendorFields,
    },
    { requiredKeys: ['content'] },
  )
  .map(({ vendor, content, ...others }) => ({
    role: 'assistant',
    // A stream cannot distinguish empty content beside a call from no content.
    content:
      content === '' && (others.tool_calls || others.function_call || others.refusal || others.audio) ? null : content,
    ...others,
    ...vendor,
  }))

const finishReason = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'function_call')

const choice = message.chain(message =>
  fc
    .record(
      {
        message: fc.constant(message),
        logprobs: fc.option(
          fc.record(
            {
              content: fc.option(tokensOf(message.content ?? '')),
              refusal: fc.option(tokensOf(message.refusal ?? '')),
            },
            { requiredKeys: ['content'] },
          ),
        ),
        finish_reason: finishReason,
        vendor: vendorFields,
      },
      { requiredKeys: ['message', 'finish_reason', 'vendor'] },
    )
    .map(({ vendor, ...choice }) => ({ ...choice, ...vendor })),
)

/** A whole completion. */
export const completion = fc
  .record(
    {
      ...{ id: someText, created: fc.nat(), model: someText, vendor: vendorFields },
      choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
      usage: fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), total_tokens: fc.nat() }),
      system_fingerprint: fc.option(someText),
      service_tier: fc.constantFrom('default', 'flex', null),
    },
    { requiredKeys: ['id', 'created', 'model', 'vendor', 'choices'] },
  )
  .map(({ vendor, choices, ...others }) => ({
    ...{ object: 'chat.completion', ...others },
    choices: choices.map((choice, index) => ({ index, ...choice })),
    ...vendor,
  }))

export type AnyCompletion = typeof completion extends fc.Arbitrary<infer T> ? T : never
